"""`/v1/chat/completions`, OpenAI's API and that of most servers of open models; and `/v1/responses`, where the history
is a list of items and a tool call is an item.

Sources: the OpenAPI descriptions of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amgs.sessions.lines import items
from amgs_app.gateway.formats.spoken import Body, MessageChange, Spoken, one_each, read_spoken, string, with_note


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

    def collected(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collected`: the deltas of the first choice joined."""
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

    def collected(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collected`: the finished items."""
        done = [event.get("item") for event in events if event.get("type") == "response.output_item.done"]
        return self.answer({"output": done})
