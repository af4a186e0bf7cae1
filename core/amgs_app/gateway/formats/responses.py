"""`/v1/responses`: OpenAI's second interface. The history is a list of items; a call of a tool is an item of its own.

Source: the OpenAPI description of OpenAI's responses.
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

    def write(
        self, request: Body, changes: Mapping[int, MessageChange], notes: Mapping[int, str]
    ) -> dict[str, Any]:
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
        found = [each for one in objects(answer.get("output")) for each in spoken_in(one, 0)]
        return [each for each in found if each.text or each.calls]

    def collected(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collected`: the items that were finished."""
        done = [event.get("item") for event in events if event.get("type") == "response.output_item.done"]
        return self.answer({"output": done})
