"""`/v1/chat/completions`: OpenAI's interface, and that of most servers of open models; `/v1/responses`: its second one,
where the history is a list of items and a call of a tool is an item of its own.

Sources: the OpenAPI descriptions of OpenAI's chat completions and responses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amgs.sessions.lines import items
from amgs_app.gateway.formats.spoken import Body, MessageChange, Spoken, one_each, spoken_in, string, with_note


class ChatCompletions:
    """Messages stand in `messages`, one an item; a tool's result is an item that names its call."""

    def read(self, request: Body) -> list[Spoken] | None:
        """See `Format.read`."""
        return one_each(request.get("messages"))

    def write(self, request: Body, changes: Mapping[int, MessageChange], notes: Mapping[int, str]) -> dict[str, Any]:
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
        choices = items(answer.get("choices"))
        message = choices[0].get("message") if choices else None
        return spoken_in({"role": "assistant", **message}, 0) if isinstance(message, dict) else []

    def collected(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collected`: the pieces of the first choice put together."""
        said: list[str] = []
        calls: dict[int, dict[str, str]] = {}
        for event in events:
            for choice in items(event.get("choices")):
                delta = choice.get("delta")
                if choice.get("index", 0) != 0 or not isinstance(delta, dict):
                    continue
                said.append(string(delta.get("content")))
                for call in items(delta.get("tool_calls")):
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


class Responses:
    """Items stand in `input`, the system prompt in `instructions`."""

    def read(self, request: Body) -> list[Spoken] | None:
        """See `Format.read`. A request that goes on from one that the provider keeps is not whole."""
        given = request.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        if request.get("previous_response_id") or request.get("conversation"):
            return None
        found = one_each(items)
        system = string(request.get("instructions"))
        return [Spoken("system", system, -1), *found] if system and found is not None else found

    def write(self, request: Body, changes: Mapping[int, MessageChange], notes: Mapping[int, str]) -> dict[str, Any]:
        """See `Format.write`. A note before an item that holds no text of a user is a user's message of its own."""
        spoken = self.read(request) or []
        by_item = {each.item: number for number, each in enumerate(spoken)}
        if isinstance(request.get("input"), str):
            return dict(request)
        written: list[dict[str, Any]] = []
        for place, item in enumerate(request["input"]):
            number = by_item[place]
            change, note = changes.get(number), notes.get(number)
            if change is not None and change.text is None:
                continue
            made = item
            if change is not None:
                field = "output" if spoken[number].role == "tool" else "content"
                made = {**item, field: change.text}
            if note and made.get("role") == "user":
                made = {**made, "content": with_note(note, made.get("content"), "input_text")}
            elif note:
                written.append({"role": "user", "content": note})
            written.append(made)
        return {**request, "input": written}

    def answer(self, answer: Body) -> Sequence[Spoken]:
        """See `Format.answer`."""
        found = [each for one in items(answer.get("output")) for each in spoken_in(one, 0)]
        return [each for each in found if each.text or each.calls]

    def collected(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collected`: the items that were finished."""
        done = [event.get("item") for event in events if event.get("type") == "response.output_item.done"]
        return self.answer({"output": done})
