"""The store's reading side as retrieval asks for it, with a memory, so that a search reads little of the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from amgs.index.id_map import IdMap
from amgs.storage.duckdb import block_columns
from amgs.storage.duckdb import blocks as stored_blocks
from amgs.storage.duckdb.block_columns import Scoring
from amgs.storage.duckdb.blocks import Numbered
from amgs.storage.duckdb.connection import Store
from amgs.types import BlockFilter

_FILTERS_KEPT = 32
_BLOCKS_KEPT = 4000


@dataclass(frozen=True, eq=False)
class ScoringFacts:
    """What scoring needs of n blocks, rows in rising number; see retrieval/sources.py."""

    numbers: NDArray[np.int64]
    ids: NDArray[np.object_]
    reinforced: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]
    confidence: NDArray[np.float64]
    reinforcements: NDArray[np.int64]


class StateReader:
    """Reads one state of the store and remembers the numbers that pass a filter, the scoring columns of all blocks,
    and the blocks read. What it remembers is only ever put in place whole, so that several threads may read.

    before: the reader of an earlier state with the same structure: what it knows still holds, but for the clocks.
    """

    def __init__(self, store: Store, id_map: Callable[[], IdMap], before: StateReader | None = None) -> None:
        self._store = store
        self._id_map = id_map
        self._passing: dict[BlockFilter, NDArray[np.int64]] = {} if before is None else dict(before._passing)
        self._earlier: Scoring | None = None if before is None else before._scoring or before._earlier
        self._scoring: Scoring | None = None
        self._blocks: dict[int, Numbered] = {}

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None) -> NDArray[np.int64]:
        if limit is not None or wanted.reinforced_since is not None:
            return block_columns.numbers(self._store, wanted, limit=limit)
        # All else that a filter asks for stands still as long as the structure does.
        found = self._passing.get(wanted)
        if found is None:
            found = block_columns.numbers(self._store, wanted)
            if len(self._passing) >= _FILTERS_KEPT:
                self._passing = {}
            self._passing[wanted] = found
        return found

    def stored(self, numbers: Sequence[int]) -> Sequence[Numbered]:
        known = self._blocks
        found = {n: known[n] for n in numbers if n in known}
        missing = [n for n in numbers if n not in found]
        if missing:
            read = {one.number: one for one in stored_blocks.by_number(self._store, missing)}
            found |= read
            if len(known) + len(read) > _BLOCKS_KEPT:
                self._blocks = read
            else:
                known.update(read)
        return [found[n] for n in sorted(numbers) if n in found]

    def facts(self, numbers: Sequence[int]) -> ScoringFacts:
        all_ = self._scoring
        if all_ is None:
            all_ = self._scoring = self._read_scoring()
        given = np.unique(np.asarray(numbers, dtype=np.int64))
        at = np.searchsorted(all_.numbers, given)
        inside = at < all_.numbers.size
        rows = at[inside][all_.numbers[at[inside]] == given[inside]]
        found = all_.numbers[rows]
        return ScoringFacts(
            found,
            self._id_map().of(found),
            all_.reinforced[rows],
            all_.decay_lambda[rows],
            all_.confidence[rows],
            all_.reinforcements[rows],
        )

    def _read_scoring(self) -> Scoring:
        earlier = self._earlier
        if earlier is None:
            return block_columns.scoring(self._store)
        reinforced, times = block_columns.clocks(self._store, earlier.numbers)
        return replace(earlier, reinforced=reinforced, reinforcements=times)

    def numbers_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        return stored_blocks.numbers_of(self._store, ids)
