"""Builds of the search index that are killed: no version may be looked at that is not whole, and no block be missed.

A process that builds the search index of a memory, again and again, and can be killed at any moment.
"""

from __future__ import annotations

import multiprocessing
import random
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.clock import SystemClock
from amgs.derived.search_tier import Numbers, SearchTier
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.settings import Settings
from amgs.storage.opening import open_storage
from amgs.text.embedding import HashingEmbedder
from amgs.types import Progress
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.scaleout.writer import note

if TYPE_CHECKING:
    from amgs.index.lance.build import BlockRows


READY, BEGUN, BUILT = "ready", "begun", "built"
_PAUSE = 0.01
_CONTEXT = multiprocessing.get_context("spawn")  # what Lance runs in the background outlives no fork


class IndexerProcess:
    """Builds until it is killed. early: moves the tag before it has written the rows, and never comes
    to write them.
    """

    def __init__(self, place: str, index: str, *, early: bool = False) -> None:
        self._said, there = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_build, args=(place, index, early, there), daemon=True)
        self._process.start()
        there.close()

    def wait_for(self, what: str) -> None:
        """Wait until it says so; raises RuntimeError where it has ended instead."""
        try:
            while self._said.recv() != what:
                pass
        except EOFError as error:
            raise RuntimeError("An indexer died by itself.") from error

    def kill(self) -> bool:
        """End it as a power cut would; whether it was amid a build."""
        self._process.kill()
        self._process.join()
        last = BUILT
        try:
            while self._said.poll():
                last = self._said.recv()
        except (EOFError, OSError):
            pass
        self._said.close()
        return last == BEGUN


class TagsFirst(SearchTier):
    """Says that its version is built, and has not written the rows of it: what no build may do."""

    def _rows(
        self, numbers: Numbers, searchable: Numbers, dimension: int, progress: Progress | None
    ) -> Iterator[BlockRows]:
        return super()._rows(numbers[:0], searchable, dimension, progress)


def _build(place: str, index: str, early: bool, said: Connection) -> None:
    with open_storage(place, read_only=True) as storage:
        kind = TagsFirst if early else SearchTier
        tier = kind(storage, index, HashingEmbedder(), SystemClock(), Settings().retrieval)
        with storage.snapshot():
            built = tier.build().built_at  # nothing has changed: all that a build needs is in memory now
        said.send(READY)
        while True:
            structure = storage.structure_counter
            if structure == built:
                time.sleep(_PAUSE)
                continue
            said.send(BEGUN)
            with storage.snapshot():
                built = tier.build().built_at
            said.send(BUILT)


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
