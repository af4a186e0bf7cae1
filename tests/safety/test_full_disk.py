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
        memory.consolidate()
        assert memory.verify().ok


PROGRAM = """
import ctypes, sys

# Root may write anywhere, but for these two rights.
head, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
system = ctypes.CDLL(None)
if sys.platform == "linux" and system.capget(head, rights) == 0:
    rights[0] &= ~0b110
    system.capset(head, rights)
from amgs_app.cli import run
sys.exit(run(sys.argv[1:]))
"""


def ran(*words: str, home: Path, piped: str = "") -> subprocess.CompletedProcess[str]:
    """The command line, by somebody who may write only where the system lets everybody."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AMGS_", "XDG_"))}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, "--model", "tiny", *words],
        input=piped,
        capture_output=True,
        text=True,
        env={**kept, "HOME": str(home), "PYTHONPATH": ":".join(sys.path)},
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the rights are Linux's")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--read-only", "search", "winch"], 0),
        (["--read-only", "frame", "assemble", "SESSION", "--query", "winch"], 0),
        (["--read-only", "status"], 0),
        (["search", "winch"], 0),
        (["frame", "assemble", "SESSION", "--query", "winch"], 0),
        (["ingest", "The tide is out."], 4),
    ],
)
def test_a_store_that_cannot_be_written_is_read(tmp_path: Path, words: list[str], code: int) -> None:
    folder = tmp_path / "image"
    folder.mkdir()
    with open_memory(folder / "s.duckdb") as memory:
        memory.ingest_text("The winch log lies in the boathouse.")
        memory.search("winch")
    places = [folder, *folder.rglob("*")]
    for place in reversed(places):
        place.chmod(0o555 if place.is_dir() else 0o444)
    try:
        done = ran("--store", str(folder / "s.duckdb"), *words, home=tmp_path)
    finally:
        for place in places:
            place.chmod(0o755)
    assert done.returncode == code, done.stderr
    assert ("winch" in done.stdout or "raw" in done.stdout) if code == 0 else "--read-only" in done.stderr
    said = "s.duckdb cannot be written: it is open for reading." in done.stderr
    assert said == (code == 0 and "--read-only" not in words)
    assert "Traceback" not in done.stderr and "nanobind" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the rights are Linux's")
@pytest.mark.parametrize(
    "words", [["ingest", "a b"], ["--corpus", "DIR", "ingest", "a b"], ["shell"], ["run", "DIR/s.amgs"], ["mcp"]]
)
def test_a_home_that_cannot_be_written_is_named_in_a_sentence(tmp_path: Path, words: list[str]) -> None:
    home, notes = tmp_path / "home", tmp_path / "notes"
    home.mkdir()
    notes.mkdir()
    (notes / "s.amgs").write_text('ingest "a b"\n')
    home.chmod(0o555)
    done = ran(*(word.replace("DIR", str(notes)) for word in words), home=home, piped='ingest "a b"\n')
    assert done.returncode == 4, done.stderr
    assert f"{home}/.local: Permission denied." in done.stderr
    assert "Traceback" not in done.stderr and "nanobind" not in done.stderr
