"""What an agent's answer used of its memory and of its conversation is logged on its way through the gateway."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from amgs.client import MemoryClient
from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs_app.server.mcp import Quoted, quote
from tests.gateway.recorder import Recorder, gateway, operated
from tests.service.serving import NOW, client, served

QUERY = "What is wrong with the Heron?"
ANSWER = "It leaks beside the keel; oakum will do."
LEAK = "The Heron leaks near the keel and needs oakum."


def harbour(path: Path) -> str:
    """A store with a frame for the query; what the tools of MCP give of the note about the leak."""
    with Memory.open(path, clock=FixedClock(NOW)) as memory:
        texts = [f"Boat {n} moors at berth {n + 100} since {1700 + n}, captain Name{n}x." for n in range(80)]
        memory.ingest_texts([(text, NOW, {}) for text in (*texts, LEAK)])
        memory.consolidate()
        frame = memory.assemble("TASK", query=QUERY)
        assert LEAK in {one.block.content for one in frame.selected}
        notes = [Quoted.of(one.block) for one in frame.selected]
        return quote(notes, 2_000, lambda text: len(text.split()))


def used(address: str, least: int) -> list[dict[str, Any]]:
    """The log, once it has so many rows."""
    while len(found := operated(address, "calibration", view="answers")["uses"]) < least:
        time.sleep(0.01)
    return list(found)


@pytest.mark.parametrize("escaped", [False, True], ids=["as text", "within JSON"])
def test_a_note_that_a_tool_quoted_and_the_answer_used_is_logged_with_its_forecast(
    upstream: Recorder, tmp_path: Path, escaped: bool
) -> None:
    quoted = harbour(tmp_path / "a.duckdb")
    call = {"id": "c1", "type": "function", "function": {"name": "assemble", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": QUERY},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"text": quoted}) if escaped else quoted},
    ]
    upstream.says(ANSWER)
    with gateway(upstream.address, store=tmp_path / "a.duckdb") as address:
        with client(address) as asking:
            answer = asking.post("/v1/chat/completions", json={"model": "m", "messages": messages})
        assert answer.status_code == 200
        found = used(address, 1)
    assert [(one["title"], one["by"]) for one in found if one["by"]] == [(LEAK, "words")]
    assert all(one["prediction_id"] for one in found)


def test_an_earlier_message_that_the_answer_used_is_logged_and_the_question_is_not(
    upstream: Recorder, tmp_path: Path
) -> None:
    harbour(tmp_path / "a.duckdb")
    messages: list[dict[str, str]] = []
    for said in ("The mast of the Teal splintered off Cape Roca.", "The Ibis needs a rudder."):
        messages += [{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}]
    messages.append({"role": "user", "content": "Why was the Teal late?"})
    upstream.says("Her mast splintered off Cape Roca.")
    with gateway(upstream.address, store=tmp_path / "a.duckdb") as address:
        with client(address) as asking:
            asking.post("/v1/chat/completions", json={"model": "m", "messages": messages})
        (one,) = used(address, 1)
    assert one["by"] == "words" and "mast of the Teal" in one["title"] and not one["prediction_id"]


def test_a_client_says_what_it_answered_from_a_frame(tmp_path: Path) -> None:
    harbour(tmp_path / "a.duckdb")
    with served(tmp_path / "a.duckdb") as address, MemoryClient(address) as memory:
        memory.assemble("TASK", query=QUERY)
        noted = memory.call("feedback", exact=True, verdict="answered", answer=ANSWER, query=QUERY)
        assert [(use.title, use.by) for use in noted.uses if use.by] == [(LEAK, "words")]
        listed = memory.call("calibration", exact=True, view="answers", writes=False)
        assert set(listed.uses) == set(noted.uses)
