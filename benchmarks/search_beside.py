"""How long a search takes while a consolidation runs in another thread of the same process.

What runs beside our search in the same process: bm25s with an exact cosine in NumPy, and the database's scan.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.errors import UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.text.embedding import Embedder
from amgs.types import Vector
from amgs_app.gc_tuning import short_pauses
from benchmarks.bench_results import MemoryRig
from benchmarks.large_corpus import NOW, Books
from benchmarks.large_store import LargeStore
from benchmarks.references import fuse_by_rank
from benchmarks.stores import open_memory

PACE = 0.05
"""Seconds between an answer and the next question: nobody asks faster."""


@dataclass(frozen=True, slots=True)
class Beside:
    """searches: milliseconds of each. blocks: how many were consolidated meanwhile. seconds: what that took."""

    searches: tuple[float, ...]
    blocks: int
    seconds: float


def beside(rig: MemoryRig, store: LargeStore, books: Books, questions: Sequence[str], *, blocks: int) -> Beside:
    """Consolidate so many paragraphs in a copy of the store, and ask questions until that is done."""
    paragraphs = [books.paragraphs[n % len(books.paragraphs)].text for n in range(blocks)]
    drafts = [
        RawBlock(f"Copy {n}. {text}", NOW, {"source": f"copies/{n // 40}.md#{n % 40}"})
        for n, text in enumerate(paragraphs)
    ]
    with tempfile.TemporaryDirectory(prefix="amgs-bench-") as folder:
        copy = Path(shutil.copytree(store.path.parent, Path(folder) / "store")) / store.path.name
        with open_memory(rig, copy, NOW) as memory:
            memory.ingest_many(drafts)
            memory.search(questions[0])
            return _measured(memory, questions)


def _measured(memory: Memory, questions: Sequence[str]) -> Beside:
    done: list[int] = []
    taken: list[float] = []

    def consolidate() -> None:
        start = perf_counter()
        for plan, _ in memory.consolidate_in_batches():
            done.append(len(plan.items))
        taken.append(perf_counter() - start)

    working = threading.Thread(target=consolidate)
    searches: list[float] = []
    with short_pauses():
        working.start()
        place = 0
        while working.is_alive():
            place += 1
            start = perf_counter()
            memory.search(questions[place % len(questions)])
            searches.append(1000.0 * (perf_counter() - start))
            time.sleep(PACE)
        working.join()
    if not taken:
        raise RuntimeError("the consolidation did not end")
    return Beside(tuple(searches), sum(done), taken[0])


POOL = 100


class Bm25sAndNumpy:
    """bm25s (Lù 2024) over the texts, one float32 product over the vectors, joined by reciprocal ranks.

    texts: one a row of the matrix. The index is kept in the folder, and mapped from there when it is there.
    """

    def __init__(self, texts: Iterable[str], matrix: Vector, embedder: Embedder, folder: Path) -> None:
        try:
            import bm25s
        except ImportError as error:
            raise UsageError(
                "bench search runs beside bm25s, which is not installed.",
                way_out="Install the development tools: pip install -e '.[dev]'.",
            ) from error
        self._bm25s = bm25s
        self._matrix = matrix
        self._embedder = embedder
        if not folder.exists():
            index = bm25s.BM25()
            index.index(bm25s.tokenize(list(texts), stopwords="en", show_progress=False), show_progress=False)
            index.save(str(folder))
        self._index: Any = bm25s.BM25.load(str(folder), mmap=True)

    def search(self, query: str, limit: int) -> list[int]:
        """The best `limit` rows, the query's embedding included."""
        lexical = self._lexical(query)
        vector = self._embedder.embed([query])[0]
        cosines = self._matrix @ vector
        near = np.argpartition(-cosines, POOL)[:POOL] if cosines.size > POOL else np.arange(cosines.size)
        semantic = near[np.argsort(-cosines[near], kind="stable")]
        rows: list[int] = fuse_by_rank(lexical.tolist(), semantic.tolist())
        return rows[:limit]

    def _lexical(self, query: str) -> NDArray[np.int64]:
        tokens = self._bm25s.tokenize([query], stopwords="en", show_progress=False)
        found = self._index.retrieve(tokens, k=min(POOL, self._matrix.shape[0]), show_progress=False)
        return np.asarray(found.documents[0], dtype=np.int64)


def recall(found: Sequence[str], true: Sequence[str]) -> float:
    """Share of the true ones that were found."""
    return len(set(found) & set(true)) / max(len(true), 1)
