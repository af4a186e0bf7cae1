"""`search`: how long a search takes in a store of N blocks, beside other ways to do it.

The blocks are made from real books (see large_corpus.py), the questions are sentences of the books, and the
embedding of a question is part of its time. What is derived from a store (keyword index, vectors, graph) is built
before the clock starts and said apart; opening a store starts from those files.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from amgs.memory import Memory
from amgs.storage.opening import open_storage
from amgs.storage.store import Storage
from amgs.types import SearchResult
from benchmarks.bench_results import Bench, BenchResult, BenchTable, Comparator, MemoryRig
from benchmarks.cold_start import cold_start
from benchmarks.large_corpus import NOW, Books
from benchmarks.large_store import RAW, LargeStore, prepare
from benchmarks.search_beside import Beside, Bm25sAndNumpy, beside, recall
from benchmarks.stores import open_memory

BENCH = Bench("search")
GOALS_AT = 100_000
SEED = 7
OPENINGS = 3
CHANGES = 5
COLD_STARTS = 3
WARM_UP = 10
SCANS = 10
DEPTH = 100
_BATCH = 20_000


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: timed questions, timed SESSION frames, paragraphs that are really embedded, blocks that
    are consolidated while searches go on.
    """

    questions: int = 200
    frames: int = 40
    sample: int = 3000
    beside: int = 4096


@dataclass
class SearchMeasurements:
    """What was noted of one store; milliseconds unless another unit is said, `…_cpu` of processor time (all threads
    together), all others of wall time. cold: seconds of processor and of wall time, by what was searched with.
    """

    opening: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    searches_cpu: list[float] = field(default_factory=list)
    embeddings: list[float] = field(default_factory=list)
    sessions: list[float] = field(default_factory=list)
    sessions_cpu: list[float] = field(default_factory=list)
    after_change: list[float] = field(default_factory=list)
    after_change_cpu: list[float] = field(default_factory=list)
    cold: dict[str, tuple[float, float]] = field(default_factory=dict)
    peer: list[float] = field(default_factory=list)
    scans: list[float] = field(default_factory=list)
    layers: dict[str, list[float]] = field(default_factory=dict)
    recall: float = float("nan")
    derived: float = 0.0
    beside: Beside | None = None


def run(
    rig: MemoryRig,
    data: Path,
    sizes: Sequence[int],
    work: Path,
    *,
    effort: Effort = Effort(),
    cold: Sequence[str] | None = None,
) -> BenchResult:
    """Measure stores of these sizes, made from the books in `data` and kept in `work`. cold: the global options with
    which a fresh process opens the first of them; None measures no such start.
    """
    books = Books(data)
    work.mkdir(parents=True, exist_ok=True)
    rig.embedder.embed(["The model is loaded before anything is measured."])
    rig.count_tokens("So is the tokenizer.")
    stores: list[LargeStore] = []
    found: dict[int, SearchMeasurements] = {}
    for size in sizes:
        store = prepare(books, size, work, rig.embedder, sample=effort.sample, seed=SEED, progress=rig.progress)
        rig.progress(len(stores), len(sizes), f"measuring a store of {size:,} blocks")
        stores.append(store)
        found[size] = _measure(rig, store, books, effort)
        if cold is not None and store is stores[0]:
            for name, layers in (("words", ("--layer", "keyword")), ("vectors", ())):
                arguments = [*cold, "search", "who opened the door?", *layers]
                found[size].cold[name] = cold_start(store.path, arguments, COLD_STARTS)
        gc.collect()
    return _result(rig, stores, found, books, effort)


# --- one store --------------------------------------------------------------------------------------------


