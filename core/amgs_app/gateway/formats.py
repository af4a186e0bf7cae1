"""Read and change the messages in requests and answers of model providers: `/v1/messages` (Anthropic), and
`/v1/chat/completions` and `/v1/responses` (OpenAI and most servers of open models), in a single form for all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from amgs.sessions.lines import count, fields, items
from amgs.sessions.messages import holds_more, read_item_messages, text_of, usage_of
from amgs.types.conversation import ToolCall
from amgs.types.gateway import Usage

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
    """How an API holds messages in requests and answers."""

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

    def collect_said(self, events: Sequence[Body]) -> Sequence[Spoken]:
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
    """Return the messages of items that hold a single message each; None otherwise."""
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
        return form.collect_said(_events(content))
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


class ChatCompletions:
    """Reads and writes `messages`, one per item; a tool result is an item that names its call."""

    def read(self, request: Body) -> list[Spoken] | None:
        """See `Format.read`."""
        return one_each(request.get("messages"))

    def write(self, request: Body, changes: Mapping[int, MessageChange], notes: Mapping[int, str]) -> dict[str, Any]:
        """See `Format.write`. A note becomes a part of the message that it precedes."""
        written = []
        for place, item in enumerate(request["messages"]):
            change = changes.get(place)
            if change is not None and change.text is None:
                continue
            new_item = item if change is None else {**item, "content": change.text}
            if note := notes.get(place):
                new_item = {**new_item, "content": with_note(note, new_item.get("content"))}
            written.append(new_item)
        return {**request, "messages": written}

    def answer(self, answer: Body) -> Sequence[Spoken]:
        """See `Format.answer`: the message of the first choice."""
        choices = items(answer.get("choices"))
        message = choices[0].get("message") if choices else None
        return read_spoken({"role": "assistant", **message}, 0) if isinstance(message, dict) else []

    def collect_said(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collect_said`: the deltas of the first choice joined."""
        pieces: list[str] = []
        calls: dict[int, dict[str, str]] = {}
        for event in events:
            for choice in items(event.get("choices")):
                delta = choice.get("delta")
                if choice.get("index", 0) != 0 or not isinstance(delta, dict):
                    continue
                pieces.append(string(delta.get("content")))
                for call in items(delta.get("tool_calls")):
                    place, function = call.get("index", 0), call.get("function")
                    tool_call = calls.setdefault(
                        place if isinstance(place, int) else 0, {"id": "", "name": "", "arguments": ""}
                    )
                    tool_call["id"] += string(call.get("id"))
                    if isinstance(function, dict):
                        tool_call["name"] += string(function.get("name"))
                        tool_call["arguments"] += string(function.get("arguments"))
        text = "".join(pieces)
        made_calls = [calls[place] for place in sorted(calls)]
        item = {"role": "assistant", "content": text, "tool_calls": made_calls}
        return read_spoken(item, 0) if text or made_calls else []


