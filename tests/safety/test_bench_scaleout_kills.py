"""`scaleout`: the server of the bench ends with it, and its checks of what was killed find out a lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.scaleout.kills import measure_database_kills
from benchmarks.scaleout.setup import ScaleoutEffort, ScaleoutSetup
from tests.benchmarks.rigs import memory_rig


@pytest.mark.slow
def test_what_is_killed_loses_nothing_and_the_controls_do(
    request: pytest.FixtureRequest, postgres: str, tmp_path: Path
) -> None:
    if not request.config.getoption("--slow"):
        pytest.skip("kills a server for a minute: give --slow")
    setup = ScaleoutSetup(postgres, tmp_path, effort=ScaleoutEffort(kills=2))
    ended = measure_database_kills(memory_rig(), setup).metrics
    assert ended["database_acknowledged"] > 0 and ended["database_acknowledged_lost"] == 0
    assert ended["database_verified"] == 1 and ended["database_lost_early_control"] >= 1