def _measure(rig: MemoryRig, store: LargeStore, books: Books, effort: Effort) -> SearchMeasurements:
    measured = SearchMeasurements()
    questions = books.queries(effort.questions + WARM_UP + OPENINGS + 1 + effort.frames, SEED + store.blocks)
    start = perf_counter()
    with _opened(rig, store) as memory:
        memory.search(questions.pop())
    measured.derived = perf_counter() - start
    for _ in range(OPENINGS):
        start = perf_counter()
        with _opened(rig, store) as memory:
            memory.search(questions.pop())
            measured.opening.append(perf_counter() - start)
    with _opened(rig, store) as memory:
        for _ in range(WARM_UP):
            memory.search(questions.pop())
        framed = [questions.pop() for _ in range(min(effort.frames, len(questions)))]
        for question in questions:
            wall, cpu = _clocked(lambda q: _noted(memory.search(q), measured), question)
            measured.searches.append(wall)
            measured.searches_cpu.append(cpu)
            measured.embeddings.append(_timed(lambda q: rig.embedder.embed([q]), question))
        for question in framed:
            wall, cpu = _clocked(lambda q: memory.assemble("SESSION", query=q), question)
            measured.sessions.append(wall)
            measured.sessions_cpu.append(cpu)
        for question in questions[:CHANGES]:
            memory.ingest_text(f"A note that came in at {perf_counter()} while {store.blocks} blocks were searched.")
            wall, cpu = _clocked(memory.search, question)
            measured.after_change.append(wall)
            measured.after_change_cpu.append(cpu)
    if effort.beside and store.blocks >= GOALS_AT:
        measured.beside = beside(rig, store, books, questions, blocks=effort.beside)
    true = _peers(rig, store, questions, measured)
    with _opened(rig, store) as memory:
        shares = [recall([i for i, _ in memory.nearest(q, DEPTH)], ids) for q, ids in true]
        measured.recall = float(np.mean(shares))
    return measured


def _opened(rig: MemoryRig, store: LargeStore) -> Memory:
    return open_memory(rig, store.path, NOW)


def _noted(found: SearchResult, measured: SearchMeasurements) -> None:
    for layer in found.layers:
        measured.layers.setdefault(layer.layer, []).append(layer.milliseconds)


def _peers(
    rig: MemoryRig, store: LargeStore, questions: Sequence[str], measured: SearchMeasurements
) -> list[tuple[str, list[str]]]:
    """The other ways, over the same vectors and texts; gives questions with the ids of what is truly nearest."""
    embedder = rig.embedder
    with open_storage(store.path, read_only=True) as raw:
        numbers = raw.block_columns.read_embedded()
        matrix = np.zeros((numbers.size, embedder.dimension), dtype=np.float32)
        for part in raw.block_columns.embedding_batches(batch=_BATCH):
            matrix[np.searchsorted(numbers, part.numbers)] = part.matrix
        peer = Bm25sAndNumpy(_texts(raw, numbers), matrix, embedder, store.path.parent / "bm25s")
        peer.search(questions[-1], 10)
        for question in questions:
            measured.peer.append(_timed(lambda q: peer.search(q, 10), question))
        true = []
        for question in questions[:SCANS]:
            vector = embedder.embed([question])[0]
            start = perf_counter()
            found = raw.block_columns.nearest(vector, DEPTH)
            measured.scans.append(1000.0 * (perf_counter() - start))
            true.append((question, _ids(raw, [number for number, _ in found])))
    return true


def _ids(store: Storage, numbers: Sequence[int]) -> list[str]:
    return [one.block.id for one in store.blocks.by_number(numbers)]


def _texts(store: Storage, numbers: NDArray[np.int64]) -> Iterator[str]:
    for start in range(0, numbers.size, _BATCH):
        some = numbers[start : start + _BATCH].tolist()
        yield from (text for _, text, _ in store.blocks.texts(some))


def _timed(act: Callable[[str], object], question: str) -> float:
    return _clocked(act, question)[0]


def _clocked(act: Callable[[str], object], question: str) -> tuple[float, float]:
    """Milliseconds of wall and of processor time."""
    start, used = perf_counter(), process_time()
    act(question)
    return 1000.0 * (perf_counter() - start), 1000.0 * (process_time() - used)


# --- the result -------------------------------------------------------------------------------------------


