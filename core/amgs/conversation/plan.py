"""The fates of a plan as one word that a caller keeps and gives back: `700:k1-5,9;m7` (700 messages; kept, masked)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from amgs.conversation.handles import runs, written
from amgs.errors import UsageError
from amgs.types.conversation import Message, SpanFate

_PLAN = re.compile(r"(\d{1,9}):(?:k([\d,-]*))?(?:;m([\d,-]*))?")


def encoded(messages: Sequence[Message], fates: Sequence[SpanFate]) -> str:
    """The fates of all messages of a conversation."""
    by_fate = {
        fate: written(runs(m.number for m, own in zip(messages, fates, strict=True) if own == fate))
        for fate in ("kept", "masked")
    }
    last = messages[-1].number if messages else 0
    return f"{last}:k{by_fate['kept']}" + (f";m{by_fate['masked']}" if by_fate["masked"] else "")


def decoded(plan: str, messages: Sequence[Message]) -> list[SpanFate]:
    """The fates of the messages; those that came after the plan was made are kept. Raises UsageError for no plan."""
    found = _PLAN.fullmatch(plan)
    if found is None:
        raise UsageError(
            f"{plan[:40]!r} is no plan.",
            title="Not a plan",
            way_out="Give back what an earlier context has as its plan, or nothing.",
        )
    until, kept, masked = int(found[1]), _numbers(found[2]), _numbers(found[3])
    return [
        "kept" if m.number > until or m.number in kept else "masked" if m.number in masked else "dropped"
        for m in messages
    ]


def until(plan: str) -> int:
    """The number of the last message that a plan knows."""
    return int(plan.partition(":")[0])


def _numbers(text: str | None) -> set[int]:
    spans = [one.split("-") for one in (text or "").split(",") if one]
    found = set[int]()
    for span in spans:
        first, last = span[0], span[-1]
        if first.isdecimal() and last.isdecimal() and int(last) - int(first) < 10_000_000:
            found.update(range(int(first), int(last) + 1))
    return found
