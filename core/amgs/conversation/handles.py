"""Handles: `#12` or `#12-15` names messages of a conversation, in a context and when they are asked back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from amgs.errors import UnknownConversationError

_HANDLE = re.compile(r"\s*#?(\d{1,12})(?:\s*[-–]\s*#?(\d{1,12}))?\s*")


def handle(first: int, last: int) -> str:
    """The handle of messages from one number to another, both included."""
    return f"#{first}" if first == last else f"#{first}-{last}"


def numbers(text: str) -> tuple[int, int]:
    """The first and last number that a handle names; raises UnknownConversationError for a text that is none."""
    found = _HANDLE.fullmatch(text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise UnknownConversationError(
            f"{text[:40]!r} is no handle.",
            title="Not a handle",
            way_out="A handle is written #12 for a message, #12-15 for several.",
        )
    return first, last


def runs(wanted: Iterable[int]) -> list[tuple[int, int]]:
    """Rising numbers as (first, last) of neighbours."""
    found: list[tuple[int, int]] = []
    for number in wanted:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def written(spans: Sequence[tuple[int, int]]) -> str:
    """Spans as `1-5,7`."""
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
