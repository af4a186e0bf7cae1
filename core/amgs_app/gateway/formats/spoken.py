"""One message of a request, whoever's interface it came through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from amgs.exchange.said import holds_more, plain_text, said_in
from amgs.types.conversation import ToolCall

Body = Mapping[str, Any]
"""A request's or an answer's JSON object."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message. role: user, assistant, system or tool. answers: the id of the call that a tool's result belongs to.

    item: its place in the request's list, −1 where the list has no such item (a system prompt beside it). part: the
    place among that item's parts, for an item that holds several messages. more: whether it holds what is no text, as a
    picture, which the memory does not keep.
    """

    role: str
    text: str
    item: int
    part: int | None = None
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    more: bool = False


@dataclass(frozen=True, slots=True)
class MessageChange:
    """What becomes of a message: left out where `text` is None, else its text is replaced."""

    text: str | None


class Format(Protocol):
    """Where messages stand in the requests and answers of one interface."""

    def read(self, request: Body) -> list[Spoken] | None:
        """The messages of a request in order; None where they are not all there, so that nothing may be left out."""
        ...

    def write(
        self, request: Body, changes: Mapping[int, MessageChange], notes: Mapping[int, str]
    ) -> dict[str, Any]:
        """The request with messages (by their place in what `read` gave) changed.

        notes: a line that stands before a message that stays. What is not changed is the same JSON as before.
        """
        ...

    def answer(self, answer: Body) -> Sequence[Spoken]:
        """What the model said in a whole answer; nothing for one of another form."""
        ...

    def collected(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """What the model said in the events of a streamed answer, as far as they came."""
        ...


def spoken_in(item: Body, place: int) -> list[Spoken]:
    """The messages of an item at a place of a request's list; at least one."""
    return [
        Spoken(
            each.role or "assistant",
            plain_text(each.content),
            place,
            each.part,
            each.calls,
            each.answers,
            holds_more(each.content),
        )
        for each in said_in(item)
    ]


def one_each(items: Any) -> list[Spoken] | None:
    """The messages of items that hold one each; None for anything else."""
    if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
        return None
    found = [each for place, one in enumerate(items) for each in spoken_in(one, place)]
    return found if len(found) == len(items) else None


def with_note(note: str, content: Any, kind: str = "text") -> list[Any]:
    """A content with a part before it."""
    parts = content if isinstance(content, list) else [{"type": kind, "text": content}] if content else []
    return [{"type": kind, "text": note}, *parts]


def string(value: Any) -> str:
    """The text itself; "" for anything else."""
    return value if isinstance(value, str) else ""
