"""Several servers on one store in PostgreSQL: what is asked of one is seen on every other, as if they were one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx2
import psycopg
import pytest

from amgs.errors import UsageError
from amgs_app import operations
from amgs_app.attached import engine_of
from amgs_app.engine import Options
from amgs_app.results.overview import Overview
from amgs_app.server.hosting import Namespaces
from amgs_app.server.tokens import Caller, Tokens, digest
from amgs_app.session import Operator
from tests.postgres_server import namespace
from tests.service.serving import client, served


@pytest.fixture
def place(postgres: str) -> str:
    return namespace(postgres)


def postgres_rows(place: str, sql: str) -> list[tuple[Any, ...]]:
    """What a query in a namespace gives."""
    server, _, name = place.rpartition("&namespace=")
    with psycopg.connect(server, autocommit=True, options=f"-c search_path=amgs_{name}") as admin:
        found = admin.execute(sql.encode())
        return found.fetchall() if found.description else []


@contextmanager
def two(place: str) -> Iterator[tuple[httpx2.Client, httpx2.Client]]:
    with ExitStack() as held:
        yield tuple(held.enter_context(client(held.enter_context(served(place)))) for _ in range(2))  # type: ignore[misc]


def test_what_one_server_takes_in_the_other_finds_frames_and_takes_back(place: str) -> None:
    with two(place) as (one, other):
        added = one.post("/v1/memory/ingest", json={"content": "The Heron leaks at the mast."})
        assert added.status_code == 201
        assert other.get("/v1/lifecycle/status").json()["store"]["blocks"] == {"raw": 1}
        assert other.post("/v1/lifecycle/consolidate", json={}).status_code == 200
        hits = one.post("/v1/memory/search", json={"query": "Heron mast"}).json()["hits"]
        assert [hit["block"]["id"] for hit in hits] == added.json()["added"]
        frame = other.post("/v1/frame/assemble", json={"name": "SESSION", "query": "Heron"})
        assert "leaks at the mast" in frame.json()["text"]
        newest = one.get("/v1/journal").json()["operations"][0]
        assert other.post(f"/v1/journal/{newest['id']}/undo").json()["undone"]
        assert one.get("/v1/lifecycle/status").json()["store"]["blocks"] == {"raw": 1}
        erased = other.delete(f"/v1/memory/{added.json()['added'][0]}", params={"hard": True})
        assert erased.status_code == 200
        assert one.post("/v1/memory/search", json={"query": "Heron mast"}).json()["hits"] == []
        for each in (one, other):
            assert each.post("/v1/operations/verify", json={}).json()["faults"] == []


def test_a_service_tells_how_its_namespace_stands_and_names_no_other(postgres: str, place: str) -> None:
    other = namespace(postgres)
    with served(other), served(place) as address, client(address) as http:
        http.post("/v1/memory/ingest", json={"content": "The Heron leaks at the mast."})
        told = http.get("/v1/lifecycle/status")
        topology = told.json()["store"]["topology"]
        assert topology["namespace"]["name"] == place.rpartition("=")[2]
        assert told.json()["namespaces"] == []
        with Operator(engine_of(Options(connect=address))) as attached:
            seen = attached.run(operations.general.status())
        assert isinstance(seen, Overview)
        beside = seen.store.topology
        assert beside is not None and seen.namespaces == ()
        for text in (told.text, repr(seen)):
            assert f'"{other.rpartition("=")[2]}"' not in text.replace("'", '"')


def heard(address: httpx2.Client, after: int, count: int) -> list[dict[str, Any]]:
    """So many changes after one, in the order in which they are told."""
    found: list[dict[str, Any]] = []
    ends = time.monotonic() + 120
    with address.stream("GET", "/v1/events", headers={"Last-Event-ID": str(after)}) as told:
        for line in told.iter_lines():
            if line.startswith("data:"):
                event = json.loads(line.removeprefix("data:"))
                found += [event] if event["kind"] != "asked" else []
            if len(found) == count:
                return found
            assert time.monotonic() < ends, found
    raise AssertionError(f"the stream ended after {found}")


def test_each_server_tells_of_every_change_in_order_and_goes_on_where_one_was(place: str) -> None:
    with two(place) as servers, ThreadPoolExecutor(2) as pool:
        begun = int(servers[0].get("/v1/lifecycle/status").headers["AMGS-Change"])
        listening = [pool.submit(heard, each, begun, 4) for each in servers]
        for number in range(4):
            servers[number % 2].post("/v1/memory/ingest", json={"content": f"Buoy {number} is red."})
        numbers = [begun + step for step in range(1, 5)]
        for each in listening:
            told = each.result(60)
            assert [event["change"] for event in told] == numbers
            assert {event["operation"] for event in told} == {"ingest"}
        # Whoever asks later, and of whichever server, gets what was missed.
        assert [event["change"] for event in heard(servers[1], numbers[1], 2)] == numbers[2:]
    with served(place) as address, client(address) as third:
        assert [event["change"] for event in heard(third, numbers[0], 3)] == numbers[1:]
        assert heard(third, 10**6, 1)[0]["kind"] == "dropped"
        # A change whose notice nobody got is told by its counter.
        postgres_rows(
            place,
            "UPDATE change_counter SET value = value + 1; INSERT INTO outbox SELECT value, "
            "'{\"program\": \"7 on quay\"}', '[]', '[]' FROM change_counter",
        )
        told = heard(third, numbers[3], 1)
        assert [(event["change"], event["caller"]) for event in told] == [(numbers[3] + 1, "process 7 on quay")]


def test_a_request_under_one_key_is_done_once_whichever_servers_are_asked(place: str) -> None:
    with two(place) as servers:
        block = servers[0].post("/v1/memory/ingest", json={"content": "The Gull leaks."}).json()["added"][0]

        def reinforce(server: httpx2.Client) -> int:
            body = {"blocks": [block]}
            return server.post("/v1/memory/reinforce", json=body, headers={"Idempotency-Key": "k"}).status_code

        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(reinforce, servers * 2)) == {200}
        used = postgres_rows(place, "SELECT reinforcements FROM memory_blocks")
        assert used == [(1,)]


def test_namespaces_of_the_service_are_schemas(postgres: str) -> None:
    own, hidden = (namespace(postgres).rpartition("=")[2] for _ in range(2))
    callers = {name: Caller(name, (name,), "write") for name in (own, hidden)}
    tokens = Tokens({digest(name): caller for name, caller in callers.items()})
    with served(root=postgres, tokens=tokens) as address:
        for name in (own, hidden):
            with client(address, name) as http:
                assert http.post("/v1/memory/ingest", json={"content": f"The key of {name}."}).status_code == 201
        with client(address, own, **{"AMGS-Namespace": hidden}) as http:
            assert http.get("/v1/lifecycle/status").status_code == 404
    for name in (own, hidden):
        rows = postgres_rows(f"{postgres}&namespace={name}", "SELECT content FROM memory_blocks")
        assert rows == [(f"The key of {name}.",)]


@pytest.mark.parametrize(
    ("root", "said"),
    [
        ("postgresql://ann:hunter2@host/db", "holds a password"),
        ("postgresql://ann@host/db?namespace=one", "already names a namespace"),
    ],
)
def test_a_database_that_cannot_be_served_is_refused_at_once(root: str, said: str) -> None:
    pytest.importorskip("psycopg")
    from tests.service.serving import options

    with pytest.raises(UsageError, match=said):
        Namespaces(options(), root)
