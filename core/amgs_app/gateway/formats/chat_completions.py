"""`/v1/chat/completions`: OpenAI's interface, and that of most servers of open models.

Source: the OpenAPI description of OpenAI's chat completions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amgs.sessions.messages import objects
from amgs_app.gateway.formats.spoken import (
    Body,
    MessageChange,
    Spoken,
    one_each,
    spoken_in,
    string,
    with_note,
)


class ChatCompletions:
    """Messages stand in `messages`, one an item; a tool's result is an item that names its call."""

    def read(self, request: Body) -> list[Spoken] | None:
        """See `Format.read`."""
        return one_each(request.get("messages"))

    def write(
        self, request: Body, changes: Mapping[int, MessageChange], notes: Mapping[int, str]
    ) -> dict[str, Any]:
        """See `Format.write`. A note goes into the message that it stands before, as a part of its own."""
        written = []
        for place, item in enumerate(request["messages"]):
            change = changes.get(place)
            if change is not None and change.text is None:
                continue
            made = item if change is None else {**item, "content": change.text}
            if note := notes.get(place):
                made = {**made, "content": with_note(note, made.get("content"))}
            written.append(made)
        return {**request, "messages": written}

    def answer(self, answer: Body) -> Sequence[Spoken]:
        """See `Format.answer`: the first choice."""
        choices = objects(answer.get("choices"))
        message = choices[0].get("message") if choices else None
        return spoken_in({"role": "assistant", **message}, 0) if isinstance(message, dict) else []

    def collected(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collected`: the pieces of the first choice put together."""
        said: list[str] = []
        calls: dict[int, dict[str, str]] = {}
        for event in events:
            for choice in objects(event.get("choices")):
                delta = choice.get("delta")
                if choice.get("index", 0) != 0 or not isinstance(delta, dict):
                    continue
                said.append(string(delta.get("content")))
                for call in objects(delta.get("tool_calls")):
                    place, function = call.get("index", 0), call.get("function")
                    made = calls.setdefault(
                        place if isinstance(place, int) else 0, {"id": "", "name": "", "arguments": ""}
                    )
                    made["id"] += string(call.get("id"))
                    if isinstance(function, dict):
                        made["name"] += string(function.get("name"))
                        made["arguments"] += string(function.get("arguments"))
        text = "".join(said)
        made_calls = [calls[place] for place in sorted(calls)]
        item = {"role": "assistant", "content": text, "tool_calls": made_calls}
        return spoken_in(item, 0) if text or made_calls else []
