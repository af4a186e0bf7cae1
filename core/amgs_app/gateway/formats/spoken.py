"""One message of a request, whoever's interface it came through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

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


def text_of(content: Any, *kinds: str) -> str:
    """The text of a content: itself, or that of its parts of these types, a blank line between."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    found = []
    for part in content:
        if not isinstance(part, dict):
            continue
        if part.get("type") in kinds and isinstance(part.get("text"), str):
            found.append(part["text"])
        elif part.get("type") not in kinds:
            found.append(f"[{part.get('type', 'part')}]")
    return "\n\n".join(found)


def holds_more(content: Any, *kinds: str) -> bool:
    """Whether a content has parts that are of none of these types."""
    return any(part.get("type") not in kinds for part in objects(content))


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; nothing for what is none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def string(value: Any) -> str:
    """The text itself; "" for anything else."""
    return value if isinstance(value, str) else ""
