"""Report of a test run in Markdown, for a comment on a change: what fails, what changed and why.

Texts of the memory are in code spans, so that they cannot contain tags, mentions or links.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types.question_case import CaseOutcome
    from amgs_app.results.memory import CasesTested

MARK = "<!-- amgs test -->"
"""First line, by which the comment is found and replaced."""
_LONGEST = 300
"""Most characters of a text."""
_MOST = 50
"""Most questions of a kind that are listed, since comments are limited in size."""


def markdown(tested: CasesTested) -> str:
    """Return the report, from its mark to a final newline."""
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
    """Return a text as a code span on one line, with more backticks around it than it contains."""
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
