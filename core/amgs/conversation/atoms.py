"""Atoms: messages that only make sense together, and are kept or left out together.

A call of tools goes with all of its results: no model's interface takes the one without the other. The question of a
user goes with the answer of the assistant.
"""

from __future__ import annotations

from collections.abc import Sequence

from amgs.types.conversation import Message

_ASKS = ("?", "？", "؟", "¿")


def atoms(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """The messages in atoms, by their places in the sequence: rising within each, by the first of each.

    Calls and results whose counterpart is not among the messages are atoms of what is there.
    """
    group = list(range(len(messages)))

    def root(place: int) -> int:
        while group[place] != place:
            group[place] = group[group[place]]
            place = group[place]
        return place

    made: dict[str, int] = {}
    asked: int | None = None
    for place, message in enumerate(messages):
        for call in message.calls:
            made[call.id] = place
        if message.role == "tool" and message.answers in made:
            group[root(place)] = root(made[message.answers])
        elif message.role == "user":
            asked = place if asks(message.text) else None
        elif message.role == "assistant" and asked is not None and message.text.strip() and not message.calls:
            group[root(place)] = root(asked)
            asked = None
    found: dict[int, list[int]] = {}
    for place in range(len(messages)):
        found.setdefault(root(place), []).append(place)
    return tuple(sorted(tuple(one) for one in found.values()))


def asks(text: str) -> bool:
    """Whether a text ends with a question."""
    return text.rstrip(" \t\r\n\"'”’)]*_").endswith(_ASKS)