class Responses:
    """Reads and writes `input`; the system prompt is in `instructions`."""

    def read(self, request: Body) -> list[Spoken] | None:
        """See `Format.read`. None for a request that continues a response stored at the provider, since messages are
        missing.
        """
        request_input = request.get("input")
        items = [{"role": "user", "content": request_input}] if isinstance(request_input, str) else request_input
        if request.get("previous_response_id") or request.get("conversation"):
            return None
        messages = one_each(items)
        system = string(request.get("instructions"))
        return [Spoken("system", system, -1), *messages] if system and messages is not None else messages

    def write(self, request: Body, changes: Mapping[int, MessageChange], notes: Mapping[int, str]) -> dict[str, Any]:
        """See `Format.write`. A note before an item that is not a user's message becomes a user message of its own."""
        spoken = self.read(request) or []
        by_item = {message.item: number for number, message in enumerate(spoken)}
        if isinstance(request.get("input"), str):
            return dict(request)
        written: list[dict[str, Any]] = []
        for place, item in enumerate(request["input"]):
            number = by_item[place]
            change, note = changes.get(number), notes.get(number)
            if change is not None and change.text is None:
                continue
            new_item = item
            if change is not None:
                field = "output" if spoken[number].role == "tool" else "content"
                new_item = {**item, field: change.text}
            if note and new_item.get("role") == "user":
                new_item = {**new_item, "content": with_note(note, new_item.get("content"), "input_text")}
            elif note:
                written.append({"role": "user", "content": note})
            written.append(new_item)
        return {**request, "input": written}

    def answer(self, answer: Body) -> Sequence[Spoken]:
        """See `Format.answer`."""
        messages = [message for item in items(answer.get("output")) for message in read_spoken(item, 0)]
        return [message for message in messages if message.text or message.calls]

    def collect_said(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collect_said`: the finished items."""
        done = [event.get("item") for event in events if event.get("type") == "response.output_item.done"]
        return self.answer({"output": done})


_STAYS: Final = ("tool_result", "tool_use", "thinking", "redacted_thinking")
"""Types of parts that stay when a message's text is replaced."""


class AnthropicMessages:
    """Reads and writes `messages`; an item with several tool results and a text counts as several messages."""

    def read(self, request: Body) -> list[Spoken] | None:
        """See `Format.read`."""
        items = request.get("messages")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            return None
        messages = [message for place, item in enumerate(items) for message in read_spoken(item, place)]
        system = text_of(request.get("system"))
        return [Spoken("system", system, -1), *messages] if system else messages

    def write(self, request: Body, changes: Mapping[int, MessageChange], notes: Mapping[int, str]) -> dict[str, Any]:
        """See `Format.write`. A note becomes a text part before the message, or a user message of its own before an
        assistant's.
        """
        spoken = self.read(request) or []
        by_item: dict[int, list[int]] = {}
        for number, message in enumerate(spoken):
            by_item.setdefault(message.item, []).append(number)
        written: list[dict[str, Any]] = []
        for place, item in enumerate(request["messages"]):
            numbers = by_item.get(place, [])
            if numbers and all(number in changes and changes[number].text is None for number in numbers):
                continue
            new_item = _change_item(item, [(spoken[number], changes.get(number)) for number in numbers])
            note = "\n".join(notes[number] for number in numbers if number in notes)
            if note and new_item.get("role") == "user":
                new_item = {**new_item, "content": _add_note(note, new_item["content"])}
            elif note:
                written.append({"role": "user", "content": note})
            written.append(new_item)
        return {**request, "messages": written}

    def answer(self, answer: Body) -> Sequence[Spoken]:
        """See `Format.answer`."""
        messages = read_spoken({"role": "assistant", "content": answer.get("content")}, 0)
        return [message for message in messages if message.text or message.calls]

    def collect_said(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collect_said`: content blocks with their deltas added."""
        blocks: dict[int, dict[str, Any]] = {}
        arguments: dict[int, str] = {}
        for event in events:
            place = event.get("index")
            if not isinstance(place, int):
                continue
            begun, delta = event.get("content_block"), event.get("delta")
            if isinstance(begun, dict):
                blocks[place] = dict(begun)
            elif isinstance(delta, dict) and place in blocks:
                if "text" in delta:
                    blocks[place]["text"] = string(blocks[place].get("text")) + string(delta["text"])
                arguments[place] = arguments.get(place, "") + string(delta.get("partial_json"))
        for place, text in arguments.items():
            if text:
                blocks[place]["input"] = text
        return self.answer({"content": [blocks[place] for place in sorted(blocks)]})


def _change_item(item: dict[str, Any], changes: Sequence[tuple[Spoken, MessageChange | None]]) -> dict[str, Any]:
    """Return an item with the changes to its messages; the item itself if there are none."""
    if all(change is None for _, change in changes):
        return item
    content = item.get("content")
    if not isinstance(content, list):
        (_, change), *_ = changes
        return {**item, "content": change.text if change else content}
    results = {message.part: change for message, change in changes if change is not None and message.role == "tool"}
    text_change = next((change for message, change in changes if message.role != "tool"), None)
    parts: list[Any] = []
    for number, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if number in results:
            text = results[number].text
            parts += [] if text is None else [{**part, "content": text}]
        elif text_change is None or kind in _STAYS:
            parts.append(part)
    if text_change is not None and text_change.text:
        parts.append({"type": "text", "text": text_change.text})
    return {**item, "content": parts}


def _add_note(note: str, content: Any) -> list[Any]:
    """Return a content with a note; tool results must stay before any text."""
    parts = with_note(note, content)
    results = [part for part in items(parts) if part.get("type") == "tool_result"]
    return [*results, *(part for part in parts if part not in results)]
