"""The measured process of `ingest`: takes in and consolidates, and prints one line of JSON for each step.

python -m benchmarks.ingest_run '{"data": …, "store": …, "blocks": …}'
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from amgs.clock import FixedClock
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.text.embedding import Embedder, HashingEmbedder
from amgs.text.embedding_text import embedding_text
from amgs.text.entities import RuleRecogniser
from amgs.types import BlockFilter, Progress, Vector
from amgs_app.models.choice import text_models
from amgs_app.settings import ModelSettings
from benchmarks.large_corpus import NOW, Books

SLICE = 10_000
"""Drafts given to one call of `ingest_many`: what is acknowledged, and durable, at once."""


class StandIn:
    """Hashed words under the name of the real embedder, so that a store of them can take a sample of its own."""

    def __init__(self, real: Embedder) -> None:
        self.name = real.name
        self.dimension = real.dimension
        self._words = HashingEmbedder(real.dimension)

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        return self._words.embed(texts, progress)


def drafts(books: Books, count: int, seed: int) -> Iterator[RawBlock]:
    """`count` blocks of the books, each following the one before it in its part."""
    for made in books.slices(count, seed, SLICE):
        before = ""
        for content, source, speaker in zip(made.contents, made.sources, made.speakers, strict=True):
            meta: dict[str, Any] = {"source": source} | ({"speaker": speaker} if speaker else {})
            if before.split("#")[0] == source.split("#")[0]:
                meta["follows"] = before
            before = source
            yield RawBlock(content, meta=meta)


def held_back(made: Iterator[RawBlock], count: int, sample: int) -> Iterator[RawBlock]:
    """The same drafts, but `sample` of them, evenly chosen, last: so that they are of all the texts."""
    apart: list[RawBlock] = []
    for at, draft in enumerate(made):
        if (at + 1) * sample // count > at * sample // count:
            apart.append(draft)
        else:
            yield draft
    yield from apart


def measure(asked: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Take in, index and consolidate `blocks` blocks, the last `sample` of them with the real models."""
    blocks, sample = int(asked["blocks"]), int(asked["sample"])
    embedder, recogniser, _ = text_models(
        asked["model"], ModelSettings().model_copy(update=asked["models"]), lambda: None
    )
    # The models are there from the start: what is measured beside them has to fit as it would in use.
    # So many texts that the encoder's library is imported, which a few are embedded without.
    embedder.embed([f"Text {n}, so that the model is loaded before anything is timed." for n in range(600)])
    recogniser.recognise(["Ishmael sailed from Nantucket with Captain Ahab."])
    clock, store = FixedClock(NOW), asked["store"]
    steps: list[tuple[str, int, float]] = []
    growth: list[tuple[int, float, float]] = []
    with Memory.open(store, clock=clock, embedder=StandIn(embedder), recogniser=RuleRecogniser()) as memory:
        made = drafts(Books(Path(asked["data"])), blocks, int(asked["seed"]))
        taken = _take_in(memory, held_back(made, blocks, sample), blocks, progress)
        start = perf_counter()
        memory.search("whale", layers=("keyword",))
        indexed = perf_counter() - start
        steps += [("take in: hash, write, commit", blocks, taken), ("keyword index", blocks, indexed)]
        start, rest = perf_counter(), blocks - sample
        lap, done = start, 0
        for plan, _ in memory.consolidate_in_batches(limit=rest, progress=progress):
            done += len(plan.items)
            if done // SLICE > (done - len(plan.items)) // SLICE or done == rest:
                since = done - (growth[-1][0] if growth else 0)
                growth.append((done, since / (perf_counter() - lap), _in_use()))
                lap = perf_counter()
        steps.append(("consolidate with stand-in models", rest, perf_counter() - start))
    with Memory.open(store, clock=clock, embedder=embedder, recogniser=recogniser) as memory:
        raw = memory.blocks(BlockFilter(statuses=("raw",)), order="created")
        texts = [embedding_text(block) for block in raw]
        # Half before and half after, so that a machine that grows busier or idler favours neither.
        first = _timed(embedder, texts[::2])
        start = perf_counter()
        for _ in memory.consolidate_in_batches(progress=progress):
            pass
        consolidated = perf_counter() - start
        embedded = first + _timed(embedder, texts[1::2])
        named = perf_counter()
        recogniser.recognise([block.content for block in raw])
        named = perf_counter() - named
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sound = memory.verify(progress).ok
        edges = memory.status().edges
    if not sound:
        raise RuntimeError("verify found faults in the store")
    planned = _enhancement(Path(asked["documents"]), embedder, progress) if asked.get("documents") else {}
    steps += [
        ("embedder alone", sample, embedded),
        ("recogniser alone", sample, named),
        ("consolidate with real models", sample, consolidated),
    ]
    return {
        "embedder": embedder.name,
        "recogniser": recogniser.name,
        "steps": steps,
        "growth": growth,
        "metrics": {
            "bulk_blocks_per_s": blocks / (taken + indexed),
            "consolidate_ratio": embedded / consolidated,
            "rss_mib": most,
            "bulk_blocks_per_s_unindexed": blocks / taken,
            "consolidate_blocks_per_s": sample / consolidated,
            "embedder_blocks_per_s": sample / embedded,
            "edges": edges,
            "store_mib": Path(store).stat().st_size / 2**20,
            **planned,
        },
    }


def _take_in(memory: Memory, made: Iterator[RawBlock], blocks: int, progress: Progress) -> float:
    """Seconds that taking the blocks in took, without making them."""
    seconds, done = 0.0, 0
    while batch := list(islice(made, SLICE)):
        progress(done, blocks, "taking in")
        start = perf_counter()
        done += len(memory.ingest_many(batch).added)
        seconds += perf_counter() - start
    if done != blocks:
        raise RuntimeError(f"{done} of {blocks} blocks were taken in")
    return seconds


def _enhancement(documents: Path, embedder: Embedder, progress: Progress) -> dict[str, float]:
    """What planning the enhancement of foreign documents takes: seconds of processor and of wall time."""
    clock = FixedClock(NOW)
    with Memory.open(":memory:", clock=clock, embedder=embedder, recogniser=RuleRecogniser()) as memory:
        blocks = len(memory.ingest_folder(documents).added)
        memory.consolidate(progress=progress)
        start, used = perf_counter(), process_time()
        plan = memory.lifecycle.plan_enhancement(progress=progress)
        return {
            "enhance_plan_cpu_s": process_time() - used,
            "enhance_plan_s": perf_counter() - start,
            "enhance_blocks": blocks,
            "enhance_proposals": len(plan.proposals),
        }


def _timed(embedder: Embedder, texts: Sequence[str]) -> float:
    start = perf_counter()
    embedder.embed(texts)
    return perf_counter() - start


def _in_use() -> float:
    """MiB that the process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    asked = json.loads(sys.argv[1])
    # What a library prints must not stand between the lines.
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(found: dict[str, Any]) -> None:
        told.write(json.dumps(found) + "\n")
        told.flush()

    report = Progress(lambda done, total, doing: say({"done": done, "total": total, "doing": doing}))
    say(measure(asked, report))


if __name__ == "__main__":
    main()
