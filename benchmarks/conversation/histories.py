"""Conversations out of chance: what a model's interface takes, in any order, and an agent's with planted facts."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amgs.types.conversation import Message, Role, ToolCall

WORDS = ("mast", "keel", "rope", "sail", "tide", "harbour", "lantern", "compass", "anchor", "deck", "cabin", "storm")
_PLACES = ("north", "south", "east", "west", "upper", "lower", "inner", "outer", "old", "new")


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
            made.append(Message(number, "tool", text(60), answers=waiting.pop(chance.randrange(len(waiting)))))
        elif kind < 0.65:
            calls = tuple(ToolCall(f"{number}-{n}", "look", "{}") for n in range(chance.randint(1, 3)))
            waiting += [call.id for call in calls]
            made.append(Message(number, "assistant", text(4), calls=calls))
        else:
            role: Role = "user" if kind < 0.85 else "assistant"
            made.append(Message(number, role, text(20), pinned=chance.random() < 0.03))
    return made


@dataclass(frozen=True, slots=True)
class HiddenFact:
    """A value that one message of a conversation holds, and the question that names its class and its subject."""

    kind: str
    value: str
    question: str
    message: int


BARE: Mapping[str, str] = {
    "number": "What number was it?",
    "date": "When was that?",
    "path": "What was the path?",
    "id": "Which id was it again?",
    "command": "What was the command?",
    "commitment": "What did I promise?",
}
"""Questions that name a class and no subject."""


def agent(seed: int, turns: int = 60) -> tuple[list[dict[str, Any]], list[HiddenFact]]:
    """The messages of an agent at work, four a turn, in each of which the output of a tool holds one planted fact."""
    chance = random.Random(seed)
    said: list[dict[str, Any]] = [{"role": "system", "content": "You keep the ship in order."}]
    facts: list[HiddenFact] = []
    subjects = [f"{place} {word}" for place in _PLACES for word in WORDS]
    chance.shuffle(subjects)
    for n, subject in enumerate(subjects[:turns]):
        kind, value, told, question = _planted(n, subject, chance)
        log = " ".join(chance.choices(WORDS, k=chance.randint(20, 160)))
        call = {"id": f"c{n}", "type": "function"} | {
            "function": {"name": "inspect", "arguments": json.dumps({"at": subject})}
        }
        said += [
            {"role": "user", "content": f"Please inspect the {subject}."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"{log}. {told} {log}."},
            {"role": "assistant", "content": f"The {subject} is done."},
        ]
        facts.append(HiddenFact(kind, value, question, len(said) - 1))
    return said, facts


def _planted(n: int, subject: str, chance: random.Random) -> tuple[str, str, str, str]:
    """A class, a value of it, the sentence that holds it and the question that asks for it."""
    slug = subject.replace(" ", "_")
    day = f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
    measured, digest = f"{chance.randint(100, 9999) / 10}", f"{chance.getrandbits(40):010x}"
    path, command = f"logs/{slug}/run{n}.txt", f"repair --part {slug} --level {n}"
    kinds = (
        ("number", measured, f"The {subject} measures {measured} cm.", f"What number was measured at the {subject}?"),
        ("date", day, f"The {subject} was checked on {day}.", f"On which date was the {subject} checked?"),
        ("path", path, f"The {subject} has its report in {path} now.", f"Which file reports on the {subject}?"),
        ("id", digest, f"The {subject} has the id {digest} there.", f"Which id does the {subject} have?"),
        ("command", command, f"To mend the {subject} run `{command}` again.", f"Which command mends the {subject}?"),
        (
            "commitment",
            f"I will paint the {subject} in {measured} hours",
            f"I will paint the {subject} in {measured} hours.",
            f"What was promised about the {subject}?",
        ),
    )
    return kinds[n % len(kinds)]
