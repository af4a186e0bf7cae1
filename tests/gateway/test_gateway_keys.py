"""A provider's key goes to the provider, and nowhere else: it is looked for in every byte that is kept or told."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.recorder import Recorder, gateway, recorder
from tests.service.serving import client

KEY = "sk-planted-7c1f-do-not-keep"


def asked(address: str, **headers: str) -> Any:
    with client(address, Authorization=f"Bearer {KEY}", **{"x-api-key": KEY, "api-key": KEY}, **headers) as agent:
        return agent.post(
            f"/v1/chat/completions?key={KEY}",
            json={"model": "m", "messages": [{"role": "user", "content": "What does dome 3 draw?"}]},
        )


@pytest.mark.parametrize("budget", [0, 400])
def test_a_key_is_in_no_file_no_log_no_answer_and_no_table(
    fresh: Recorder, tmp_path: Path, budget: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[str] = []
    with gateway(fresh.address, budget, tmp_path / "a.duckdb") as address:
        for _ in range(3):
            assert asked(address).status_code == 200
        fresh.status = 500
        told.append(asked(address).text)
        with client(address) as operator:
            tables = ("conversation_exchanges", "conversation_list", "feed")
            told += [operator.post(f"/v1/operations/{name}", json={}).text for name in tables]
            told += [operator.get(path).text for path in ("/v1/journal", "/metrics")]
    assert fresh.headers and all(KEY in str(sent) for sent in fresh.headers)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path.name
    assert not [line for line in told if KEY in line]
    # The client and the fresh server of this test write logs of their own into the same process.
    assert not [each for each in caplog.records if each.name.startswith("amgs") and KEY in each.getMessage()]


def test_a_redirect_is_handed_back_and_not_followed(fresh: Recorder, tmp_path: Path) -> None:
    with recorder() as elsewhere, gateway(fresh.address, store=tmp_path / "a.duckdb") as address:
        fresh.status, fresh.more = 307, {"location": f"{elsewhere.address}/v1/chat/completions"}
        answer = asked(address)
        assert answer.status_code == 307
        assert not elsewhere.headers
