"""Read blocks for retrieval, with a cache; the list of all blocks, which decides which index holds each; and
`State`, one committed state of everything derived.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from amgs.clock import microseconds_of
from amgs.graph.live import LiveGraph
from amgs.graph.view import GraphView
from amgs.index.arrays import IdMap, contains, difference, places, replace_values, union
from amgs.retrieval.sources import SequenceIndex
from amgs.storage.block_columns import BlockColumnStorage, ScoringColumns, ScoringFacts
from amgs.storage.blocks import NumberedBlock
from amgs.storage.store import Storage
from amgs.types import STATUSES, BlockFilter, FrameDefinition

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Roll:
    """All n blocks of a state, in rising running number: numbers (n,), status (n,) index into STATUSES, embedded (n,).

    structure: structure counter of the state. whole_since: no block was deleted since this structure. before: structure
    it was updated from; changed: numbers of blocks changed since then, rising.
    """

    structure: int
    whole_since: int
    numbers: Numbers
    status: NDArray[np.int8]
    embedded: NDArray[np.bool_]
    before: int = -1
    changed: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def read(cls, storage: BlockColumnStorage, structure: int, known: tuple[Numbers, int] | None = None) -> Roll:
        """Read all blocks. known: blocks that had an embedding at an earlier structure, which saves reading the
        embeddings.
        """
        every = storage.statuses(embedded=known is None)
        embedded = every.embedded
        if known is not None:
            numbers, at = known
            embedded = contains(numbers, every.numbers)
            changed = storage.statuses(since=at)
            embedded[places(every.numbers, changed.numbers)] = changed.embedded
        return cls(structure, structure, every.numbers, every.status, embedded)

    def caught_up(self, storage: BlockColumnStorage, structure: int) -> Roll:
        """Return the roll of a later state."""
        changed = storage.statuses(since=self.structure)
        numbers = replace_values(self.numbers, self.numbers, changed.numbers, changed.numbers)
        if numbers.size != storage.count():
            return Roll.read(storage, structure)
        return Roll(
            structure,
            self.whole_since,
            numbers,
            replace_values(self.numbers, self.status, changed.numbers, changed.status),
            replace_values(self.numbers, self.embedded, changed.numbers, changed.embedded),
            self.structure,
            changed.numbers,
        )

    @property
    def highest(self) -> int:
        """Highest running number, 0 without blocks."""
        return int(self.numbers[-1]) if self.numbers.size else 0

    @cached_property
    def live(self) -> Numbers:
        """Numbers of the blocks in the graph."""
        return self.of(("raw", "consolidated"))

    @cached_property
    def searchable(self) -> Numbers:
        """Numbers of the blocks in the keyword index."""
        return self.of(("raw", "consolidated", "archived"))

    @cached_property
    def with_vector(self) -> Numbers:
        """Numbers of the blocks in the vector index."""
        return self.numbers[self.embedded]

    def of(self, statuses: Collection[str]) -> Numbers:
        """Return the numbers of blocks with these statuses."""
        chosen = np.array([status in statuses for status in STATUSES], dtype=np.bool_)
        return self.numbers[chosen[self.status] & (self.status >= 0)]


_MOST_FILTERS = 32
_MOST_NUMBERS = 20_000
MOST_BYTES = 32 << 20
"""Bytes of cached blocks: their texts, and about 1 KiB more for each."""
_BESIDE_TEXT = 1024
_MANY = 500
"""Cached blocks from which on a store that fits is read whole; a single command reads fewer."""


class BlocksRead:
    """Cache of blocks of one state, at most MOST_BYTES; those not asked for longest go first. Several threads may use
    it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: OrderedDict[int, NumberedBlock] = OrderedDict()
        self._bytes = 0

    def get(self, number: int) -> NumberedBlock | None:
        """Return a cached block by running number; None if it is not cached."""
        with self._lock:
            if number in self._blocks:
                self._blocks.move_to_end(number)
            return self._blocks.get(number)

    def add(self, numbered_block: NumberedBlock) -> None:
        """Cache a block."""
        with self._lock:
            if numbered_block.number in self._blocks:
                return
            self._blocks[numbered_block.number] = numbered_block
            self._bytes += _size(numbered_block)
            while self._bytes > MOST_BYTES:
                self._bytes -= _size(self._blocks.popitem(last=False)[1])

    def to_read(self, missing: Sequence[int], every: Numbers) -> Sequence[int]:
        """Return the blocks to read where some are missing: all, once _MANY are cached and every block has room."""
        with self._lock:
            count = len(self._blocks)
            if count < _MANY or self._bytes / count * every.size > MOST_BYTES:
                return missing
            return list({*missing, *every.tolist()} - self._blocks.keys())

    def without(self, changed: Collection[int]) -> BlocksRead:
        """Return the cache without these blocks, for a later state in which they changed.

        If none changed, it is the same object, shared by readers of both states.
        """
        if not changed:
            return self
        left = BlocksRead()
        with self._lock:
            left._blocks, left._bytes = self._blocks.copy(), self._bytes
        for number in changed:
            if (gone := left._blocks.pop(number, None)) is not None:
                left._bytes -= _size(gone)
        return left


