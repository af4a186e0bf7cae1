"""What keeps one client from taking all of the server, and the log of what was asked."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from pathlib import Path

import httpx2
import pytest

from amgs.errors import BusyError, TooMuchError, TooSlowError
from amgs.problems import status_of
from amgs_app.server.asking import Asked, Service
from amgs_app.server.hosting import Namespaces
from amgs_app.server.limits import LARGEST, MOST_WAITING, Limits, Rates, Turns
from amgs_app.server.service import create_app
from amgs_app.server.tokens import ANYONE, Tokens
from tests.service.serving import client, options, served


def test_a_caller_may_ask_so_often_and_no_more() -> None:
    now = 0.0
    rates = Rates(2.0, 3.0, lambda: now)
    for _ in range(3):
        rates.take("anna")
    with pytest.raises(TooMuchError) as refused:
        rates.take("anna")
    assert refused.value.retry_after == 1
    rates.take("ben")
    now = 0.5
    rates.take("anna")
    with pytest.raises(TooMuchError):
        rates.take("anna")


def test_one_request_too_many_is_told_when_to_come_back(tmp_path: Path) -> None:
    limits = Limits(largest=1000, a_second=0.01)
    with served(tmp_path / "a.duckdb", limits=limits) as address, client(address) as http:
        assert http.get("/v1/journal").status_code == 200
        refused = http.get("/v1/journal")
        large = http.post("/v1/memory/search", json={"query": "a" * 1000})
        assert (large.status_code, large.json()["detail"]) == (
            413,
            "POST /v1/memory/search: a request has at most 1,000 bytes.",
        )
        assert (refused.status_code, refused.json()["type"]) == (429, "urn:amgs:problem:too-much")
        assert 0 < int(refused.headers["Retry-After"]) <= 100
        assert http.get("/healthz").status_code == 200


def test_a_request_that_is_too_large_is_refused_whether_it_says_so_or_not(http: httpx2.Client) -> None:
    large = b'{"query": "' + b"a" * LARGEST + b'"}'
    said = http.post("/v1/memory/search", content=large, headers={"Content-Type": "application/json"})
    streamed = http.post(
        "/v1/memory/search",
        content=(large[at : at + 2**20] for at in range(0, len(large), 2**20)),
        headers={"Content-Type": "application/json"},
    )
    assert [each.status_code for each in (said, streamed)] == [413, 413]
    assert said.json()["type"] == "urn:amgs:problem:too-much"


async def test_a_question_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    spaces = Namespaces(options(tmp_path / "a.duckdb"))
    asked = Asked(Service(spaces, Tokens(), limits=Limits(read_seconds=0.01)), ANYONE, spaces.get("default"))
    go_on = threading.Event()
    try:
        with pytest.raises(TooSlowError, match=r"0\.01 seconds"):
            await asked.run("search", "read", lambda: go_on.wait(20), changes=False)
    finally:
        go_on.set()
        spaces.close()


def test_each_request_is_one_line_of_the_log(http: httpx2.Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "amgs.access"):
        asked = http.get("/v1/journal", headers={"X-Request-Id": "mine-7"})
        forged = http.get("/v1/memory/x%0A%22", headers={"X-Request-Id": 'a" b'})
    lines = [json.loads(each.message) for each in caplog.records if each.name == "amgs.access"]
    assert asked.headers["X-Request-Id"] == lines[0]["id"] == "mine-7"
    first = {name: lines[0][name] for name in ("caller", "namespace", "method", "operation", "status")}
    assert first == {
        "caller": "anyone",
        "namespace": "default",
        "method": "GET",
        "operation": "get_journal",
        "status": 200,
    }
    assert forged.headers["X-Request-Id"] == lines[1]["id"] != 'a" b'
    assert lines[1]["status"] == 404


async def test_waiting_callers_take_turns_and_whoever_waits_most_is_refused_first() -> None:
    turns, went = Turns(1, most=3), list[str]()
    gate = asyncio.Event()

    async def ask(caller: str) -> None:
        async with turns.turn(caller):
            went.append(caller)
            await gate.wait()

    first = asyncio.create_task(ask("first"))
    await asyncio.sleep(0)
    asking = [asyncio.create_task(ask(caller)) for caller in ("greedy", "greedy", "greedy")]
    await asyncio.sleep(0)
    with pytest.raises(BusyError) as refused:
        await ask("greedy")
    assert (status_of(refused.value), refused.value.retry_after) == (503, 1)
    asking.append(asyncio.create_task(ask("modest")))
    await asyncio.sleep(0)
    with pytest.raises(BusyError):
        await asking[2]
    asking[1].cancel()
    gate.set()
    await asyncio.gather(first, asking[0], asking[3])
    assert went == ["first", "greedy", "modest"]
    await asyncio.wait_for(ask("later"), 5)


async def test_a_service_with_too_many_waiting_says_when_to_come_back(tmp_path: Path) -> None:
    namespaces = Namespaces(options(tmp_path / "busy.duckdb"))
    space = namespaces.get("default")
    free = threading.Event()
    asked = [asyncio.create_task(space.run("write", free.wait, ANYONE.name)) for _ in range(1 + MOST_WAITING)]
    await asyncio.sleep(0)
    app = create_app(namespaces)
    try:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as http:
            answer = await http.post("/v1/memory/ingest", json={"content": "One more."})
    finally:
        free.set()
        await asyncio.gather(*asked)
        await asyncio.to_thread(namespaces.close)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert answer.json()["type"] == "urn:amgs:problem:busy"
