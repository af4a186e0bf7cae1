"""A disk that is full in the middle of a write: said as what it is, nothing lost, and all well once there is room.

No test can fill a disk politely: a limit on the size of a file stands in, which the system enforces alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from amgs.types import BlockFilter
from tests.engine.memory_world import open_memory

WORKER = """
import json, resource, sys
from datetime import UTC, datetime
from pathlib import Path
from amgs.clock import FixedClock
from amgs.errors import AmgsError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import BlockFilter

store, stage, room = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
at = datetime(2026, 3, 1, tzinfo=UTC)
added, done, said = [], [], None

def drafts(i):
    words = " ".join(f"w{(i * 977 + j * 31) % 9973}" for j in range(150))
    return [RawBlock(f"note {i} {k} {words}", at, {"source": f"{i}-{k}.md"}) for k in range(10)]

with Memory.open(store, clock=FixedClock(at)) as memory:
    if stage != "ingest":
        for i in range(4):
            added += memory.ingest_many(drafts(i)).added
    if stage in ("undo", "export"):
        done.append(memory.apply_consolidation(memory.plan_consolidation()).id)
    if stage == "consolidate":
        plan = memory.plan_consolidation()
    largest = max(p.stat().st_size for p in store.parent.iterdir() if p.is_file())
    limit = room if stage == "export" else largest + room
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        for i in range(4, 400):
            if stage == "ingest":
                added += memory.ingest_many(drafts(i)).added
            elif stage == "consolidate":
                done.append(memory.apply_consolidation(plan).id)
            elif stage == "undo":
                memory.undo(done[-1])
            else:
                memory.exchange.export(store.with_name("export.json"))
            if stage in ("consolidate", "undo"):
                break
    except AmgsError as error:
        said = [type(error).__name__, error.exit_code, error.title, error.message, error.way_out]
    # What needs no room goes on: reading, and answers from an index that can live without files.
    hits = len(memory.search("note w5", filter=BlockFilter(statuses=("raw", "consolidated"))).hits)
    sound = memory.verify().ok
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(json.dumps({"said": said, "added": added, "hits": hits, "sound": sound}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of a file there")
@pytest.mark.parametrize(
    ("stage", "room"), [("ingest", 100_000), ("consolidate", 1000), ("undo", 1000), ("export", 1000)]
)
def test_a_full_disk_loses_nothing_and_is_named(tmp_path: Path, stage: str, room: int) -> None:
    store = tmp_path / "s.duckdb"
    ran = subprocess.run(
        [sys.executable, "-c", WORKER, str(store), stage, str(room)],
        capture_output=True,
        text=True,
        # A limit on the size of files cuts compiled modules short, too.
        env={**os.environ, "PYTHONPATH": ":".join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    name, code, title, message, way_out = told["said"]
    assert (name, code) == (("InputError", 3) if stage == "export" else ("StoreError", 4))
    assert title == ("Cannot write the file" if stage == "export" else "The disk is full")
    assert message and way_out
    assert told["sound"]
    assert told["hits"] > 0
    assert not (tmp_path / "export.json").exists()
    with open_memory(store) as memory:
        assert memory.verify().ok
        held = {b.id for b in memory.blocks(BlockFilter(statuses=("raw", "consolidated")))}
        assert held == set(told["added"])
        memory.apply_consolidation(memory.plan_consolidation())
        assert memory.verify().ok
