"""What a centrality that the store holds saves each process that searches a large graph."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

from amgs.derived.centrality import worked_out
from amgs.memory import Memory
from amgs.settings import GraphSettings, Settings
from amgs.storage.opening import open_storage
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.large_corpus import NOW, Books
from benchmarks.large_store import fill, sample_vectors
from benchmarks.scaleout.setup import SEED, ScaleoutSetup
from benchmarks.stores import BenchClock

LARGE = Settings(graph=GraphSettings(fresh_centrality_nodes=0))
"""Every graph is scored by what the store holds."""
R = TypeVar("R")


def measure_centrality(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult | None:
    """Milliseconds of the processor to read the stored centrality, and as control to work it out instead; what the
    database's own processes take is not in them. And how many of the ten best hits are the same without it, where it
    counts 0.
    """
    folder = setup.folder("books", "*.txt")
    if folder is None:
        return None
    books = Books(folder)
    vectors = sample_vectors(books, rig.embedder, setup.effort.sample, setup.work, rig.progress)
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for size in setup.effort.blocks:
        with setup.namespace(f"centrality_{size}") as place:
            fill(place, books, size, vectors, rig.embedder, SEED, rig.progress)
            found = _measured(rig, place, books.queries(setup.effort.questions, SEED + size))
        metrics |= {f"centrality_{name}_{size}": value for name, value in found.items()}
        rows.append((f"{size:,}", *found.values(), os.getloadavg()[0]))
    columns = (
        "blocks",
        "worked out (control) ms",
        "kept by a worker ms",
        "read ms",
        "same hits without %",
        "load average",
    )
    return SubjectResult(
        metrics,
        {},
        (BenchTable("Centrality, milliseconds of the processor of one process", columns, tuple(rows)),),
    )


def _measured(rig: MemoryRig, place: str, questions: list[str]) -> dict[str, float]:
    with (
        Memory.open(place, clock=BenchClock(NOW), embedder=rig.embedder, settings=LARGE) as memory,
        open_storage(place, read_only=True) as storage,
    ):
        without = [{hit.block.id for hit in memory.search(each).hits} for each in questions]
        computing, found = _timed(lambda: worked_out(memory.tasks.graph_input()))
        keeping, _ = _timed(lambda: memory.tasks.keep_centrality(found))
        reading, _ = _timed(lambda: (storage.centrality.origin(), storage.centrality.scores()))
        same = [
            len(before & {hit.block.id for hit in memory.search(each).hits}) / max(len(before), 1)
            for each, before in zip(questions, without, strict=True)
        ]
    return {
        "control_cpu_ms": computing,
        "keep_cpu_ms": keeping,
        "read_cpu_ms": reading,
        "same_hits_without": 100 * sum(same) / len(same),
    }


def _timed(what: Callable[[], R]) -> tuple[float, R]:
    begun = time.process_time()
    found = what()
    return 1000 * (time.process_time() - begun), found
