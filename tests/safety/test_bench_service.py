"""`service` on real servers with little effort: one that is killed beside readers, and one that lives a day."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

import amgs
import amgs_app
from benchmarks.service.kills import READERS, Acknowledged, kill_beside_readers, stale
from benchmarks.service.process import ServerProcess
from benchmarks.service.stages import STAGES

LATEST = Acknowledged("f" * 64, "m1", 7)


def test_a_server_that_is_killed_beside_readers_loses_nothing_and_shows_nothing_old(tmp_path: Path) -> None:
    words = ["--store", str(tmp_path / "s.duckdb"), "--model", "tiny", "serve", "--port", "0"]
    found = kill_beside_readers(lambda: ServerProcess.start(words, tmp_path / "log"), 1, lambda _: None)
    assert found.kills == 1 and len(found.acknowledged) >= 3 and found.reads >= READERS
    assert (found.missing, found.stale, found.sound) == (set(), [], True)


@pytest.mark.parametrize("by_words", [False, True])
@pytest.mark.parametrize(
    ("status", "ids", "change", "old"),
    [(200, [LATEST.id], 7, False), (200, [LATEST.id], 6, True), (200, [], 7, True), (404, [], 7, True)],
)
def test_an_answer_without_what_was_acknowledged_is_stale(
    by_words: bool, status: int, ids: list[str], change: int, old: bool
) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        hits = [{"block": {"id": each}} for each in ids]
        found = status if by_words or ids else 404
        return httpx2.Response(found, json={"hits": hits}, headers={"AMGS-Change": str(change)})

    with httpx2.Client(transport=httpx2.MockTransport(answer), base_url="http://served") as http:
        assert bool(stale(http, LATEST, by_words=by_words)) is old


def test_each_stage_is_of_files_that_there_are() -> None:
    packages = (Path(amgs.__file__).parent, Path(amgs_app.__file__).parent)
    files = [path.as_posix() for package in packages for path in package.rglob("*.py")]
    assert [part for part in STAGES if not any(part in path for path in files)] == []
