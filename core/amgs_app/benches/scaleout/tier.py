"""Searches on a store in PostgreSQL with a search index outside the process, beside indexes in its memory."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from amgs.memory import Memory
from amgs_app.bench_results import BenchTable
from amgs_app.benches.large_corpus import NOW, Books
from amgs_app.benches.large_store import fill, sample_vectors
from amgs_app.benches.measures import quantile
from amgs_app.benches.rig import MemoryRig
from amgs_app.benches.scaleout.setup import ScaleoutSetup
from amgs_app.benches.stores import BenchClock
from amgs_app.benches.subject import SubjectResult

SEED = 7
WARM_UP = 10
TOP_K = 10
OWN, INDEX = "in memory (control)", "index"


def measure_tier(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult | None:
    """Milliseconds of a search at each size, seconds until the first answer of a memory that is opened, and how many of
    the ten best hits are those of the control. The questions are sentences of the books, asked of both by turns;
    embedding them is part of the time.
    """
    folder = setup.folder("books", "*.txt")
    if folder is None:
        return None
    books = Books(folder)
    vectors = sample_vectors(books, rig.embedder, setup.effort.sample, setup.work, rig.progress)
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for size in setup.effort.blocks:
        index = setup.work / f"index-{size}"
        shutil.rmtree(index, ignore_errors=True)
        with setup.namespace(f"tier_{size}") as place:
            fill(place, books, size, vectors, rig.embedder, SEED, rig.progress)
            begun = time.perf_counter()
            with Memory.open(place, clock=BenchClock(NOW), embedder=rig.embedder, index=str(index)) as memory:
                memory.index.build(progress=rig.progress)
            metrics[f"tier_build_s_{size}"] = time.perf_counter() - begun
            metrics[f"tier_bytes_a_block_{size}"] = _bytes(index) / size
            found, same = _asked(rig, place, str(index), books, size, setup)
        metrics[f"tier_same_hits_{size}"] = same
        for way, (opened, took) in found.items():
            name = "tier" if way == INDEX else "tier_control"
            p50, p95 = quantile(took, 0.5), quantile(took, 0.95)
            metrics |= {
                f"{name}_open_s_{size}": opened,
                f"{name}_p50_ms_{size}": p50,
                f"{name}_p95_ms_{size}": p95,
            }
            rows.append((f"{size:,}", way, opened, p50, p95, os.getloadavg()[0]))
    largest = max(setup.effort.blocks)
    table = BenchTable(
        "PostgreSQL, the same questions by turns",
        ("blocks", "words and vectors", "open s", "search p50 ms", "p95 ms", "load average"),
        tuple(rows),
    )
    return SubjectResult(
        metrics,
        {f"tier_p50_ms_{largest}": ("<=", 120.0), f"tier_p95_ms_{largest}": ("<=", 300.0)},
        (table,),
    )


def _asked(
    rig: MemoryRig, place: str, index: str, books: Books, size: int, setup: ScaleoutSetup
) -> tuple[dict[str, tuple[float, list[float]]], float]:
    """Of each way seconds to open and milliseconds of each search; the percentage of hits that both have."""
    questions = books.queries(setup.effort.questions + WARM_UP + 1, SEED + size)
    first = questions.pop()
    opened: dict[str, float] = {}
    took: dict[str, list[float]] = {}
    memories: dict[str, Memory] = {}
    same = asked = 0
    try:
        for way, at in ((INDEX, index), (OWN, "")):
            begun = time.perf_counter()
            memories[way] = Memory.open(
                place, clock=BenchClock(NOW), embedder=rig.embedder, index=at, read_only=True
            )
            memories[way].search(first)
            opened[way], took[way] = time.perf_counter() - begun, []
        for number, question in enumerate(questions):
            rig.progress(number, len(questions), f"searching {size:,} blocks")
            hits: list[set[str]] = []
            for way, memory in memories.items():
                begun = time.perf_counter()
                result = memory.search(question, top_k=TOP_K)
                if number >= WARM_UP:
                    took[way].append(1000 * (time.perf_counter() - begun))
                hits.append({hit.block.id for hit in result.hits})
            same, asked = same + len(hits[0] & hits[1]), asked + len(hits[1])
    finally:
        for memory in memories.values():
            memory.close()
    return {way: (opened[way], took[way]) for way in memories}, 100 * same / max(asked, 1)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
