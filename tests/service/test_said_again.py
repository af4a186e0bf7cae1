"""Through every door a text that was deleted and is said again holds again, and each says so."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from mcp import Client

from amgs.client import MemoryClient
from tests.service.serving import client
from tests.tui.headless_world import Amgs

Door = Callable[[str, str], Awaitable[tuple[str, str]]]


async def by_rest(address: str, text: str) -> tuple[str, str]:
    with client(address) as http:
        answer = http.post("/v1/memory/ingest", json={"content": text})
        assert answer.status_code in (200, 201)
        ids = answer.json()
        return (*ids["added"], *ids["known"])[0], "holds again" if ids["again"] else ""


async def by_client(address: str, text: str) -> tuple[str, str]:
    with MemoryClient(address) as memory:
        receipt = memory.ingest(text)
        return receipt.id, "holds again" if receipt.again == (receipt.id,) else ""


async def by_mcp(address: str, text: str) -> tuple[str, str]:
    async with Client(f"{address}/mcp") as agent:
        answer = await agent.call_tool("ingest", {"text": text})
    told = "".join(part.text for part in answer.content)  # type: ignore[union-attr]
    return told.split(": ")[1].rstrip("."), told


DOORS: dict[Door, str] = {by_rest: "walnuts", by_client: "almonds", by_mcp: "lupins"}


@pytest.mark.parametrize("say", DOORS)
async def test_a_served_memory_says_what_holds_again(address: str, say: Door) -> None:
    text = f"Ilse is allergic to {DOORS[say]}."
    block, _ = await say(address, text)
    with MemoryClient(address) as memory:
        whole = memory.block(block).id
        memory.call("block set", block=whole, status="pruned")
        again, told = await say(address, text)
        assert block.startswith(again) and "holds again" in told.lower()
        assert [hit.block.id for hit in memory.search(text, top_k=1).hits] == [whole]
        assert memory.operations(1)[0].summary.startswith("1 holds again")


async def test_every_door_takes_a_correction(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def by_rest(text: str, old: list[str]) -> str:
        with client(address) as http:
            return str(http.post("/v1/memory/ingest", json={"content": text, "replaces": old}).json())

    def by_client(text: str, old: list[str]) -> str:
        with MemoryClient(address) as memory:
            return str(memory.ingest(text, replaces=old))

    def by_command(text: str, old: list[str]) -> str:
        amgs = Amgs(tmp_path / "world.duckdb", tmp_path, capsys)
        assert amgs("ingest", "Pier 1 is closed.") == 0
        assert amgs("ingest", text, "--replaces", *old) == 0
        return amgs.out

    with MemoryClient(address) as memory:
        for number, door in enumerate((by_rest, by_client, by_command)):
            memory.ingest(f"Pier {number} is closed.")
            assert "replaced" in door(
                f"It opened again in week {number}.", [f"Pier {1 if door is by_command else number} is closed."]
            )
        memory.ingest("Pier 9 is closed.")
        async with Client(f"{address}/mcp") as agent:
            answer = await agent.call_tool("ingest", {"text": "It is open.", "replaces": ["Pier 9 is closed."]})
        assert "No longer holds: " in answer.content[0].text  # type: ignore[union-attr]
        closed = [hit.block.content for hit in memory.search("pier closed", layers=["keyword"]).hits]
    assert closed == ["Pier 2 is closed."]


def test_the_command_line_says_what_holds_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    amgs = Amgs(tmp_path / "world.duckdb", tmp_path, capsys)
    text = "User: Ilse is allergic to walnuts."
    messages = tmp_path / "messages.jsonl"
    messages.write_text(json.dumps({"role": "user", "content": text[6:]}) + "\n", encoding="utf-8")
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
        assert amgs("search", "walnuts", "--format", "json") == 0
        assert [hit["block"]["id"] for hit in json.loads(amgs.out)["hits"]] == [block]
    assert amgs("undo", "--yes") == 0
    assert amgs("search", "walnuts", "--format", "json") == 0
    assert json.loads(amgs.out)["hits"] == []
