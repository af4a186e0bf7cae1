"""A process that builds the search index of a memory, again and again, and can be killed at any moment."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from amgs.clock import SystemClock
from amgs.derived.search_tier import Numbers, SearchTier
from amgs.settings import Settings
from amgs.storage.opening import open_storage
from amgs.text.embedding import HashingEmbedder
from amgs.types import Progress

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
