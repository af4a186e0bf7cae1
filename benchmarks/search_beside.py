"""How long a search takes while a consolidation runs in another thread of the same process."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs_app.gc_tuning import short_pauses
from benchmarks.large_corpus import NOW, Books
from benchmarks.large_store import LargeStore
from benchmarks.rig import MemoryRig
from benchmarks.stores import BenchClock

PACE = 0.05
"""Seconds between an answer and the next question: nobody asks faster."""


@dataclass(frozen=True, slots=True)
class Beside:
    """searches: milliseconds of each. blocks: how many were consolidated meanwhile. seconds: what that took."""

    searches: tuple[float, ...]
    blocks: int
    seconds: float


def beside(
    rig: MemoryRig, store: LargeStore, books: Books, questions: Sequence[str], *, blocks: int
) -> Beside:
    """Consolidate so many paragraphs in a copy of the store, and ask questions until that is done."""
    paragraphs = [books.paragraphs[n % len(books.paragraphs)].text for n in range(blocks)]
    drafts = [
        RawBlock(f"Copy {n}. {text}", NOW, {"source": f"copies/{n // 40}.md#{n % 40}"})
        for n, text in enumerate(paragraphs)
    ]
    with tempfile.TemporaryDirectory(prefix="amgs-bench-") as folder:
        copy = Path(shutil.copytree(store.path.parent, Path(folder) / "store")) / store.path.name
        clock = BenchClock(NOW)
        with Memory.open(copy, clock=clock, embedder=rig.embedder, count_tokens=rig.count_tokens) as memory:
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
