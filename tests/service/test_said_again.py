"""Through every door a text that was deleted and is said again holds again, one corrects another, and each says so."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from mcp import Client

from amgs.client import MemoryClient
from tests.service.serving import client
from tests.tui.headless_world import Amgs

Door = Callable[[str, str, list[str]], Awaitable[str]]
"""Takes in a text that replaces others at an address; gives what it is told."""


async def by_rest(address: str, text: str, old: list[str]) -> str:
    with client(address) as http:
        return http.post("/v1/memory/ingest", json={"content": text, "replaces": old}).text


async def by_client(address: str, text: str, old: list[str]) -> str:
    with MemoryClient(address) as memory:
        return str(memory.ingest(text, replaces=old))


async def by_mcp(address: str, text: str, old: list[str]) -> str:
    async with Client(f"{address}/mcp") as agent:
        answer = await agent.call_tool("ingest", {"text": text, "replaces": old})
    return str(answer.content)


@pytest.mark.parametrize(("say", "thing"), [(by_rest, "walnuts"), (by_client, "almonds"), (by_mcp, "lupins")])
async def test_a_served_memory_says_what_holds_again_and_takes_a_correction(
    address: str, say: Door, thing: str
) -> None:
    text = f"Ilse is allergic to {thing}."
    with MemoryClient(address) as memory:
        block = memory.ingest(text).id
        memory.call("block set", block=block, status="pruned")
        assert re.search(rf"again\W+{block[:12]}", await say(address, text, []))
        assert [hit.block.id for hit in memory.search(text, top_k=1).hits] == [block]
        assert memory.operations(1)[0].summary.startswith("1 holds again")
        told = await say(address, f"No {thing}.", [text])
        assert re.search(rf"(replaced|No longer holds)\W+{block[:12]}", told)
        assert memory.block(block).superseded


def test_the_command_line_says_what_holds_again_and_takes_a_correction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    amgs = Amgs(tmp_path / "world.duckdb", tmp_path, capsys)
    text = "User: Ilse is allergic to walnuts."
    messages = tmp_path / "messages.jsonl"
    messages.write_text(json.dumps({"role": "user", "content": text[6:]}) + "\n", encoding="utf-8")

    def found() -> list[str]:
        assert amgs("search", "walnuts", "--format", "json") == 0
        return [hit["block"]["id"] for hit in json.loads(amgs.out)["hits"]]

    assert amgs("ingest", text, "--format", "json") == 0
    (block,) = json.loads(amgs.out)["added"]
    for said, words in (
        (("ingest", text), "0 new, 1 holds again, 0 duplicates, 0 rejected"),
        (("import", str(messages)), "0 new blocks, 1 holds again, 0 already known"),
        (("conversation", "add", "talk", str(messages)), "1 message added; 1 holds again"),
    ):
        assert amgs("block", "delete", block, "--yes") == 0
        assert amgs(*said) == 0
        assert words in amgs.out + amgs.err
        assert found() == [block]
    assert amgs("ingest", "She eats nuts.", "--replaces", text) == 0
    assert "replaced" in amgs.out
