"""Cite messages: handles such as `#12` or `#12-15`, and texts in which every piece is quoted from a message or marked
as added ("glue").

The pieces of a message depend on that message alone, so that a plan cites the same words at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache

from amgs.conversation.findings import Slot, find_slots
from amgs.errors import UnknownConversationError
from amgs.text.prose import units
from amgs.types.conversation import ContextMessage, Message
from amgs.types.conversation_views import TextPiece

GAP = " … "


def source(message: Message | ContextMessage) -> str:
    """Return the text of a message followed by its tool calls, a line each; offsets into the text stay valid."""
    calls = [f"{call.name} {call.arguments}" for call in message.calls]
    return "\n".join([message.text, *calls]) if calls else message.text


def cite(message: Message, start: int, end: int) -> TextPiece:
    """Return a piece that quotes the characters [start, end) of a message's `source`."""
    return TextPiece(source(message)[start:end], message.number, start, end)


def glue(text: str) -> TextPiece:
    """Return a piece of text that is not from a message."""
    return TextPiece(text)


def heading(message: Message) -> TextPiece:
    """Return who speaks, and where: `#12 Mara: `."""
    who = message.speaker or message.role
    return glue(f"{handle(message.number, message.number)} {who}: ")


def extract(message: Message, spans: Iterable[tuple[int, int]]) -> list[TextPiece]:
    """Return spans of a message as pieces in order, with a mark where text between them is left out.

    Spans that overlap, or with only white space between them, are joined.
    """
    text = source(message)
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    pieces: list[TextPiece] = []
    if joined and text[: joined[0][0]].strip():
        pieces.append(glue(GAP.lstrip()))
    for place, (start, end) in enumerate(joined):
        pieces += [glue(GAP)] if place else []
        pieces.append(cite(message, start, end))
    if joined and text[joined[-1][1] :].strip():
        pieces.append(glue(GAP.rstrip()))
    return pieces


def text_of(pieces: Sequence[TextPiece]) -> str:
    """Return the text that pieces make."""
    return "".join(piece.text for piece in pieces)


_HANDLE = re.compile(r"\s*#?(\d{1,12})(?:\s*[-–]\s*#?(\d{1,12}))?\s*")


def handle(first: int, last: int) -> str:
    """Return the handle of messages from a number to another, both included."""
    return f"#{first}" if first == last else f"#{first}-{last}"


def numbers(text: str) -> tuple[int, int]:
    """Return the first and last number that a handle names; raises UnknownConversationError for a text that is none."""
    match = _HANDLE.fullmatch(text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise UnknownConversationError(
            f"{text[:40]!r} is no handle.",
            title="Not a handle",
            way_out="A handle is written #12 for a message, #12-15 for several.",
        )
    return first, last


def runs(wanted: Iterable[int]) -> list[tuple[int, int]]:
    """Return ascending numbers as ranges (first, last) of consecutive ones."""
    spans: list[tuple[int, int]] = []
    for number in wanted:
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return spans


def write_spans(spans: Sequence[tuple[int, int]]) -> str:
    """Return spans as `1-5,7`."""
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


_LONGEST = 200_000
"""Characters of a message of which pieces are cited."""
_HELD = 8_192

Piece = tuple[Slot, int, int]
"""(slot, start, end): characters [start, end) of a message."""


@lru_cache(maxsize=_HELD)
def pieces_of(text: str, at: datetime | None) -> tuple[Piece, ...]:
    """Return the pieces of a message that was said at an instant: a slot is "sentence", or a kind of finding."""
    text = text[:_LONGEST]
    pieces: list[Piece] = [("sentence", start, end) for start, end in units(text)]
    slots = (slot for slot in find_slots(text, at) if slot[0] != "decision")
    return (*pieces, *sorted(slots, key=lambda piece: piece[1:]))


def cite_pieces(text: str, at: datetime | None, numbers: tuple[int, ...]) -> str:
    """Return pieces of a message in the order in which they stand there, on a single line; `…` where something is left
    out.
    """
    spans = sorted({pieces_of(text, at)[n][1:] for n in numbers})
    line, last = "", 0
    for start, end in spans:
        if end <= last:
            continue
        start = max(start, last)
        left_out = text[last:start].strip()
        line += ("… " if left_out else "") + " ".join(text[start:end].split()) + " "
        last = end
    return line.rstrip() + (" …" if text[last:].strip() else "")
