"""A run of a file of questions as Markdown, for a comment under a change: what fails, what moved and why.

Every text of the memory stands in a code span, so that it opens no tag, names nobody and links nowhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types.question_case import CaseOutcome
    from amgs_app.results.memory import CasesTested

MARK = "<!-- amgs test -->"
"""The first line: by it the comment is found again, and replaced."""
_LONGEST = 300
"""Characters of one text."""
_MOST = 50
"""So many questions of one kind are told in full: a comment has a largest size."""


def markdown(tested: CasesTested) -> str:
    """Return the report, from its mark to a newline at its end."""
    lines = [MARK, f"### Questions to the memory: {tested.summary}", "", f"Asked: {code(tested.path)}", ""]
    failing = [outcome for outcome in tested.outcomes if outcome.faults]
    if failing:
        lines += ["**Failing**", "", *_limit_items([_failing(outcome) for outcome in failing]), ""]
    compared = tested.compared
    if compared is not None:
        if compared.moved:
            moved = [
                [
                    f"- {code(change.after.case.question)}: {_fate(change.before)}, rank {change.before.rank or '–'} → "
                    f"{_fate(change.after)}, rank {change.after.rank or '–'}",
                    *(f"  - {code(reason)}" for reason in change.because),
                ]
                for change in compared.moved
            ]
            lines += ["**Moved**", "", *_limit_items(moved), ""]
        for title, questions in (("New", compared.added), ("No longer asked", compared.gone)):
            if questions:
                lines += [f"**{title}**", "", *_limit_items([[f"- {code(question)}"] for question in questions]), ""]
    return "\n".join(lines).rstrip() + "\n"


def code(text: str) -> str:
    """Return a text as a code span, on one line, fenced by more backticks than it holds."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    line = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    edge = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{edge}{line}{edge}{fence}"


def _failing(outcome: CaseOutcome) -> list[str]:
    return [f"- {code(outcome.case.question)}", *(f"  - {code(fault)}" for fault in outcome.faults)]


def _fate(outcome: CaseOutcome) -> str:
    return "fails" if outcome.faults else "holds"


def _limit_items(items: list[list[str]]) -> list[str]:
    lines = [line for item in items[:_MOST] for line in item]
    return lines if len(items) <= _MOST else [*lines, f"- … {len(items) - _MOST:,} more"]
