"""Builds of the search index that are killed: no version may be looked at that is not whole, and no block be missed."""

from __future__ import annotations

import random
import shutil
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from amgs.clock import SystemClock
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.text.embedding import HashingEmbedder
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.scaleout.indexer_process import BUILT, READY, IndexerProcess
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.scaleout.writer import note

NOTES = 4
"""Notes taken in and consolidated while a build is at work."""
FIRST = 40
"""Notes that the first version holds."""
LONGEST = 2.0
"""How long a build is let work at most, in times of what one takes in peace."""
CONTROLS = 5
"""Kills of a build that moves its tag before it has written its rows."""


@dataclass(frozen=True, slots=True)
class IndexersKilled:
    """What was found. amid: kills that fell into a build. acknowledged: notes; missed: of these, those that a search
    did not find right after a kill, or in the end. broken: looks after a kill at a version that did not hold what the
    store held when it was built. versions: how many were seen. verified: whether the store and the index are sound.
    """

    kills: int
    amid: int
    acknowledged: int
    missed: int
    broken: int
    versions: int
    verified: bool


def measure_indexer(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult | None:
    """`kill -9` of a build at a random moment, beside a writer, again and again. Control: a build that says it is done
    before it has written, which the look at its version must find out.
    """
    if find_spec("lance") is None:
        return None
    kills, chance = setup.effort.kills, random.Random(rig.seed)
    with setup.namespace("indexer") as place:
        late = _killed(rig, setup, place, kills, chance, early=False)
    with setup.namespace("indexer_early") as place:
        early = _killed(rig, setup, place, min(kills, CONTROLS), chance, early=True)
    metrics = {
        "indexer_kills": float(late.kills),
        "indexer_kills_amid": float(late.amid),
        "indexer_acknowledged": float(late.acknowledged),
        "indexer_missed": float(late.missed),
        "indexer_broken": float(late.broken),
        "indexer_versions": float(late.versions),
        "indexer_verified": float(late.verified),
        "indexer_broken_control": float(early.broken),
    }
    columns = ("build", "kills", "amid a build", "notes", "of these missed", "versions", "not whole")
    rows = tuple(
        (name, one.kills, one.amid, one.acknowledged, one.missed, one.versions, one.broken)
        for name, one in (("writes, then tags", late), ("control: tags, then writes", early))
    )
    return SubjectResult(
        metrics,
        {
            "indexer_missed": ("<=", 0.0),
            "indexer_broken": ("<=", 0.0),
            "indexer_verified": (">=", 1.0),
            "indexer_broken_control": (">=", 1.0),
        },
        (BenchTable("Builds of the index killed", columns, rows),),
    )


def _killed(
    rig: MemoryRig, setup: ScaleoutSetup, place: str, kills: int, chance: random.Random, *, early: bool
) -> IndexersKilled:
    """Take notes in beside a build, kill it, look; so often. In the end a build works in peace."""
    index = setup.work / f"indexer{'-early' if early else ''}"
    shutil.rmtree(index, ignore_errors=True)
    amid = broken = missed = 0
    versions: set[int] = set()
    with opened(place, index) as memory:
        notes = Notes(memory)
        notes.take_in("first", FIRST)
        memory.index.build()
        notes.take_in("second", NOTES)
        longest = LONGEST * memory.index.build().seconds
        for number in range(kills):
            rig.progress(number, kills, "killing a build")
            indexer = IndexerProcess(place, str(index), early=early)
            try:
                indexer.wait_for(READY)
                fresh = notes.take_in(f"{number}", NOTES)
                if early:
                    indexer.wait_for(BUILT)
                else:
                    time.sleep(chance.uniform(0.0, longest))
            finally:
                amid += indexer.kill()
            with opened(place, index, read_only=True) as reader:
                versions.add(reader.index.status().version)
                broken += not notes.whole(reader)
                missed += sum(not found(reader, text) for text in fresh)
        memory.index.build()
        missed += sum(not found(memory, text) for text in notes.texts)
        broken += not notes.whole(memory)
        return IndexersKilled(
            kills, amid, len(notes.texts), missed, broken, len(versions), memory.verify().ok
        )


def opened(place: str, index: Path, *, read_only: bool = False) -> Memory:
    return Memory.open(
        place, clock=SystemClock(), embedder=HashingEmbedder(), index=str(index), read_only=read_only
    )


def found(memory: Memory, text: str) -> bool:
    """Whether a search by words finds a note."""
    hits = memory.search(text, layers=["keyword"], consistency="strong").hits
    return any(hit.block.content == text for hit in hits)


class Notes:
    """The notes that a memory has acknowledged, with the structure counter after which each is there."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._since: list[int] = []
        self.texts: list[str] = []

    def take_in(self, name: str, count: int) -> list[str]:
        """Take notes in, and consolidate them, so that their rows change once more."""
        now = self._memory.clock.now()
        texts = [note(name, each) for each in range(count)]
        added = self._memory.ingest_many([RawBlock(text, now, {}) for text in texts]).added
        if len(added) != count:
            raise RuntimeError("A note was there already.")
        self._since += [self._memory.index.status().store_at] * count
        self.texts += texts
        self._memory.consolidate()
        return texts

    def whole(self, reader: Memory) -> bool:
        """Whether the version that is looked at holds as many rows as there were notes when it was built, and can be
        read.
        """
        status = reader.index.status()
        wanted = sum(since <= status.built_at for since in self._since)
        faults = [fault for fault in reader.verify().faults if fault.where == "search index"]
        return status.rows == wanted and not faults
