"""What a digest may cite of a message, word for word: its sentences and lines, then its findings; each by its number.

The numbers depend on the message alone, so that a plan that names them shows the same words at any time.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from amgs.conversation.slots import Slot, slots_in
from amgs.text.sentences import units

_LONGEST = 200_000
"""Characters of a message of which pieces are cited."""
_HELD = 8_192

Piece = tuple[Slot, int, int]
"""(slot, start, end): characters [start, end) of a message."""


@lru_cache(maxsize=_HELD)
def pieces_of(text: str, at: datetime | None) -> tuple[Piece, ...]:
    """The pieces of a message that was said at an instant: a slot is "sentence", or a kind of finding."""
    text = text[:_LONGEST]
    made: list[Piece] = [("sentence", start, end) for start, end in units(text)]
    found = (one for one in slots_in(text, at) if one[0] != "decision")
    return (*made, *sorted(found, key=lambda one: one[1:]))


def cited(text: str, at: datetime | None, numbers: tuple[int, ...]) -> str:
    """Pieces of a message in the order in which they stand there, on one line; `…` where something is left out."""
    spans = sorted({pieces_of(text, at)[n][1:] for n in numbers})
    told, last = "", 0
    for start, end in spans:
        if end <= last:
            continue
        start = max(start, last)
        left_out = text[last:start].strip()
        told += ("… " if left_out else "") + " ".join(text[start:end].split()) + " "
        last = end
    return told.rstrip() + (" …" if text[last:].strip() else "")
