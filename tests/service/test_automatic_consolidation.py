"""A server that consolidates by itself: when it does, what the journal says, and what a person may take back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from amgs import wire
from amgs.types import UndoPlan
from amgs_app.render.format import describe_undo
from amgs_app.server import service
from tests.gateway.recorder import gateway, recorder
from tests.service.serving import NOW, client, served

DUE = [f"Buoy {n} was painted." for n in range(50)]
"""As many as make a consolidation due by volume."""


@pytest.fixture(autouse=True)
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """It looks every few moments; an entry for each time that it has looked after a memory."""
    often = partial(service.consolidate_when_due, every=0.05)
    monkeypatch.setattr(service, "consolidate_when_due", often)
    ended: list[None] = []
    look_after = service._consolidate_if_due

    async def look(*asked: Any) -> None:
        await look_after(*asked)
        ended.append(None)

    monkeypatch.setattr(service, "_consolidate_if_due", look)
    return ended


@pytest.fixture
def http(tmp_path: Path) -> Iterator[httpx2.Client]:
    with served(tmp_path / "a.duckdb") as address, client(address) as made:
        yield made


def blocks(http: httpx2.Client) -> dict[str, int]:
    found: dict[str, int] = http.get("/v1/lifecycle/status").json()["store"]["blocks"]
    return found


def journal(http: httpx2.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = http.get("/v1/journal").json()["operations"]
    return found


def until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)


def looked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What each look at whether it is due came to, from now on."""
    found: list[bool] = []
    asked = service._is_due

    def note(memory: Any) -> bool:
        found.append(asked(memory))
        return found[-1]

    monkeypatch.setattr(service, "_is_due", note)
    return found


def test_it_consolidates_what_is_due_and_the_journal_and_the_undo_say_that_nobody_asked(
    http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    http.post("/v1/memory/ingest", json=DUE[:-1])
    looks = looked(monkeypatch)
    until(lambda: len(looks) > 1)
    assert (blocks(http), any(looks)) == ({"raw": 49}, False)

    http.post("/v1/memory/ingest", json=DUE)
    until(lambda: blocks(http) == {"consolidated": 50})
    made = journal(http)[0]
    assert (made["kind"], made["summary"].endswith(", made by the service")) == ("consolidate", True)
    told = http.post("/v1/operations/traffic", json={}).json()["events"]
    assert [each["caller"] for each in told if each["operation"] == "consolidate"] == ["the service"]


def test_what_a_person_takes_back_is_not_done_again_until_something_new_comes(
    http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    http.post("/v1/memory/ingest", json=DUE)
    until(lambda: blocks(http) == {"consolidated": 50})
    assert http.post(f"/v1/journal/{journal(http)[0]['id']}/undo").status_code == 200
    looks = looked(monkeypatch)
    until(lambda: len(looks) > 1)
    assert (blocks(http), any(looks)) == ({"raw": 50}, False)
    http.post("/v1/memory/ingest", json="One more buoy was painted.")
    until(lambda: blocks(http) == {"consolidated": 51})


def test_it_waits_while_somebody_has_a_draft(
    http: httpx2.Client, monkeypatch: pytest.MonkeyPatch, rounds: list[None]
) -> None:
    http.post("/v1/memory/ingest", json=DUE[:1])
    assert http.post("/v1/plans/consolidate", json={}).status_code < 300
    looks = looked(monkeypatch)
    http.post("/v1/memory/ingest", json=DUE)
    rounds.clear()
    until(lambda: len(rounds) > 2)
    assert (blocks(http), looks) == ({"raw": 50}, [])
    monkeypatch.setattr(service, "DRAFT_SECONDS", 0.0)
    until(lambda: blocks(http) == {"consolidated": 50})


def test_the_setting_switches_it_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds: list[None]) -> None:
    monkeypatch.setenv("AMGS_MEMORY__CONSOLIDATION__AUTOMATIC_SERVED", "false")
    looks = looked(monkeypatch)
    with served(tmp_path / "a.duckdb") as address, client(address) as http:
        http.post("/v1/memory/ingest", json=DUE)
        rounds.clear()
        until(lambda: len(rounds) > 2)
        assert (blocks(http), looks) == ({"raw": 50}, [])


def test_what_a_gateway_consolidates_is_its_own_change_and_an_undo_says_so(tmp_path: Path) -> None:
    with (
        recorder() as upstream,
        gateway(upstream.address, store=tmp_path / "a.duckdb") as address,
        client(address) as http,
    ):
        asked = {"model": "m", "messages": [{"role": "user", "content": text} for text in DUE]}
        assert http.post("/v1/chat/completions", json=asked).status_code == 200
        until(lambda: journal(http)[0]["kind"] == "consolidate")
        assert journal(http)[0]["summary"].endswith(", made by the gateway")
        accept = {"accept": wire.MEDIA_TYPE}
        plan = http.post("/v1/operations/undo", json={"dry_run": True}, headers=accept)
        found = wire.loads(plan.content)
        assert isinstance(found, UndoPlan)
        assert ", made by the gateway, not by you, " in describe_undo(found, NOW)
