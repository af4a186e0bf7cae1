"""Messages of requests and answers in one form for all APIs, and token usage."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from amgs.sessions.anthropic_messages import usage_of
from amgs.sessions.lines import count, fields
from amgs.sessions.messages import holds_more, read_item_messages, text_of
from amgs.types.conversation import ToolCall
from amgs.types.usage import Usage

Body = Mapping[str, Any]
"""JSON object of a request or an answer."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message.

    role: user, assistant, system or tool. answers: id of the call that a tool result answers. item: index in the
    request's list, −1 for a system prompt beside the list. part: index within the item, if it holds several messages.
    more: it has content other than text, such as a picture, which the memory does not store.
    """

    role: str
    text: str
    item: int
    part: int | None = None
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    more: bool = False

    @property
    def says(self) -> bool:
        """Return whether the message has content for the memory."""
        return bool(self.text.strip() or self.calls or self.answers)


@dataclass(frozen=True, slots=True)
class MessageChange:
    """A change to a message: a new text, or None to remove it."""

    text: str | None


class Format(Protocol):
    """How one API holds messages in requests and answers."""

    def read(self, request: Body) -> list[Spoken] | None:
        """Return the messages of a request in order; None if some are missing, so that nothing may be dropped."""
        ...

    def write(self, request: Body, changes: Mapping[int, MessageChange], notes: Mapping[int, str]) -> dict[str, Any]:
        """Return the request with changed messages, by their index in the result of `read`.

        notes: texts to insert before messages that stay. Unchanged messages keep their exact JSON.
        """
        ...

    def answer(self, answer: Body) -> Sequence[Spoken]:
        """Return what the model said in a complete answer; empty for another format."""
        ...

    def collected(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """Return what the model said in the events of a streamed answer, as far as they came."""
        ...


def read_spoken(item: Body, place: int) -> list[Spoken]:
    """Return the messages of an item at index `place` of a request's list; at least one."""
    return [
        Spoken(
            message.role or "assistant",
            text_of(message.content),
            place,
            message.part,
            message.calls,
            message.answers,
            holds_more(message.content),
        )
        for message in read_item_messages(item)
    ]


def one_each(items: Any) -> list[Spoken] | None:
    """Return the messages of items that hold one each; None otherwise."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    messages = [message for place, item in enumerate(items) for message in read_spoken(item, place)]
    return messages if len(messages) == len(items) else None


def with_note(note: str, content: Any, kind: str = "text") -> list[Any]:
    """Return a content with a text part before it."""
    parts = content if isinstance(content, list) else [{"type": kind, "text": content}] if content else []
    return [{"type": kind, "text": note}, *parts]


def string(value: Any) -> str:
    """Return a text unchanged, "" for anything else."""
    return value if isinstance(value, str) else ""


def read_answer(form: Format, content: bytes, *, streamed: bool) -> Sequence[Spoken]:
    """Return the messages of an answer, complete or as server-sent events; empty if it cannot be read."""
    if streamed:
        return form.collected(_events(content))
    whole = body_of(content)
    return [] if whole is None else form.answer(whole)


def usage_in(content: bytes, *, streamed: bool) -> Usage | None:
    """Return the token usage that the model's server counted; None if the answer has none.

    Events of a stream report it in parts or cumulatively, so the largest of each count is taken.
    """
    events = _events(content) if streamed else [body] if (body := body_of(content)) else []
    holders = [holder for event in events for holder in (event, event.get("message"), event.get("response"))]
    usages = [_usage(counts) for holder in holders if (counts := fields(fields(holder).get("usage")))]
    if not any(usage.window or usage.output for usage in usages):
        return None
    most = (max(getattr(usage, name) for usage in usages) for name in ("fresh", "written", "cached", "output"))
    return Usage(*most)


def _usage(counts: Body) -> Usage:
    """Return the counts of one `usage` object.

    Anthropic's three input counts are disjoint; in OpenAI's two APIs cached tokens are included in the input.
    """
    apart = usage_of(counts)
    every = count(counts.get("prompt_tokens", counts.get("input_tokens")))
    details = fields(counts.get("prompt_tokens_details", counts.get("input_tokens_details")))
    cached = min(every, count(details.get("cached_tokens")))
    output = count(counts.get("completion_tokens", counts.get("output_tokens")))
    return replace(apart, fresh=every - cached, cached=apart.cached + cached, output=output)


def _events(content: bytes) -> list[Body]:
    """Return the JSON objects of server-sent events (WHATWG HTML, 9.2), in order."""
    events = []
    text = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        event = body_of("\n".join(lines).encode())
        if event is not None:
            events.append(event)
    return events


def body_of(content: bytes) -> Body | None:
    """Parse a JSON object; None for anything else."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
