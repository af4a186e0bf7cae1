"""A server that is killed at the worst instant, and started again at once: what was asked under a key is done once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from tests.service.serving import client

_DIES = """
import os, signal
from amgs_app.server import asking
keep = asking._store_record
def dies(memory, *given, answer=None, **more):
    if answer is not None and os.path.exists(os.environ["DIE"]):
        os.kill(os.getpid(), signal.SIGKILL)
    keep(memory, *given, answer=answer, **more)
asking._store_record = dies
"""
_SERVES = """
import sys
from amgs_tui.__main__ import main
sys.exit(main())
"""


@contextmanager
def running(tmp_path: Path, port: int = 0) -> Iterator[tuple[httpx2.Client, subprocess.Popen[str]]]:
    """`amgs serve` in a process of its own, which is killed before it keeps an answer once the file `die` is there."""
    words = ("--store", str(tmp_path / "a.duckdb"), "--model", "tiny", "serve", "--port", str(port))
    process = subprocess.Popen(
        [sys.executable, "-c", _DIES + _SERVES, *words],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"DIE": str(tmp_path / "die")},
    )
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        while said and "Serving on" not in said:
            said = process.stderr.readline()
        address = said.split()[2].rstrip(";")
        with client(address) as http:
            for _ in range(600):
                with suppress(httpx2.ConnectError):
                    http.get("/healthz")
                    break
                time.sleep(0.05)
            yield http, process
    finally:
        process.kill()
        process.wait(timeout=30)
        process.stderr.close()


def assemblies(http: httpx2.Client) -> int:
    return len(http.post("/v1/operations/frame_history", json={}).json()["assemblies"])


@pytest.mark.slow
def test_what_was_done_when_the_server_was_killed_is_not_done_again(tmp_path: Path) -> None:
    look, key = {"name": "SESSION", "query": "which boat?"}, {"Idempotency-Key": "k"}
    with running(tmp_path) as (http, process):
        port = int(str(http.base_url).rstrip("/").rpartition(":")[2])
        block = http.post("/v1/memory/ingest", json={"content": "The Heron has a new mast."}).json()["added"][0]
        note = {"note": "seen", "block": block}
        before = assemblies(http)
        (tmp_path / "die").touch()
        with pytest.raises(httpx2.TransportError):
            http.post("/v1/frame/assemble", json=look, headers=key)
        process.wait(timeout=30)
    with running(tmp_path, port) as (http, process):  # the same port, at once
        (tmp_path / "die").unlink()
        again = http.post("/v1/frame/assemble", json=look, headers=key)
        assert (again.status_code, again.json()["type"]) == (409, "urn:amgs:problem:repeated")
        assert assemblies(http) == before + 1
        (tmp_path / "die").touch()
        with pytest.raises(httpx2.TransportError):  # its answer is kept in the transaction that does it: neither is
            http.post("/v1/operations/block_set", json=note, headers=key | {"Idempotency-Key": "n"})
        process.wait(timeout=30)
        (tmp_path / "die").unlink()
    with running(tmp_path, port) as (http, _):
        answers = [
            http.post("/v1/operations/block_set", json=note, headers=key | {"Idempotency-Key": "n"}) for _ in range(2)
        ]
        assert [each.status_code for each in answers] == [200, 200]
        assert answers[0].json() == answers[1].json()
        entries = http.get("/v1/journal").json()["operations"]
        assert len([each for each in entries if "note" in each["kind"] + each["summary"]]) == 1
