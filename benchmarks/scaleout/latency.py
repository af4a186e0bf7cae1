"""Search and SESSION on a store in PostgreSQL beside the same store in a file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial

from amgs.memory import Memory
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.large_corpus import NOW, Books
from benchmarks.large_store import fill, sample_vectors
from benchmarks.measures import quantile
from benchmarks.scaleout.setup import SEED, ScaleoutSetup
from benchmarks.stores import open_memory

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
        kept = setup.filled_file(rig, books, size)
        vectors = sample_vectors(books, rig.embedder, setup.effort.sample, setup.work, rig.progress)
        with setup.namespace(f"latency_{size}") as place:
            begun = time.perf_counter()
            fill(place, books, size, vectors, rig.embedder, SEED, rig.progress)
            metrics[f"fill_blocks_per_s_postgres_{size}"] = size / (time.perf_counter() - begun)
            rig.progress(len(rows), 2 * len(setup.effort.blocks), f"searching {size:,} blocks")
            for store, found in _asked(rig, {"file": str(kept.path), "postgres": place}, books, size, setup).items():
                metrics |= {f"{name}_{store}_{size}": value for name, value in found.items()}
                rows.append((f"{size:,}", store, *found.values(), os.getloadavg()[0]))
    columns = (
        "blocks",
        "store",
        "open s",
        "search p50 ms",
        "p95 ms",
        "processor p50 ms",
        "SESSION p50 ms",
        "p95 ms",
        "load average",
    )
    title = "The same questions to both by turns; indexes in the process's memory"
    return SubjectResult(metrics, {}, (BenchTable(title, columns, tuple(rows)),))


def _asked(
    rig: MemoryRig, places: Mapping[str, str], books: Books, size: int, setup: ScaleoutSetup
) -> dict[str, dict[str, float]]:
    """What each store took; each question is asked of all of them before the next, so that load falls on all alike."""
    questions = books.queries(setup.effort.questions + setup.effort.frames + WARM_UP + 1, SEED + size)
    opened: dict[str, float] = {}
    memories: dict[str, Memory] = {}
    with ExitStack() as stack:
        first = questions.pop()
        for store, place in places.items():
            begun = time.perf_counter()
            memory = stack.enter_context(open_memory(rig, place, NOW))
            memory.search(first)
            opened[store] = time.perf_counter() - begun
            memories[store] = memory
        for _ in range(WARM_UP):
            question = questions.pop()
            for memory in memories.values():
                memory.search(question)
        framed = [questions.pop() for _ in range(setup.effort.frames)]
        searches: dict[str, list[tuple[float, float]]] = {store: [] for store in memories}
        frames: dict[str, list[float]] = {store: [] for store in memories}
        for question in questions:
            for store, memory in memories.items():
                searches[store].append(_took(memory.search, question))
        for question in framed:
            for store, memory in memories.items():
                frames[store].append(_took(partial(_session, memory), question)[0])
    return {
        store: {
            "open_s": opened[store],
            "search_p50_ms": quantile([wall for wall, _ in searches[store]], 0.5),
            "search_p95_ms": quantile([wall for wall, _ in searches[store]], 0.95),
            "search_cpu_p50_ms": quantile([cpu for _, cpu in searches[store]], 0.5),
            "session_p50_ms": quantile(frames[store], 0.5),
            "session_p95_ms": quantile(frames[store], 0.95),
        }
        for store in memories
    }


def _session(memory: Memory, question: str) -> object:
    return memory.assemble("SESSION", query=question)


def _took(act: Callable[[str], object], question: str) -> tuple[float, float]:
    """(milliseconds, milliseconds of this process's processor time)."""
    wall, cpu = time.perf_counter(), time.process_time()
    act(question)
    return 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu)
