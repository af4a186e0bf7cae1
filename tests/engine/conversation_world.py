"""A conversation for tests: an agent's with tools."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.conversation.histories import WORDS


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
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"{thing}: built {1900 + n}. " + "log " * 60},
            {"role": "assistant", "content": f"The {thing} was built in {1900 + n}."},
        ]
    return said
