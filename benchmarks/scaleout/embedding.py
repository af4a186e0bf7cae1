"""How many texts a second workers embed: in one process and in two."""

from __future__ import annotations

import os
import statistics
import time
from concurrent.futures import Executor

from amgs.lifecycle.prepared_vectors import TextBatch
from amgs.workers import Computing, computing, processes
from amgs.workers.worker import embedded
from benchmarks.bench_results import BenchTable
from benchmarks.large_corpus import Books
from benchmarks.rig import MemoryRig
from benchmarks.scaleout.setup import SEED, ScaleoutSetup
from benchmarks.subject import SubjectResult

TEXTS = 1024
BATCH = 64
PROCESSES = 2
_TRIES = 50
ONE, TWO = "one process", "two processes"


def measure_embedding(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult | None:
    """Texts a second of wall time and of processor time, of the same texts by turns, models loaded before. A process
    alone has all the cores of the machine; it is the control.
    """
    folder = setup.folder("books", "*.txt")
    if folder is None:
        return None
    texts = Books(folder).queries(TEXTS, SEED)
    batches = [
        TextBatch(tuple(map(str, range(start, start + BATCH))), tuple(texts[start : start + BATCH]))
        for start in range(0, TEXTS, BATCH)
    ]
    space = rig.embedder.name, rig.embedder.dimension
    ways = {
        ONE: Computing(lambda: processes(1), 1, ONE),
        TWO: computing(PROCESSES),
    }
    wall: dict[str, list[float]] = {name: [] for name in ways}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    pools = {name: _begun(way) for name, way in ways.items()}
    try:
        for name, pool in pools.items():
            rig.progress(0, setup.effort.rounds, f"loading: {name}")
            _load(pool, ways[name].width, space, batches[0])
        for turn in range(setup.effort.rounds):
            for name, pool in pools.items():
                rig.progress(turn, setup.effort.rounds, name)
                begun = time.perf_counter()
                spent[name].append(_embedded(pool, space, batches))
                wall[name].append(time.perf_counter() - begun)
    finally:
        for pool in pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
    rate = {name: TEXTS / statistics.median(took) for name, took in wall.items()}
    cost = {name: 1000 * statistics.median(took) / TEXTS for name, took in spent.items()}
    metrics = {"embedding_per_s_1": rate[ONE], "embedding_per_s_2": rate[TWO]}
    metrics |= {"embedding_cpu_ms_1": cost[ONE], "embedding_cpu_ms_2": cost[TWO]}
    metrics |= {"embedding_2_over_1": rate[TWO] / rate[ONE]}
    table = BenchTable(
        f"{TEXTS:,} texts, {setup.effort.rounds} rounds by turns, {os.cpu_count()} cores",
        ("embedded in", "texts a second", "least", "most", "processor ms a text", "load average"),
        tuple(
            (
                name,
                rate[name],
                TEXTS / max(wall[name]),
                TEXTS / min(wall[name]),
                cost[name],
                os.getloadavg()[0],
            )
            for name in ways
        ),
    )
    return SubjectResult(metrics, {}, (table,))


def _begun(way: Computing) -> Executor:
    if way.make is None:
        raise ValueError("this is computed in a process of its own")
    return way.make()


def _load(pool: Executor, width: int, space: tuple[str, int], batch: TextBatch) -> None:
    """Have so many processes load the model before anything is timed."""
    loaded: set[int] = set()
    for _ in range(_TRIES):
        loaded |= {each.result() for each in [pool.submit(_loaded, space, batch) for _ in range(width)]}
        if len(loaded) >= width:
            return
    raise RuntimeError(f"Of {width} processes only {len(loaded)} came to compute.")


def _loaded(space: tuple[str, int], batch: TextBatch) -> int:
    embedded(space, batch)
    return os.getpid()


def _embedded(pool: Executor, space: tuple[str, int], batches: list[TextBatch]) -> float:
    """Seconds of processor that batches took together, wherever they were embedded."""
    return sum(future.result() for future in [pool.submit(_timed, space, batch) for batch in batches])


def _timed(space: tuple[str, int], batch: TextBatch) -> float:
    begun = time.process_time()
    embedded(space, batch)
    return time.process_time() - begun
