"""Search and SESSION on a store in PostgreSQL beside the same store in a file."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from amgs.memory import Memory
from amgs_app.bench_results import BenchTable
from amgs_app.benches.large_corpus import NOW, Books
from amgs_app.benches.large_store import fill, prepare, sample_vectors
from amgs_app.benches.rig import MemoryRig
from amgs_app.benches.scaleout.setup import ScaleoutSetup
from amgs_app.benches.stores import BenchClock
from amgs_app.benches.subject import SubjectResult

SEED = 7
WARM_UP = 10


def measure_latency(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult | None:
    """Milliseconds of searches and SESSION frames at each size, on both stores, and seconds until the first answer of
    a memory that is opened. The questions are sentences of the books; embedding them is part of the time.
    """
    folder = setup.folder("books", "*.txt")
    if folder is None:
        return None
    books = Books(folder)
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for size in setup.effort.blocks:
        kept = prepare(
            books,
            size,
            setup.work,
            rig.embedder,
            sample=setup.effort.sample,
            seed=SEED,
            clock=time.perf_counter,
            progress=rig.progress,
        )
        vectors = sample_vectors(books, rig.embedder, setup.effort.sample, setup.work, rig.progress)
        with setup.namespace(f"latency_{size}") as place:
            begun = time.perf_counter()
            fill(place, books, size, vectors, rig.embedder, SEED, rig.progress)
            filled = time.perf_counter() - begun
            for store, where in (("file", str(kept.path)), ("postgres", place)):
                rig.progress(len(rows), 2 * len(setup.effort.blocks), f"searching {size:,} blocks in {store}")
                found = _asked(rig, where, books, size, setup)
                metrics |= {f"{name}_{store}_{size}": value for name, value in found.items()}
                rows.append((f"{size:,}", store, *found.values(), os.getloadavg()[0]))
            metrics[f"fill_blocks_per_s_postgres_{size}"] = size / filled
    columns = (
        "blocks",
        "store",
        "open s",
        "search p50 ms",
        "search p95 ms",
        "SESSION p50 ms",
        "load average",
    )
    return SubjectResult(
        metrics, {}, (BenchTable("Search in memory, store beside it", columns, tuple(rows)),)
    )


def _asked(rig: MemoryRig, place: str, books: Books, size: int, setup: ScaleoutSetup) -> dict[str, float]:
    questions = books.queries(setup.effort.questions + setup.effort.frames + WARM_UP + 1, SEED + size)
    begun = time.perf_counter()
    with Memory.open(
        place, clock=BenchClock(NOW), embedder=rig.embedder, count_tokens=rig.count_tokens
    ) as memory:
        memory.search(questions.pop())
        opened = time.perf_counter() - begun
        for _ in range(min(WARM_UP, len(questions) - 1)):
            memory.search(questions.pop())
        framed = [questions.pop() for _ in range(min(setup.effort.frames, len(questions) - 1))]
        searches = [_milliseconds(lambda q: memory.search(q), question) for question in questions]
        frames = [_milliseconds(lambda q: memory.assemble("SESSION", query=q), each) for each in framed]
    return {
        "open_s": opened,
        "search_p50_ms": _quantile(searches, 0.5),
        "search_p95_ms": _quantile(searches, 0.95),
        "session_p50_ms": statistics.median(frames) if frames else float("nan"),
    }


def _milliseconds(act: Callable[[str], object], question: str) -> float:
    begun = time.perf_counter()
    act(question)
    return 1000 * (time.perf_counter() - begun)


def _quantile(values: Sequence[float], share: float) -> float:
    return float(np.quantile(values, share)) if values else float("nan")