def _result(
    rig: MemoryRig, stores: Sequence[LargeStore], found: Mapping[int, SearchMeasurements], books: Books, effort: Effort
) -> BenchResult:
    metrics: dict[str, float] = {}
    for size, m in found.items():
        metrics |= {
            f"p50_ms_{size}": _quantile(m.searches, 0.5),
            f"p95_ms_{size}": _quantile(m.searches, 0.95),
            f"cpu_p50_ms_{size}": _quantile(m.searches_cpu, 0.5),
            f"cpu_p95_ms_{size}": _quantile(m.searches_cpu, 0.95),
            f"session_p50_ms_{size}": _quantile(m.sessions, 0.5),
            f"session_cpu_p50_ms_{size}": _quantile(m.sessions_cpu, 0.5),
            f"session_cpu_least_ms_{size}": min(m.sessions_cpu, default=float("nan")),
            f"open_s_{size}": _quantile(m.opening, 0.5),
            f"peer_bm25s_p50_ms_{size}": _quantile(m.peer, 0.5),
            f"duckdb_scan_p50_ms_{size}": _quantile(m.scans, 0.5),
            f"embed_p50_ms_{size}": _quantile(m.embeddings, 0.5),
            f"recall{DEPTH}_{size}": m.recall,
            f"after_change_ms_{size}": _quantile(m.after_change, 0.5),
            f"after_change_cpu_ms_{size}": _quantile(m.after_change_cpu, 0.5),
            f"after_change_cpu_least_ms_{size}": min(m.after_change_cpu, default=float("nan")),
        }
        for name, (cpu, wall) in m.cold.items():
            metrics |= {f"cold_{name}_cpu_s_{size}": cpu, f"cold_{name}_s_{size}": wall}
        if m.beside is not None:
            metrics |= {
                f"read_p50_ms_while_consolidating_{size}": _quantile(m.beside.searches, 0.5),
                f"read_p95_ms_while_consolidating_{size}": _quantile(m.beside.searches, 0.95),
                f"read_worst_ms_while_consolidating_{size}": max(m.beside.searches, default=float("nan")),
                f"consolidated_per_s_while_reading_{size}": m.beside.blocks / m.beside.seconds,
            }
    goals: dict[str, tuple[Comparator, float]] = {}
    for size, m in found.items():
        for name, most in (("words", 0.5), ("vectors", 1.5)):
            if name in m.cold:
                goals[f"cold_{name}_cpu_s_{size}"] = ("<=", most)
    for size, session, change in ((GOALS_AT, 120.0, 100.0), (10 * GOALS_AT, 250.0, 500.0)):
        if size in found:
            goals[f"session_cpu_p50_ms_{size}"] = ("<=", session)
            goals[f"after_change_cpu_ms_{size}"] = ("<=", change)
    if GOALS_AT in found:
        goals |= {
            f"p50_ms_{GOALS_AT}": ("<=", 40.0),
            f"p95_ms_{GOALS_AT}": ("<=", 80.0),
            f"session_p50_ms_{GOALS_AT}": ("<=", 120.0),
            f"open_s_{GOALS_AT}": ("<=", 1.0),
        }
        if found[GOALS_AT].beside is not None:
            goals[f"read_p95_ms_while_consolidating_{GOALS_AT}"] = ("<=", 150.0)
    if GOALS_AT in found and 10 * GOALS_AT in found:
        growth = metrics[f"p50_ms_{10 * GOALS_AT}"] / metrics[f"p50_ms_{GOALS_AT}"]
        metrics["growth_100000_to_1000000"] = growth
        goals["growth_100000_to_1000000"] = ("<=", 3.0)
    metrics["rss_gib"] = _peak()
    settings = {
        "blocks": list(found),
        "edges": [store.edges for store in stores],
        "questions": effort.questions,
        "frames": effort.frames,
        "seed": SEED,
        "embedder": rig.embedder.name,
        "paragraphs": len(books.paragraphs),
        "raw_blocks": RAW,
        "text": "the books' paragraphs; beyond them each again with a lent sentence, other names and numbers",
        "vectors": f"{min(effort.sample, len(books.paragraphs))} paragraphs embedded; between them mixed by "
        "their place; varied blocks mix their paragraph's and the lender's and add noise",
        "load": "load averages at the end: " + ", ".join(f"{one:.1f}" for one in os.getloadavg()),
        "changes": f"{CHANGES} notes taken in, each before a search",
        "warm": "files lie in the page cache; each question is asked once",
    }
    return BENCH.result(settings, metrics, _tables(stores, found), goals=goals)


def _tables(stores: Sequence[LargeStore], found: Mapping[int, SearchMeasurements]) -> tuple[BenchTable, ...]:
    layers = ("keyword", "fuzzy", "vector", "graph", "score")
    by_layer = BenchTable(
        "Median milliseconds by layer (the vector layer embeds the question)",
        ("blocks", *layers),
        tuple(
            (f"{size:,}", *(_quantile(m.layers.get(layer, []), 0.5) for layer in layers)) for size, m in found.items()
        ),
    )
    building = BenchTable(
        "Before the clock: seconds, 0 where it was kept from an earlier run",
        ("blocks", "store filled", "indexes built or opened"),
        tuple((f"{s.blocks:,}", s.built, found[s.blocks].derived) for s in stores),
    )
    return by_layer, building


def _quantile(values: Sequence[float], share: float) -> float:
    return float(np.quantile(values, share)) if values else float("nan")


def _peak() -> float:
    """The most memory this process ever held, in GiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**30 if sys.platform == "darwin" else 2**20)
