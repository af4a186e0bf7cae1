"""The agents on a real server: one runner each, what they do, and a runner that dies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from amgs.client import MemoryClient
from amgs.errors import InputError, NotAllowedError, UnreachableError, UsageError
from amgs_app.agents.runner import DUTIES, KINDS, LEASE, Orders, Runner, ask, ingestion
from amgs_app.agents.states import AGENTS, AgentState, check_agents, claimed, ended
from amgs_app.server.tokens import Caller, Tokens, digest
from tests.service.serving import served

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[MemoryClient]:
    with served(tmp_path / "notes.duckdb") as address, MemoryClient(address) as made:
        yield made


def test_the_agents_take_in_a_folder_and_keep_the_memory(api: MemoryClient, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "mast.md").write_text("The mast of the Heron is of spruce.", encoding="utf-8")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    said: list[str] = []
    runner = Runner(api, "one", AGENTS, Orders(folder), said.append)
    assert runner.run() == len(AGENTS)
    assert said[0] == "ingestion: 1 new file, 0 changed"
    status = {each.name: each for each in ask(api, "agents status").agents}
    assert {each.runs for each in status.values()} == {1}
    assert {each.failures for each in status.values()} == {0}, status
    assert {each.holder for each in status.values()} == {""}
    assert runner.run() == 0, "nothing is due again at the same instant"

    ask(api, "consolidate")
    (folder / "mast.md").write_text("The mast of the Heron is of carbon.", encoding="utf-8")
    assert ingestion(api, Orders(folder)) == "0 new files, 1 changed"
    assert ingestion(api, Orders(folder)) == "0 new files, 0 changed"
    held = ask(api, "source show", source="log/mast.md").pieces
    assert len(held) == 2


def test_one_runner_has_an_agent_at_a_time_and_a_paused_one_rests(api: MemoryClient) -> None:
    assert ask(api, "agents lease", agent="curation", holder="one").granted
    second = ask(api, "agents lease", agent="curation", holder="two")
    assert not second.granted
    assert second.because.startswith("one runs it until")
    with pytest.raises(UsageError):
        ask(api, "agents lease", agent="curation", holder="two", outcome="nothing")
    ask(api, "agents lease", agent="curation", holder="one", outcome="done")
    ask(api, "agents pause", agent="attention")
    assert not ask(api, "agents lease", agent="attention", holder="one").granted
    assert ask(api, "agents pause", agent="attention", off=True).paused is False
    assert ask(api, "agents lease", agent="attention", holder="one").granted


def test_where_a_runner_dies_another_goes_on_when_its_lease_has_run_out() -> None:
    state = claimed(AgentState("curation"), "one", NOW, 60).agent
    assert not claimed(state, "two", NOW + timedelta(seconds=59), 60).granted
    taken = claimed(state, "two", NOW + timedelta(seconds=61), 60)
    assert taken.granted
    with pytest.raises(UsageError, match="one does not run"):
        ended(taken.agent, "one", NOW, "late", failed=False)


def test_a_run_that_fails_is_noted_and_the_others_go_on(
    api: MemoryClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(api: MemoryClient, orders: Orders) -> str:
        raise InputError("The disk is gone.")

    said: list[str] = []
    gone = tmp_path / "gone"
    gone.mkdir()
    (gone / "a.md").write_text("<!-- -->", encoding="utf-8")
    monkeypatch.setitem(DUTIES, "ingestion", broken)
    runner = Runner(api, "one", check_agents(["ingestion", "consolidation"]), Orders(gone), said.append)
    assert runner.run() == 2
    assert said[0] == "ingestion: Cannot read the input: The disk is gone."
    assert said[1].startswith("consolidation: ")
    assert [each.failures for each in ask(api, "agents status").agents][:2] == [1, 0]


def test_an_agent_needs_a_token_that_may_write(tmp_path: Path) -> None:
    tokens = Tokens({digest("r"): Caller("reader", ("boats",), "read")})
    with served(root=tmp_path, tokens=tokens) as address, MemoryClient(address, token="r") as reader:
        assert len(ask(reader, "agents status").agents) == len(AGENTS)
        with pytest.raises(NotAllowedError):
            ask(reader, "agents lease", agent="curation", holder="one")


def test_no_service_is_said() -> None:
    with MemoryClient("http://127.0.0.1:9", retries=0) as nobody, pytest.raises(UnreachableError):
        ask(nobody, "agents status")


def test_an_unknown_agent_is_refused() -> None:
    with pytest.raises(UsageError, match="no agent 'cleaning'"):
        check_agents(["cleaning"])


def test_the_page_tells_every_agent_and_how_long_a_lease_is() -> None:
    told = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", told, re.M)) == sorted(AGENTS)
    assert LEASE == 15 * 60 and "fifteen minutes" in told
    assert all(f"`{ending}`" in told for ending in KINDS)
