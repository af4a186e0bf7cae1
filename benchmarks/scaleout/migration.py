"""The subject `migration`: how long a whole memory takes from a file into a database and back, checked."""

from __future__ import annotations

import os
import time
from pathlib import Path

from amgs.exchange.migration import Migration, migrate
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.large_corpus import Books
from benchmarks.scaleout.setup import ScaleoutSetup

SECONDS = 180.0
"""The goal of a hundred thousand blocks, either way."""
_GOAL_OF = 100_000


def measure_migration(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult | None:
    """Seconds of each way at each size, the comparison of every row included; as a control a file into a file."""
    folder = setup.folder("books", "*.txt")
    if folder is None:
        return None
    books = Books(folder)
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for size in setup.effort.blocks:
        kept = setup.filled_file(rig, books, size)
        back, copy = (setup.work / f"migrated-{name}.duckdb" for name in ("back", "copy"))
        with setup.namespace(f"migration_{size}") as place:
            for what, source, destination in (
                ("into the database", kept.path, place),
                ("back into a file", place, back),
                ("control: file into file", kept.path, copy),
            ):
                _clear(destination)
                begun, used = time.perf_counter(), time.process_time()
                done: Migration = migrate(source, destination, progress=rig.progress)
                wall, cpu = time.perf_counter() - begun, time.process_time() - used
                short = what.partition(" ")[0].rstrip(":")
                metrics |= {
                    f"migration_{short}_s_{size}": wall,
                    f"migration_{short}_rows_per_s_{size}": done.rows / wall,
                }
                rows.append((f"{size:,}", what, done.rows, wall, done.rows / wall, cpu, os.getloadavg()[0]))
        _clear(back)
        _clear(copy)
    columns = ("blocks", "copied", "rows", "s", "rows a second", "processor s", "load average")
    goals = {
        name: ("<=", SECONDS)
        for name in (f"migration_{short}_s_{_GOAL_OF}" for short in ("into", "back"))
        if name in metrics
    }
    title = "Copied, read on both sides and compared, verified"
    return SubjectResult(metrics, goals, (BenchTable(title, columns, tuple(rows)),))  # type: ignore[arg-type]


def _clear(place: Path | str) -> None:
    from amgs.storage.opening import remove

    if isinstance(place, Path):
        remove(place)
        for each in place.parent.glob(f"{place.name}*"):
            if each.is_file():
                each.unlink()