def _size(numbered_block: NumberedBlock) -> int:
    """Return the bytes that a cached block counts for."""
    return sys.getsizeof(numbered_block.block.content) + _BESIDE_TEXT


class StateReader:
    """Reads one state of the store, and caches the numbers that pass a filter, the scoring columns and blocks.

    Caches are replaced as a whole, so that several threads may read. roll, changes: of this state. before: reader of an
    earlier state, whose caches are updated by revision.
    """

    def __init__(
        self, storage: Storage, id_map: Callable[[], IdMap], roll: Roll, changes: int, before: StateReader | None = None
    ) -> None:
        self._storage = storage
        self._changes = changes
        self._id_map = id_map
        self._roll = roll
        # Cached results of filters, and scoring columns, each with the structure counter it is of.
        self._passing: dict[BlockFilter, tuple[NDArray[np.int64], int]] = {}
        self._earlier: tuple[ScoringColumns, int, int] | None = None
        # A block keeps its number as long as it is there.
        self._numbers: dict[str, int] = {}
        self._blocks: BlocksRead | None = None
        # Blocks cached by an earlier reader, with its structure and change counter.
        self._read_before: tuple[BlocksRead, int, int] | None = None
        self._frames: tuple[FrameDefinition, ...] | None = None
        if before is not None:
            self._frames = before._frames if before._roll.structure == roll.structure else None
            self._passing = {wanted: entry for wanted, entry in before._passing.items() if entry[1] >= roll.whole_since}
            if before._roll.structure >= roll.whole_since:
                self._numbers = before._numbers
                self._read_before = before._read_before
                if before._blocks is not None:
                    self._read_before = before._blocks, before._roll.structure, before._changes
            known = before._earlier
            if before._scoring is not None:
                known = before._scoring, before._roll.structure, before._changes
            self._earlier = known if known is not None and known[1] >= roll.whole_since else None
        self._scoring: ScoringColumns | None = None

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None) -> NDArray[np.int64]:
        """Return the running numbers of blocks that pass the filter, rising: (n,). limit: only the latest
        reinforced.
        """
        since = wanted.reinforced_since
        block_numbers = self._structural_numbers(wanted if since is None else replace(wanted, reinforced_since=None))
        if since is None and (limit is None or block_numbers.size <= limit):
            return block_numbers
        clocks = self.scoring().of(block_numbers)
        within = slice(None) if since is None else clocks.reinforced >= microseconds_of(since)
        block_numbers, reinforced = clocks.numbers[within], clocks.reinforced[within]
        if limit is None:
            return block_numbers
        return np.sort(block_numbers[np.lexsort((block_numbers, reinforced))[::-1][:limit]])

    def _structural_numbers(self, wanted: BlockFilter) -> NDArray[np.int64]:
        """Return the numbers that pass the parts of a filter that only structural changes affect (not
        reinforcement).
        """
        structure = self._roll.structure
        plain = wanted == BlockFilter(statuses=wanted.statuses)
        block_numbers, at = self._passing.get(wanted, (None, -1))
        if block_numbers is not None and at == structure:
            return block_numbers
        columns = self._storage.block_columns
        if plain:
            block_numbers = self._roll.of(wanted.statuses)
        elif block_numbers is None or wanted.as_of is not None:  # what held at an instant also depends on sources
            block_numbers = columns.numbers(wanted)
        else:
            changed = self._roll.changed if at == self._roll.before else columns.statuses(since=at).numbers
            block_numbers = union(difference(block_numbers, changed), columns.numbers(wanted, since=at))
        if len(self._passing) >= _MOST_FILTERS:
            self._passing = {}
        self._passing[wanted] = block_numbers, structure
        return block_numbers

    def frames(self) -> tuple[FrameDefinition, ...]:
        """Return the registered frames by name."""
        if self._frames is None:
            self._frames = self._storage.frames.everything()
        return self._frames

    def read_blocks(self, numbers: Sequence[int]) -> Sequence[NumberedBlock]:
        """Return blocks by running number, rising, from the cache or the store; unknown numbers are left out."""
        if self._blocks is None:
            self._blocks = self._update_cache()
        known = self._blocks
        blocks = {n: numbered_block for n in numbers if (numbered_block := known.get(n)) is not None}
        missing = [n for n in numbers if n not in blocks]
        if missing:
            read = self._storage.blocks.by_number(known.to_read(missing, self._roll.searchable))
            blocks.update((numbered_block.number, numbered_block) for numbered_block in read)
            self._note({numbered_block.block.id: numbered_block.number for numbered_block in read})
            for numbered_block in read:
                known.add(numbered_block)
        return [blocks[n] for n in sorted(numbers) if n in blocks]

    def _update_cache(self) -> BlocksRead:
        """Return the earlier reader's cache without the blocks that have changed or were reinforced since."""
        if self._read_before is None:
            return BlocksRead()
        blocks, structure, changes = self._read_before
        self._read_before = None
        columns = self._storage.block_columns
        changed = set(columns.clocks(since=changes).numbers.tolist())
        if structure != self._roll.structure:
            last = self._roll.changed if structure == self._roll.before else None
            changed.update((columns.statuses(since=structure).numbers if last is None else last).tolist())
        return blocks.without(changed)

    def facts(self, numbers: Sequence[int]) -> ScoringFacts:
        """Return the scoring columns of these blocks, with ids."""
        columns = self.scoring().of(numbers)
        return ScoringFacts(
            numbers=columns.numbers,
            ids=self._id_map().of(columns.numbers),
            reinforced=columns.reinforced,
            decay_lambda=columns.decay_lambda,
            confidence=columns.confidence,
            reinforcements=columns.reinforcements,
            superseded=columns.superseded,
        )

    def scoring(self) -> ScoringColumns:
        """Return the scoring columns of all blocks; read once, or updated from an earlier reader's."""
        if self._scoring is None:
            self._scoring = self._read_scoring()
        return self._scoring

    def _read_scoring(self) -> ScoringColumns:
        """Read the scoring columns, or update those of an earlier state by revision."""
        if self._earlier is None:
            return self._storage.block_columns.scoring()
        earlier, structure, changes = self._earlier
        if structure != self._roll.structure:
            changed = self._storage.block_columns.scoring(since=structure)
            earlier = ScoringColumns(
                *(
                    replace_values(
                        earlier.numbers, getattr(earlier, column.name), changed.numbers, getattr(changed, column.name)
                    )
                    for column in fields(ScoringColumns)
                )
            )
        clocks = self._storage.block_columns.clocks(since=changes)
        return replace(
            earlier,
            reinforced=replace_values(earlier.numbers, earlier.reinforced, clocks.numbers, clocks.reinforced),
            reinforcements=replace_values(
                earlier.numbers, earlier.reinforcements, clocks.numbers, clocks.reinforcements
            ),
        )

    def numbers_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        """Return the running numbers of ids; unknown ids are left out."""
        known = self._numbers
        numbers = {i: known[i] for i in ids if i in known}
        missing = [i for i in ids if i not in numbers]
        if missing:
            read = dict(self._storage.blocks.numbers_of(missing))
            self._note(read)
            numbers |= read
        return numbers

    def ids(self, numbers: NDArray[np.int64]) -> NDArray[np.object_]:
        """Return the id of each running number: (m,)."""
        return self._id_map().of(numbers)

    def _note(self, numbers: dict[str, int]) -> None:
        """Cache running numbers by id."""
        known = self._numbers
        self._numbers = numbers if len(known) + len(numbers) > _MOST_NUMBERS else {**known, **numbers}


@dataclass(frozen=True, eq=False)
class State:
    """One committed state of the store and what is derived from it.

    changes, structure: the store's counters. lay_out: builds the order of all blocks. Several threads may read a state,
    each in its own snapshot of it.
    """

    changes: int
    structure: int
    blocks: StateReader
    graph: LiveGraph
    lay_out: Callable[[int, GraphView], SequenceIndex]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _laid_out: list[SequenceIndex] = field(default_factory=list)

    def sequences(self) -> SequenceIndex:
        """Return the order and episodes of all blocks, built once."""
        with self._lock:
            if not self._laid_out:
                self._laid_out.append(self.lay_out(self.structure, self.graph.view()))
            return self._laid_out[0]
