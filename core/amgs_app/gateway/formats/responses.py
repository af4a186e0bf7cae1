"""`/v1/responses`: OpenAI's second interface. The history is a list of items; a call of a tool is an item of its own.

Source: the OpenAPI description of OpenAI's responses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amgs.types.conversation import ToolCall
from amgs_app.gateway.formats.chat_completions import with_note
from amgs_app.gateway.formats.spoken import Body, MessageChange, Spoken, holds_more, objects, string, text_of

_TEXTS = ("input_text", "output_text", "text", "summary_text", "refusal")


class Responses:
    """Items stand in `input`, the system prompt in `instructions`."""

    def read(self, request: Body) -> list[Spoken] | None:
        """See `Format.read`. A request that goes on from one that the provider keeps is not whole."""
        given = request.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
            return None
        if request.get("previous_response_id") or request.get("conversation"):
            return None
        found = [_spoken(one, place) for place, one in enumerate(items)]
        system = string(request.get("instructions"))
        return [Spoken("system", system, -1), *found] if system else found

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
        return [each for one in objects(answer.get("output")) if (each := _spoken(one, 0)).text or each.calls]

    def collected(self, events: Sequence[Body]) -> Sequence[Spoken]:
        """See `Format.collected`: the items that were finished."""
        done = [event.get("item") for event in events if event.get("type") == "response.output_item.done"]
        return self.answer({"output": done})


def _spoken(item: Body, place: int) -> Spoken:
    kind = item.get("type", "message")
    if kind in ("function_call", "custom_tool_call"):
        arguments = string(item.get("arguments")) or string(item.get("input"))
        call = ToolCall(string(item.get("call_id")), string(item.get("name")), arguments)
        return Spoken("assistant", "", place, calls=(call,))
    if kind in ("function_call_output", "custom_tool_call_output"):
        return Spoken(
            "tool",
            text_of(item.get("output"), *_TEXTS),
            place,
            answers=string(item.get("call_id")),
            more=holds_more(item.get("output"), *_TEXTS),
        )
    if kind != "message":
        return Spoken("assistant", "", place)
    role = string(item.get("role"))
    return Spoken(
        "system" if role == "developer" else role or "assistant",
        text_of(item.get("content"), *_TEXTS),
        place,
        more=holds_more(item.get("content"), *_TEXTS),
    )
