"""The REST interface, asked of a real server."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx2
import pytest

from amgs_app.calls.registry import standard
from amgs_app.engine import Engine, Options
from amgs_app.places.folders import ENDING, address_at
from amgs_app.server.hosting import Namespaces
from amgs_app.server.routes import routes
from amgs_app.server.running import listen
from amgs_app.server.tokens import Caller, Tokens, digest
from tests.service.serving import client, served


def test_a_text_is_taken_in_once_and_dated_as_it_says(http: httpx2.Client) -> None:
    given = {"content": "The mast of the Heron was replaced in May.", "occurred_at": "2026-02-01T10:00:00Z"}
    first, again = (http.post("/v1/memory/ingest", json=given) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    (block,) = first.json()["added"]
    assert again.json()["known"] == [block]
    assert http.get(f"/v1/memory/{block[:12]}").json()["block"]["created_at"] == "2026-02-01T10:00:00Z"


def test_all_texts_of_a_request_are_taken_in_or_none(http: httpx2.Client) -> None:
    before = http.get("/v1/lifecycle/status").json()["store"]["change_counter"]
    future = {"content": "It will rain.", "occurred_at": "2031-01-01T00:00:00Z"}
    refused = http.post("/v1/memory/ingest", json={"content": ["It rains.", future]})
    assert refused.status_code == 422
    assert "has not happened yet" in refused.json()["detail"]
    blank = http.post("/v1/memory/ingest", json={"content": ["It snows.", "\n \n"]})
    assert blank.status_code == 422
    assert http.get("/v1/lifecycle/status").json()["store"]["change_counter"] == before


def test_an_answer_says_what_was_chosen_and_explains_it_where_that_is_asked(http: httpx2.Client) -> None:
    texts = [f"The {name} lies at berth {n}." for n, name in enumerate(("Heron", "Gull", "Tern", "Petrel"))]
    http.post("/v1/memory/ingest", json={"content": texts})
    http.post("/v1/lifecycle/consolidate")
    search = {"query": "which boat lies at berth 2?"}
    brief = http.post("/v1/memory/search", json=search).json()
    whole = http.post("/v1/memory/search", json=search | {"explain": True}).json()
    assert [each["block"]["id"] for each in brief["hits"]] == [each["block"]["id"] for each in whole["hits"]]
    assert not any(each["evidence"] for each in brief["hits"])
    assert all(each["evidence"] for each in whole["hits"])
    frame = {"name": "ATTENTION", "query": "which boat lies at berth 2?", "budget": 40, "look": True}
    brief = http.post("/v1/frame/assemble", json=frame).json()
    whole = http.post("/v1/frame/assemble", json=frame | {"explain": True}).json()
    assert brief["text"] == whole["text"]
    assert brief["candidates"] == [each for each in whole["candidates"] if each["fate"] == "selected"]
    assert 0 < len(brief["candidates"]) < len(whole["candidates"])


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "kind"),
    [
        ("GET", "/v1/memory/ffffffffff", None, 404, "unknown-block"),
        ("POST", "/v1/frame/assemble", {"name": "NOWHERE"}, 404, "unknown-frame"),
        ("POST", "/v1/memory/search", {"query": "x", "top_k": 0}, 422, "usage"),
        ("POST", "/v1/memory/search", {"query": "x", "top_n": 3}, 422, "usage"),
        ("GET", "/v1/nowhere", None, 404, "not-found"),
        ("POST", "/v1/operations/export", {"path": "/etc/passwd"}, 404, "not-found"),
    ],
)
def test_an_error_is_a_problem_with_a_way_out(
    http: httpx2.Client, method: str, path: str, body: object, status: int, kind: str
) -> None:
    answer = http.request(method, path, json=body)
    told = answer.json()
    assert (answer.status_code, told["type"]) == (status, f"urn:amgs:problem:{kind}")
    assert answer.headers["content-type"] == "application/problem+json"
    assert told["title"]
    assert told["detail"]
    assert "Traceback" not in answer.text


def test_a_token_opens_its_namespaces_and_no_other(tmp_path: Path) -> None:
    tokens = Tokens(
        {
            digest("one"): Caller("writer", ("boats",), "write"),
            digest("two"): Caller("reader", ("cats", "boats"), "read"),
        }
    )
    with served(root=tmp_path, tokens=tokens) as address:
        with client(address) as nobody:
            assert nobody.get("/v1/lifecycle/status").status_code == 401
        with client(address, "one") as writer, client(address, "two") as reader:
            text = {"content": "The Heron leaks."}
            assert writer.post("/v1/memory/ingest", json=text).status_code == 201
            hidden = writer.get("/v1/lifecycle/status", headers={"AMGS-Namespace": "cats"})
            missing = writer.get("/v1/lifecycle/status", headers={"AMGS-Namespace": "dogs"})
            assert (hidden.status_code, hidden.text) == (404, missing.text)
            assert reader.post("/v1/memory/ingest", json=text).status_code == 403
            status = reader.get("/v1/lifecycle/status", headers={"AMGS-Namespace": "boats"})
            assert status.json()["store"]["blocks"] == {"raw": 1}
            boats = {"AMGS-Namespace": "boats"}
            told = reader.post("/v1/operations/traffic", json={}, headers=boats).json()
            assert told["asked"]["writer"] == 1, "how much each holder of a token asked"
            assert ("writer", "ingest") in {(event["caller"], event["operation"]) for event in told["events"]}
            assert reader.post("/v1/operations/review", json={}, headers=boats).json()["items"] == []
            for given in ({"scan": True}, {"accept": 1}):
                refused = reader.post("/v1/operations/review", json=given, headers=boats)
                assert refused.status_code == 403, "a list is read, a decision is written"


def test_every_operation_on_the_memory_has_a_route_and_a_name_of_its_own() -> None:
    table = routes(standard())
    assert len({(each.method, each.path) for each in table}) == len(table)
    identifiers = [each.identifier for each in table]
    assert len(set(identifiers)) == len(identifiers)
    offered = {each.operation.name for each in table}
    assert {"search", "frame compare", "frame why", "decay forecast", "verify", "undo"} <= offered
    assert {"export", "import", "snapshot", "select"} & offered == set()


def test_a_store_that_is_served_says_where_even_one_that_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMGS_DATA", str(tmp_path / "new"))
    own = Options(own=True, model="tiny")
    namespaces = Namespaces(own)
    namespaces.address = "http://127.0.0.1:8420"
    try:
        _ = namespaces.get("default").memory
        assert address_at(Engine(own).beside_store(ENDING)) == "http://127.0.0.1:8420"
    finally:
        namespaces.close()


def test_who_connects_before_the_server_runs_is_not_refused() -> None:
    with listen("127.0.0.1", 0) as made, socket.create_connection(made.getsockname(), timeout=5) as asking:
        assert asking.getpeername() == made.getsockname()
