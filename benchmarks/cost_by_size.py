"""What a memory of some size costs: taking in, consolidating, opening, a search, a frame, files, memory.

    python -m benchmarks.cost_by_size --data BOOKS --blocks 1000

Models are replaced by hashed words and names by capitals, so that what grows with the store is what is timed. Taking in
and asking run in processes of their own, for each to have its own peak of memory. Prints one object of JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs.text.embedding import HashingEmbedder
from amgs.text.entities import RuleRecogniser
from benchmarks.ingest_run import SLICE, drafts
from benchmarks.large_corpus import NOW, Books

SEED = 7
SEARCHES, FRAMES = 60, 20


def measure(part: str, data: Path, store: Path, blocks: int) -> dict[str, float]:
    """Run one part, `make` or `ask`, on a store; times are seconds of this process' processor."""
    costs: dict[str, float] = {}

    def timed(work: Callable[[], object]) -> float:
        start = process_time()
        work()
        return process_time() - start

    def open_store() -> Memory:
        return Memory.open(store, clock=FixedClock(NOW), embedder=HashingEmbedder(), recogniser=RuleRecogniser())

    books = Books(data)
    if part == "make":
        with open_store() as memory:
            left = drafts(books, blocks, SEED)
            while batch := list(islice(left, SLICE)):
                costs["ingest_s"] = costs.get("ingest_s", 0.0) + timed(partial(memory.ingest_many, batch))
            costs["ingest_s"] += timed(lambda: memory.search("whale", layers=("keyword",)))
            costs["consolidate_s"] = timed(lambda: list(memory.consolidate_in_batches()))
            costs["taking_in_mb"] = _read_memory("VmHWM")
        indexes = Path(f"{store}.index").rglob("*")
        return costs | {
            "file_mb": store.stat().st_size / 1e6,
            "indexes_mb": sum(file.stat().st_size for file in indexes if file.is_file()) / 1e6,
        }
    questions = books.queries(SEARCHES + FRAMES + 1, SEED)
    start = process_time()
    with open_store() as memory:
        memory.search(questions[0])
        costs["open_and_search_s"] = process_time() - start
        searches = [timed(partial(memory.search, asked)) for asked in questions[1 : SEARCHES + 1]]
        sessions = [timed(partial(memory.assemble, "SESSION", query=asked)) for asked in questions[SEARCHES + 1 :]]
        return costs | {
            "search_ms": 1000.0 * statistics.median(searches),
            "session_ms": 1000.0 * statistics.median(sessions),
            "asking_mb": _read_memory("VmRSS"),
        }


def _read_memory(kind: str) -> float:
    """Return a figure of this process' memory in MB, by its name in Linux's table."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(kind))


def main() -> None:
    """Run both parts in processes of their own, or the one that is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="a folder of books as .txt files")
    parser.add_argument("--blocks", type=int, default=1000)
    parser.add_argument("--part", choices=("make", "ask"), help="one part alone, with --store")
    parser.add_argument("--store", type=Path)
    asked = parser.parse_args()
    if asked.part:
        print(json.dumps(measure(asked.part, asked.data, asked.store, asked.blocks)))
        return
    with TemporaryDirectory() as folder:
        words = ["--data", str(asked.data), "--blocks", str(asked.blocks), "--store", f"{folder}/memory.duckdb"]
        costs: dict[str, float] = {"blocks": asked.blocks}
        for part in ("make", "ask"):
            command = [sys.executable, "-m", "benchmarks.cost_by_size", *words, "--part", part]
            costs |= json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(json.dumps(costs, indent=2))


if __name__ == "__main__":
    main()
