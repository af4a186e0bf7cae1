"""Conversations for tests: an agent's with tools, and random ones from a seed."""

from __future__ import annotations

import json
import random
from typing import Any

from amgs.types.conversation import Message, ToolCall

WORDS = (
    "mast",
    "keel",
    "rope",
    "sail",
    "tide",
    "harbour",
    "lantern",
    "compass",
    "anchor",
    "deck",
    "cabin",
    "storm",
)


def agent(turns: int = 12) -> list[dict[str, Any]]:
    """A system prompt, then turns of question, call, result and answer; each turn is about a thing of its own."""
    said: list[dict[str, Any]] = [{"role": "system", "content": "You help on a ship."}]
    for n in range(turns):
        thing = WORDS[n % len(WORDS)]
        call: dict[str, Any] = {"id": f"c{n}", "type": "function"}
        call |= {"function": {"name": "look", "arguments": json.dumps({"at": thing})}}
        said += [
            {"role": "user", "content": f"How old is the {thing}?", "timestamp": f"2026-03-01T09:{n:02}:00Z"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {
                "role": "tool",
                "tool_call_id": f"c{n}",
                "content": f"{thing}: built {1900 + n}. " + "log " * 60,
            },
            {"role": "assistant", "content": f"The {thing} was built in {1900 + n}."},
        ]
    return said


def history(seed: int) -> list[Message]:
    """A random conversation that a model's interface takes: parallel calls, results out of order, calls still open."""
    chance = random.Random(seed)
    made: list[Message] = []
    waiting: list[str] = []

    def text(most: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(0, most))) + chance.choice(("", ".", "?"))

    for number in range(1, chance.randint(2, 24)):
        kind = chance.random()
        if number == 1 and kind < 0.5:
            made.append(Message(number, "system", text(8)))
        elif waiting and kind < 0.45:
            made.append(
                Message(number, "tool", text(60), answers=waiting.pop(chance.randrange(len(waiting))))
            )
        elif kind < 0.65:
            calls = tuple(ToolCall(f"{number}-{n}", "look", "{}") for n in range(chance.randint(1, 3)))
            waiting += [call.id for call in calls]
            made.append(Message(number, "assistant", text(4), calls=calls))
        else:
            role = "user" if kind < 0.85 else "assistant"
            made.append(Message(number, role, text(20), pinned=chance.random() < 0.03))  # type: ignore[arg-type]
    return made
