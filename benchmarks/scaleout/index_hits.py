"""What a memory in PostgreSQL finds through a search index outside the process, beside a file with its own indexes."""

from __future__ import annotations

import shutil
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

import numpy as np

from amgs.memory import Memory
from amgs.text.embedding import Embedder
from amgs.types import Progress, Vector
from benchmarks import measures
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.locomo_data import Conversation, read_folder
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.stores import STILL, BenchClock, block_ids

DEPTH = 10
LAGS = 20
"""Notes that are written and looked for."""

_PATIENCE = 30.0
"""Seconds after which a note counts as not found."""

_FILE = "file, indexes of its own"
_WAYS: Mapping[str, tuple[str, str, Sequence[str] | None]] = {
    _FILE: ("file", "strong", None),
    "PostgreSQL, index up to date": ("there", "strong", None),
    "the same, words alone": ("there", "strong", ("keyword",)),
    "file, words alone": ("file", "strong", ("keyword",)),
    "the same, vectors alone": ("there", "strong", ("vector",)),
    "file, vectors alone": ("file", "strong", ("vector",)),
}
"""What is compared: of which memory, how, and through which layers."""
_STALE: Mapping[str, tuple[str, str, Sequence[str] | None]] = {
    "PostgreSQL, index of half the turns": ("there", "strong", None),
    "control: that half alone (bounded)": ("there", "bounded", None),
}


class RememberedEmbedder:
    """An embedder that embeds a text once, for two memories of the same texts."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}
        self.name, self.dimension = embedder.name, embedder.dimension

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= dict(zip(new, self._embedder.embed(new, progress), strict=True))
        return np.array([self._known[text] for text in texts], np.float32).reshape(-1, self.dimension)


def measure_index_hits(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult | None:
    """recall@10 on LoCoMo (protocol turn-R) of a file and of PostgreSQL with the index, up to date and built when half
    of the turns were there; the control looks at that half alone. Then how long a new part number takes to be found by
    another process's memory.
    """
    folder = setup.folder("locomo", "*.json")
    if folder is None:
        return None
    conversations = read_folder(folder)
    recalls: dict[str, list[float]] = defaultdict(list)
    same: list[float] = []
    lags: list[float] = []
    place = setup.work / "index"
    shutil.rmtree(place, ignore_errors=True)
    for number, conversation in enumerate(conversations):
        rig.progress(number, len(conversations), f"conversation {conversation.name}")
        with setup.namespace("index") as there:
            _compare(conversation, there, str(place), RememberedEmbedder(rig.embedder), recalls, same, setup)
            if not lags:
                lags = _lags(there, str(place), rig.embedder)
    mean = {name: 100 * float(np.mean(values)) for name, values in recalls.items()}
    table = BenchTable(
        "LoCoMo, turn-R: PostgreSQL with a search index beside a file",
        ("searched", "recall@10", "questions"),
        tuple((name, mean[name], len(recalls[name])) for name in (*_WAYS, *_STALE)),
    )
    apart = abs(mean["PostgreSQL, index up to date"] - mean[_FILE])
    metrics = {
        "index_recall10": mean["PostgreSQL, index up to date"],
        "index_recall10_file": mean[_FILE],
        "index_recall10_apart": apart,
        "index_recall10_tail_apart": abs(mean["PostgreSQL, index of half the turns"] - mean[_FILE]),
        "index_recall10_control": mean["control: that half alone (bounded)"],
        "index_same_hits": 100 * float(np.mean(same)),
        "rare_token_lag_ms": float(np.max(lags)),
        "rare_token_lag_p50_ms": float(np.median(lags)),
    }
    return SubjectResult(
        metrics,
        {
            "index_recall10_apart": ("<=", 0.2),
            "index_recall10_tail_apart": ("<=", 0.2),
            "rare_token_lag_ms": ("<=", 1000.0),
        },
        (table,),
    )


def _compare(
    conversation: Conversation,
    there: str,
    place: str,
    embedder: Embedder,
    recalls: dict[str, list[float]],
    same: list[float],
    setup: ScaleoutSetup,
) -> None:
    """One conversation, in two halves, in both; each question is asked of all before the next."""
    half = len(conversation.drafts) // 2
    clock = BenchClock(conversation.now)
    with ExitStack() as stack:
        memories = {
            "file": stack.enter_context(Memory.open(":memory:", clock=clock, embedder=embedder)),
            "there": stack.enter_context(Memory.open(there, clock=clock, embedder=embedder, index=place)),
        }
        for memory in memories.values():
            for drafts in (conversation.drafts[:half], conversation.drafts[half:]):
                memory.ingest_many(drafts)
                memory.apply_consolidation(memory.plan_consolidation())
                if memory is memories["there"] and not memory.index.status().version:
                    memory.index.build()
        questions = conversation.questions[: setup.effort.questions]
        for ways in (_STALE, _WAYS):
            if ways is _WAYS:
                memories["there"].index.build()
            for question in questions:
                found: dict[str, tuple[str, ...]] = {}
                for name, (of, consistency, layers) in ways.items():
                    hits = memories[of].search(
                        question.text,
                        top_k=DEPTH,
                        layers=layers,
                        consistency="bounded" if consistency == "bounded" else "strong",
                    )
                    found[name] = tuple(hit.block.id for hit in hits.hits)
                    relevant = block_ids(memories[of], question.evidence)
                    recalls[name].append(measures.recall(found[name], relevant, DEPTH))
                if ways is _WAYS:
                    one, other = set(found[_FILE]), set(found["PostgreSQL, index up to date"])
                    same.append(len(one & other) / max(len(one), 1))


def _lags(there: str, place: str, embedder: Embedder) -> list[float]:
    """Milliseconds from before a note is written to when a memory that was opened for reading has found it."""
    clock, found = BenchClock(STILL), []
    with (
        Memory.open(there, clock=clock, embedder=embedder, index=place) as writer,
        Memory.open(there, clock=clock, embedder=embedder, index=place, read_only=True) as reader,
    ):
        reader.search("a first question pays for opening the indexes")
        for number in range(LAGS):
            token = f"ZZ-{90_000 + 37 * number}-K"
            begun = time.perf_counter()
            writer.add(f"The spare part {token} lies in the blue crate.")
            while token not in "".join(hit.block.content for hit in reader.search(token, top_k=1).hits):
                if time.perf_counter() - begun > _PATIENCE:
                    break
            found.append(1000 * (time.perf_counter() - begun))
    return found
