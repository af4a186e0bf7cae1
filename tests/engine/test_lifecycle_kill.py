"""kill -9 at any moment of a write: the store opens again, is sound, and has lost nothing acknowledged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine.memory_world import open_memory

WORKER = """
import sys
from datetime import UTC, datetime
from amgs.clock import FixedClock
from amgs.lifecycle.ingest import Draft
from amgs.memory import Memory

start = int(sys.argv[2])
with Memory.open(sys.argv[1], clock=FixedClock(datetime(2026, 3, 1, tzinfo=UTC))) as memory:
    print("ready", flush=True)
    for i in range(start, start + 1000):
        notes = [f"note {i} {k} about the dome and E-{i}" for k in range(40)]
        drafts = [Draft(note, meta={"source": f"{i}.md#{k}"}) for k, note in enumerate(notes)]
        print("added", *memory.ingest_many(drafts).added, flush=True)
        operation = memory.apply_consolidation(memory.plan_consolidation(limit=60))
        print("applied", operation.id, flush=True)
        if i % 3 == 2:
            memory.undo(operation.id)
            print("undone", operation.id, flush=True)
"""


@pytest.mark.parametrize("seed", range(2))
def test_a_killed_writer_loses_nothing_acknowledged(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "s.duckdb"
    draw = random.Random(seed)
    acknowledged: set[str] = set()
    for life in range(2):
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), str(life * 1000)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        )
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        time.sleep(draw.uniform(0.05, 1.2))
        worker.send_signal(signal.SIGKILL)
        told = worker.communicate()[0].split("\n")
        # The last line may have been cut in the middle of a word.
        for line in told[:-1]:
            if line.startswith("added"):
                acknowledged.update(line.split()[1:])
        with open_memory(path) as memory:
            verification = memory.verify()
            assert verification.ok, verification.faults
            assert verification.blocks >= len(acknowledged)
            for block in acknowledged:
                assert memory.block(block).id == block
