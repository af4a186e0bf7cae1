"""kill -9 at any moment of a write: the store opens again, is sound, and has lost nothing acknowledged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.safety.kill_world import STAGES, faults_after, kill, many


@pytest.mark.parametrize("stage", STAGES)
def test_a_killed_process_loses_nothing_acknowledged(tmp_path: Path, stage: str) -> None:
    path = tmp_path / "s.duckdb"
    kill(path, stage, 0, random.Random(stage).uniform(0.0, 0.4))
    assert faults_after(path) == []


def test_a_store_that_was_killed_once_is_killed_again_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    for life, stage in enumerate(("consolidate", "enhance", "hard prune")):
        kill(path, stage, life * 1000, 0.2)
        assert faults_after(path) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_thousand_kills_lose_nothing(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--slow"):
        pytest.skip("a thousand kills: give --slow")
    assert many(1000, 0) == 0
