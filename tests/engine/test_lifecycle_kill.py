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

from tests.engine.lifecycle_world import EVERY
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


UPKEEP = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from amgs.clock import FixedClock
from amgs.lifecycle.ingest import Draft
from amgs.memory import Memory
from amgs.settings import PruningSettings, Settings

start = int(sys.argv[2])
# Reports that are all alike are all central; here nothing is kept for that.
loose = Settings(pruning=PruningSettings(centrality=1.0))
at = datetime(2026, 3, 1, tzinfo=UTC)
with Memory.open(sys.argv[1], clock=FixedClock(at), settings=loose) as memory:
    print("ready", flush=True)
    for i in range(start, start + 1000):
        texts = [f"Report {i}.{k} on kiln {k}: the fire held for {i + 3} hours and the glaze ran." for k in range(12)]
        texts += [text + " Nobody was there." for text in texts[:4]]
        drafts = [Draft(t, at, {"source": f"{i}-{k}.md"}) for k, t in enumerate(texts)]
        print("added", *memory.ingest_many(drafts).added, flush=True)
        memory.apply_consolidation(memory.plan_consolidation())
        life = memory.lifecycle
        done = life.apply_enhancement(life.plan_enhancement(kinds=["duplicate", "merge", "overlap"], limit=6))
        if i % 2:
            memory.undo(done.id)
        life.apply_review(life.plan_review())
        for item in life.reviews(limit=2):
            life.accept(item.review.id)
        memory.clock = FixedClock(at + timedelta(days=900 * (i - start + 1)))
        pruned = life.apply_pruning(memory.lifecycle.plan_pruning(limit=8))
        hard = memory.lifecycle.plan_pruning(hard=True, limit=4)
        done = memory.lifecycle.apply_pruning(hard, ledger=Path(sys.argv[1] + ".ledger"))
        memory.undo(done.operation.id)
        if i % 3 == 0:
            memory.undo(pruned.operation.id)
        print("round", i, flush=True)
"""


def _kill_and_look(path: Path, code: str, life: int, after: float, acknowledged: set[str]) -> None:
    """Run the worker, kill it after some seconds, and check what it left."""
    worker = subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(life * 1000)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    time.sleep(after)
    assert worker.poll() is None, "the worker died by itself"
    worker.send_signal(signal.SIGKILL)
    told = worker.communicate()[0].split("\n")
    for line in told[:-1]:
        if line.startswith("added"):
            acknowledged.update(line.split()[1:])
    with open_memory(path) as memory:
        verification = memory.verify()
        assert verification.ok, verification.faults
        # A hard pruning is undone at once: where the kill fell between, the ledger holds what is gone.
        ledger = Path(f"{path}.ledger")
        kept = ledger.read_text(encoding="utf-8") if ledger.exists() else ""
        held = {b.id for b in memory.blocks(EVERY)}
        assert all(block in held or block in kept for block in acknowledged)


def test_a_kill_in_merge_review_prune_or_undo_loses_nothing(tmp_path: Path) -> None:
    draw, acknowledged = random.Random(11), set[str]()
    for life in range(3):
        _kill_and_look(tmp_path / "s.duckdb", UPKEEP, life, draw.uniform(0.1, 2.0), acknowledged)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_kills_in_merge_review_prune_or_undo_lose_nothing(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not request.config.getoption("--slow"):
        pytest.skip("a hundred kills: give --slow")
    for seed in range(20):
        draw, acknowledged = random.Random(100 + seed), set[str]()
        for life in range(5):
            path = tmp_path / f"s{seed}.duckdb"
            _kill_and_look(path, UPKEEP, life, draw.uniform(0.02, 3.0), acknowledged)
