"""Catalogue of the entities (people, places, projects, topics) that blocks name; read from the blocks on first use,
updated by revision, never stored.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from amgs.derived.block_reader import State
from amgs.identity import file_of
from amgs.index.arrays import NOBODY
from amgs.index.entity_index import EntityIndex, build_entity_index
from amgs.storage.blocks import NumberedBlock
from amgs.storage.store import Storage
from amgs.text.names import NameReading, read_names
from amgs.types import BlockFilter, Progress
from amgs.types.block import heading_path

_LIVE = BlockFilter(statuses=("raw", "consolidated"))
_BATCH = 1000
_NO_NAMES = frozenset(("readme", "index", "notes", "changelog", "license", "todo", "main"))
"""File names that say what a file is, not what it is about."""


@dataclass(frozen=True)
class EntityState:
    """The entities of a state. created: creation time of each live block, by running number."""

    index: EntityIndex
    created: dict[int, datetime]


@dataclass(slots=True)
class _Read:
    """What was read from blocks, by running number. at: structure counter. small: frequency of lower-case words."""

    at: int = -1
    small: Counter[str] = field(default_factory=Counter)
    names: dict[int, NameReading] = field(default_factory=dict)
    titled: dict[int, tuple[str, ...]] = field(default_factory=dict)
    marked: dict[int, tuple[str, ...]] = field(default_factory=dict)
    created: dict[int, datetime] = field(default_factory=dict)

    @property
    def numbers(self) -> NDArray[np.int64]:
        return np.fromiter(self.names, np.int64, len(self.names))


class EntityCatalogue:
    """Reads names from blocks; only new blocks are read, then entities are built from all names."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._read = _Read()
        self._found: EntityState | None = None

    @property
    def seen(self) -> EntityState | None:
        """Entities of the latest request; None before the first."""
        return self._found

    def latest(self, state: State, progress: Progress | None = None) -> EntityState:
        """Return the entities of a state in whose snapshot this thread reads, or of a later one requested before."""
        with self._lock:
            if self._found is None or self._read.at < state.structure:
                read, self._read, self._found = self._read, _Read(), None
                # If reading is cancelled, what was read is dropped and read again next time.
                read = self._catch_up_names(read, progress)
                speakers = _speakers(state)
                index = build_entity_index(
                    read.names, read.small, speakers=speakers, titled=read.titled, marked=read.marked
                )
                read.at = state.structure
                self._read, self._found = read, EntityState(index, dict(read.created))
            return self._found

    def _catch_up_names(self, read: _Read, progress: Progress | None) -> _Read:
        """Read the names of new and changed blocks, and remove deleted ones."""
        live = self._storage.block_columns.numbers(_LIVE)
        gone = np.setdiff1d(read.numbers, live)
        if gone.size and not self._remove_blocks(read, gone):
            read = _Read()
        changed = np.intersect1d(self._storage.block_columns.features(since=read.at).numbers, live)
        wanted = np.union1d(changed, np.setdiff1d(live, read.numbers))
        for start in range(0, wanted.size, _BATCH):
            if progress is not None:
                progress(start, wanted.size, "reading names")
            for numbered_block in self._storage.blocks.by_number(wanted[start : start + _BATCH].tolist()):
                _read_block(read, numbered_block)
        return read

    def _remove_blocks(self, read: _Read, gone: NDArray[np.int64]) -> bool:
        """Remove blocks that are no longer live; return False if the store lacks their texts, whose words must be
        subtracted.
        """
        texts = self._storage.blocks.texts(gone.tolist())
        if len(texts) != gone.size:
            return False
        for number, content, _ in texts:
            read.small.subtract(read_names(content)[1])
            for table in (read.names, read.titled, read.marked, read.created):
                table.pop(number, None)
        return True


def _read_block(read: _Read, numbered_block: NumberedBlock) -> None:
    """Add the names, title and tags of a block."""
    number, block = numbered_block.number, numbered_block.block
    if number not in read.names:
        read.names[number], small = read_names(block.content)
        read.small.update(small)
    read.created[number] = block.created_at
    stem = PurePosixPath(file_of(str(block.meta.get("source") or ""))).stem
    about = {*heading_path(block.meta)[:1], stem} - {""}
    read.titled[number] = tuple(sorted(name for name in about if name.lower() not in _NO_NAMES))
    read.marked[number] = tuple(str(tag) for tag in block.meta.get("tags") or ())


def _speakers(state: State) -> dict[int, str]:
    """Return the speaker of each turn of a dialogue in lower case, by running number."""
    sequences = state.sequences()
    traits, speaker = sequences.traits, sequences.forms.speaker
    return {
        number: traits.names[place]
        for number, place in zip(traits.numbers.tolist(), speaker.tolist(), strict=True)
        if place != NOBODY
    }
