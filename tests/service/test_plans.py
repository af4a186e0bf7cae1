"""Plans, the journal, requests that must not be done twice, and deletion: over HTTP, against a real server."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from amgs_app.server.tokens import Caller, Tokens, digest
from tests.service.serving import client, served

TEXTS = ["The mast of the Heron is new.", "Anna keeps the key of the shed.", "The Gull leaks at the stern."]


@pytest.fixture(scope="module")
def http(http: httpx2.Client) -> httpx2.Client:
    assert http.post("/v1/memory/ingest", json={"content": TEXTS}).status_code == 201
    return http


def changes(http: httpx2.Client) -> int:
    return int(http.get("/v1/lifecycle/status").headers["AMGS-Change"])


def test_a_plan_is_applied_as_it_was_shown_and_undone(http: httpx2.Client) -> None:
    made = http.post("/v1/plans/consolidate", json={"limit": 1})
    plan = made.json()
    assert (made.status_code, made.headers["ETag"]) == (201, f'"{plan["change_counter"]}"')
    assert http.get(made.headers["Location"]).json()["plan"] == plan["plan"]

    where = f"/v1/plans/{plan['id']}/apply"
    assert http.post(where).status_code == 422  # without If-Match
    done = http.post(where, headers={"If-Match": made.headers["ETag"]}).json()
    assert (done["operation"]["kind"], done["operation"]["blocks"]) == ("consolidate", 1)
    assert http.post(where, headers={"If-Match": "*"}).status_code == 404

    entry = f"/v1/journal/{done['operation']['id']}"
    assert http.post(f"{entry}/undo").json()["undone"] is True
    assert http.get("/v1/lifecycle/status").json()["store"]["blocks"] == {"raw": 3}
    assert http.post("/v1/journal/999999/undo").status_code in (400, 404)


def test_a_plan_of_a_memory_that_changed_is_refused_with_what_changed(http: httpx2.Client) -> None:
    made = http.post("/v1/plans/prune", json={})
    http.post("/v1/memory/ingest", json={"content": "Tide tables are in the blue folder."})
    where = f"/v1/plans/{made.json()['id']}/apply"
    stale = http.post(where, headers={"If-Match": made.headers["ETag"]})
    assert (stale.status_code, stale.json()["type"]) == (412, "urn:amgs:problem:stale")
    assert [each["kind"] for each in stale.json()["changed"]] == ["ingest"]
    # A header that was made up does not make an old plan a new one.
    forged = {"If-Match": f'"{changes(http)}"'}
    assert http.post(where, headers=forged).status_code == 412


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/frame/assemble", {"name": "ATTENTION", "query": "which boat has a mast?"}),
        ("/v1/operations/block_set", {"note": "seen", "block": "BLOCK"}),
        ("/v1/memory/reinforce", {"blocks": ["BLOCK"]}),
        ("/v1/lifecycle/consolidate", {}),
    ],
)
def test_a_request_under_a_key_is_done_once_and_answered_the_same(
    http: httpx2.Client, path: str, body: dict[str, object]
) -> None:
    block = http.post("/v1/memory/search", json={"query": "mast"}).json()["hits"][0]["block"]["id"]
    given = json.loads(json.dumps(body).replace("BLOCK", block))
    key = {"Idempotency-Key": f"key of {path}"}
    first = http.post(path, json=given, headers=key)
    before = changes(http)
    again = http.post(path, json=given, headers=key)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json() == first.json()
    assert changes(http) == before
    other = http.post("/v1/operations/block_set", json={"note": "other", "block": block}, headers=key)
    assert other.status_code == 400


def test_an_erased_block_leaves_a_receipt_and_no_text_not_even_in_a_kept_answer(tmp_path: Path) -> None:
    tokens = Tokens({digest(may): Caller(may, ("default",), may) for may in ("write", "operate")})
    store = tmp_path / "a.duckdb"
    with (
        served(store, tokens=tokens) as address,
        client(address, "write") as writer,
        client(address, "operate") as operator,
    ):
        taken = writer.post("/v1/memory/ingest", json={"content": "Xyzzyvault is the word."}).json()
        (block,) = taken["added"]
        assert (taken["durable_at"], taken["searchable"][:12]) == ("2026-03-01T12:00:00Z", "by words now")
        assert str(tmp_path) not in writer.get("/v1/lifecycle/status").text
        writer.post("/v1/lifecycle/consolidate")
        asked = {"name": "SESSION", "query": "which word?"}
        kept = writer.post("/v1/frame/assemble", json=asked, headers={"Idempotency-Key": "k"})
        assert "Xyzzyvault" in kept.text
        assert writer.delete(f"/v1/memory/{block}?hard=true").status_code == 403
        hard = {"blocks": [block], "hard": True, "yes": True}
        assert writer.post("/v1/operations/block_delete", json=hard).status_code == 403
        receipt = operator.delete(f"/v1/memory/{block}?hard=true").json()
        assert receipt["ids"] == [block]
        assert operator.get(f"/v1/memory/{block}").status_code == 404
    assert b"Xyzzyvault" not in store.read_bytes()
