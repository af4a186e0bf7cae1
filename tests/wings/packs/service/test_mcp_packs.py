"""Packs over MCP: the tool `assemble` reads them in place of a frame."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from mcp import Client

from tests.service.serving import served
from tests.service.test_mcp import text_of


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("mcp") / "notes.duckdb") as found:
        yield found


async def test_an_agent_gets_a_text_made_of_packs_where_it_asks_for_one(address: str) -> None:
    async with Client(f"{address}/mcp") as client:
        said = text_of(await client.call_tool("ingest", {"text": "The tern nests on the north pier."}))
        asked = {"name": "birds", "block": [said.split()[-1].rstrip(".")]}
        assert httpx2.post(f"{address}/v1/operations/pack_keep", json=asked).is_success
        given = {"query": "Where does the tern nest?", "packs": True, "budget": 150}
        made = text_of(await client.call_tool("assemble", given))
        assert "The tern nests on the north pier." in made and made.count("</memory>") == 1
