"""Texts in which every piece is a message's own characters, or is marked as glue: handles, labels, who speaks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from amgs.conversation.handles import handle
from amgs.types.conversation import ContextMessage, Message
from amgs.types.conversation_text import TextPiece

GAP = " … "


def source(message: Message | ContextMessage) -> str:
    """What a message says: its text, then its calls of tools, a line each; the text's characters keep their places."""
    calls = [f"{call.name} {call.arguments}" for call in message.calls]
    return "\n".join([message.text, *calls]) if calls else message.text


def cited(message: Message, start: int, end: int) -> TextPiece:
    """Characters of what a message says."""
    return TextPiece(source(message)[start:end], message.number, start, end)


def glue(text: str) -> TextPiece:
    """What is no message's."""
    return TextPiece(text)


def heading(message: Message) -> TextPiece:
    """Who speaks, and where: `#12 Mara: `."""
    who = message.speaker or message.role
    return glue(f"{handle(message.number, message.number)} {who}: ")


def extract(message: Message, spans: Iterable[tuple[int, int]]) -> list[TextPiece]:
    """Spans of what a message says as pieces in their order, a mark where something between them is missing.

    Spans that overlap are one, and so are spans with nothing but white space between them.
    """
    said = source(message)
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and not said[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    made: list[TextPiece] = []
    if joined and said[: joined[0][0]].strip():
        made.append(glue(GAP.lstrip()))
    for place, (start, end) in enumerate(joined):
        made += [glue(GAP)] if place else []
        made.append(cited(message, start, end))
    if joined and said[joined[-1][1] :].strip():
        made.append(glue(GAP.rstrip()))
    return made


def text_of(pieces: Sequence[TextPiece]) -> str:
    """The text that pieces make."""
    return "".join(piece.text for piece in pieces)
