"""`/v1/messages`, Anthropic's API: the system prompt is beside the messages, and tool results are parts of a user's
message.

Source: the reference of Anthropic's Messages API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from amgs.sessions.lines import items
from amgs.sessions.messages import text_of
from amgs_app.gateway.formats.spoken import Body, MessageChange, Spoken, read_spoken, string, with_note

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

    def collected(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collected`: content blocks with their deltas added."""
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
