"""A provider's key goes to the provider, and nowhere else: it is looked for in every byte that is kept or told."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.gateway.recorder import Recorder, gateway, recorder
from tests.service.serving import client

KEY = "sk-planted-7c1f-do-not-keep"


@pytest.fixture
def upstream() -> Any:
    with recorder() as made:
        yield made


def asked(address: str, **headers: str) -> Any:
    with client(address, Authorization=f"Bearer {KEY}", **{"x-api-key": KEY, "api-key": KEY}, **headers) as agent:
        return agent.post(
            f"/v1/chat/completions?key={KEY}",
            json={"model": "m", "messages": [{"role": "user", "content": "What does dome 3 draw?"}]},
        )


@pytest.mark.parametrize("budget", [0, 400])
def test_a_key_is_in_no_file_no_log_no_answer_and_no_table(
    upstream: Recorder, tmp_path: Path, budget: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[str] = []
    with gateway(upstream.address, budget, tmp_path / "a.duckdb") as address:
        for _ in range(3):
            assert asked(address).status_code == 200
        upstream.status = 500
        told.append(asked(address).text)
        with client(address) as operator:
            tables = ("conversation_exchanges", "conversation_list", "feed")
            told += [operator.post(f"/v1/operations/{name}", json={}).text for name in tables]
            told += [operator.get(path).text for path in ("/v1/journal", "/metrics")]
    assert upstream.headers and all(KEY in str(sent) for sent in upstream.headers)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path.name
    assert not [line for line in told if KEY in line]
    # The client and the upstream server of this test write logs of their own into the same process.
    assert not [each for each in caplog.records if each.name.startswith("amgs") and KEY in each.getMessage()]


def test_a_redirect_is_handed_back_and_not_followed(upstream: Recorder, tmp_path: Path) -> None:
    with recorder() as elsewhere, gateway(upstream.address, store=tmp_path / "a.duckdb") as address:
        upstream.status, upstream.more = 307, {"location": f"{elsewhere.address}/v1/chat/completions"}
        answer = asked(address)
        assert answer.status_code == 307
        assert not elsewhere.headers


def test_an_official_client_works_as_it_does_without(upstream: Recorder, tmp_path: Path) -> None:
    upstream.says("Sunny.")
    with gateway(upstream.address, store=tmp_path / "a.duckdb") as address:
        agent = openai.OpenAI(base_url=f"{address}/v1", api_key=KEY, max_retries=0)
        with agent:
            said = agent.chat.completions.create(model="m", messages=[{"role": "user", "content": "Weather?"}])
        assert said.choices[0].message.content == "Sunny."
