"""The agents on a real server: when they run, what they do, and what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from amgs.client import MemoryClient
from amgs.errors import InputError, UsageError
from amgs_app import agents
from amgs_app.agents import ENDINGS, SCHEDULES, Orders, Schedule, ask, ingest
from amgs_app.server.tokens import Caller, Tokens, digest
from tests.service.serving import served


@pytest.fixture
def api(tmp_path: Path) -> Iterator[MemoryClient]:
    with served(tmp_path / "notes.duckdb") as address, MemoryClient(address) as made:
        yield made


def said_at(api: MemoryClient, *seconds: float, names: tuple[str, ...] = (), watch: Path | None = None) -> list[str]:
    """What the agents say that look at these instants, one look after the other."""
    clock, said = [*seconds], list[str]()

    def wait() -> bool:
        clock.pop(0)
        return bool(clock)

    agents.run(api, names, Orders(watch), now=lambda: clock[0], say=said.append, wait=wait)
    return said


def test_the_agents_take_in_a_folder_and_keep_the_memory(api: MemoryClient, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "mast.md").write_text("The mast of the Heron is of spruce.", encoding="utf-8")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    (folder / "torn.txt").write_bytes(b"\xff\xfe\x00")
    said = said_at(api, 0, 4, 6, watch=folder)
    assert [line.partition(":")[0] for line in said] == [*SCHEDULES, "ingestion"], said
    assert said[0] == "ingestion: 1 new file, 0 changed, 1 not read (log/torn.txt)"

    ask(api, "consolidate")
    (folder / "mast.md").write_text("The mast of the Heron is of carbon.", encoding="utf-8")
    assert ingest(api, Orders(folder)).startswith("0 new files, 1 changed")
    assert ingest(api, Orders(folder)).startswith("0 new files, 0 changed")
    assert len(ask(api, "source list", below="log/mast.md", pieces=True).pieces) == 2


def test_a_run_that_fails_is_said_and_the_others_go_on(api: MemoryClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(api: MemoryClient, orders: Orders) -> str:
        raise InputError("The disk is gone.")

    monkeypatch.setattr(agents, "SCHEDULES", {**SCHEDULES, "ingestion": Schedule(5, fail)})
    said = said_at(api, 0, names=("ingestion", "consolidation"))
    assert said[0] == "ingestion failed: Cannot read the input: The disk is gone."
    assert said[1].startswith("consolidation: ")


def test_a_service_that_is_away_is_waited_for() -> None:
    with MemoryClient("http://127.0.0.1:9", retries=0) as nobody:
        said = said_at(nobody, 0, 1, names=("consolidation", "curation"))
        assert len(said) == 2 and said[0] == said[1], "each look tries the first one again"


def test_a_token_that_is_refused_is_said_by_each_agent_with_what_to_do(tmp_path: Path) -> None:
    tokens = Tokens({digest("right"): Caller("anna", ("default",), "operate")})
    with served(tmp_path / "a.duckdb", tokens=tokens) as address, MemoryClient(address, token="wrong") as stranger:
        said = said_at(stranger, 0, names=("consolidation", "curation"))
        assert [line.partition(": ")[0] for line in said] == ["consolidation failed", "curation failed"]
        assert all("token" in line for line in said), said


def test_an_unknown_agent_or_folder_is_refused(api: MemoryClient, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no agent 'cleaning'"):
        said_at(api, 0, names=("cleaning",))
    with pytest.raises(UsageError, match="is not a folder"):
        said_at(api, 0, watch=tmp_path / "none")


def test_the_page_tells_every_agent() -> None:
    told = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", told, re.M)) == sorted(SCHEDULES)
    assert all(f"`{ending}`" in told for ending in ENDINGS)
