"""What a stranger may try on a service: a web page, another name, another's token, namespace, ids and keys."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from amgs_app.server.service import of_this_machine
from amgs_app.server.tokens import Caller, Tokens, digest
from tests.service.serving import client, served

SECRET = "The spare key of the harbour office hangs behind the barometer."


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebound.example"},
        {"Host": "127.0.0.1.rebound.example:8420"},
        {"Host": "localhost@rebound.example"},
        {"Origin": "https://rebound.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.rebound.example"},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/memory/ingest"),
        ("POST", "/v1/memory/search"),
        ("GET", "/v1/journal"),
        ("GET", "/v1/events"),
        ("GET", "/"),
        ("POST", "/mcp"),
    ],
)
def test_a_web_page_neither_reads_nor_writes(harbour: str, headers: dict[str, str], method: str, path: str) -> None:
    with client(harbour, **headers) as page:
        answer = page.request(method, path, content=f'"{SECRET}"', headers={"Content-Type": "text/plain"})
    assert answer.status_code in (403, 421) and SECRET not in answer.text
    with client(harbour) as own:
        found = own.post("/v1/memory/search", json={"query": "spare key", "top_k": 9}).json()["hits"]
        assert [hit["block"]["content"] for hit in found] == [SECRET]


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> object:
    with served(tmp_path_factory.mktemp("harbour") / "a.duckdb") as address:
        with client(address) as own:
            assert own.post("/v1/memory/ingest", json={"content": SECRET}).status_code == 201
        yield address


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("http://localhost:3000", True),
        ("//127.0.0.1:8420", True),
        ("//127.9.9.9", True),
        ("//[::1]:80", True),
        ("//0.0.0.0", False),
        ("//2130706433", False),
        ("//[::1", False),
        ("file://", False),
        ("", False),
    ],
)
def test_what_is_this_machine(address: str, own: bool) -> None:
    assert of_this_machine(address) is own


def test_a_token_reaches_nothing_of_another_namespace_by_any_path(tmp_path: Path) -> None:
    tokens = Tokens(
        {digest("a"): Caller("anna", ("anna",), "operate"), digest("b"): Caller("ben", ("ben",), "operate")}
    )
    with served(root=tmp_path, tokens=tokens) as address:
        with client(address, "a") as anna:
            anna.post("/v1/memory/ingest", json={"content": SECRET}, headers={"Idempotency-Key": "k1"})
            found = anna.post("/v1/memory/search", json={"query": "spare key"}).json()
            block = found["hits"][0]["block"]["id"]
            anna.post("/v1/lifecycle/consolidate", headers={"Idempotency-Key": "k2"})
            frame = anna.post("/v1/frame/assemble", json={"name": "SESSION", "query": "spare key", "budget": 200})
            assert SECRET in frame.text
            kept = anna.post(
                "/v1/frame/assemble",
                json={"name": "SESSION", "query": "barometer", "budget": 200},
                headers={"Idempotency-Key": "k3"},
            )
            assert SECRET in kept.text
            plan = anna.post("/v1/plans/consolidate", json={"limit": 5}).json()["id"]
        names = ["anna", "ANNA", "../anna", "ben/../anna", "anna.duckdb", "%61nna", "*", "", "ben,anna"]
        for name in names:
            with client(address, "b") as ben:
                headers = {"AMGS-Namespace": name}
                for answer in _tries(ben, headers, block, plan):
                    assert SECRET not in answer.text, (name, answer.request.url)
                    if name not in ("", "ben"):
                        assert answer.status_code in (400, 404, 422), (name, answer.request.url)
        with client(address, "b") as ben:  # without a namespace it is ben's own, where there is nothing of hers
            assert ben.get(f"/v1/memory/{block}").status_code == 404
            assert ben.post(f"/v1/plans/{plan}/apply", headers={"If-Match": "*"}).status_code == 404
            same = ben.post(
                "/v1/frame/assemble",
                json={"name": "SESSION", "query": "barometer", "budget": 200},
                headers={"Idempotency-Key": "k3"},
            )
            assert same.status_code == 200 and SECRET not in same.text
            assert SECRET not in ben.get("/metrics").text
        for token in ("", "c", "A"):
            with client(address, token) as nobody:
                answers = [nobody.get("/v1/journal"), nobody.get(f"/v1/memory/{block}"), nobody.get("/metrics")]
            assert {each.status_code for each in answers} == {401}


def _tries(http: httpx2.Client, headers: dict[str, str], block: str, plan: str) -> list[httpx2.Response]:
    asked = {"query": "spare key harbour"}
    return [
        http.get(f"/v1/memory/{block}", headers=headers),
        http.get(f"/v1/memory/{quote('../' + block)}", headers=headers),
        http.post("/v1/memory/search", json=asked, headers=headers),
        http.post("/v1/frame/assemble", json={"name": "SESSION", **asked}, headers=headers),
        http.get("/v1/journal", headers=headers),
        http.get(f"/v1/graph/neighbours/{block}", headers=headers),
        http.delete(f"/v1/memory/{block}?hard=true", headers=headers),
        http.post(f"/v1/plans/{plan}/apply", headers={**headers, "If-Match": "*"}),
        http.post("/v1/operations/export", json={"path": "/tmp/../etc/x.json"}, headers=headers),
    ]
