"""The store's reading side as retrieval asks for it, with a memory, so that a search reads little of the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from amgs.index.roll import Roll
from amgs.model import BlockFilter
from amgs.store import block_columns
from amgs.store import blocks as stored_blocks
from amgs.store.block_columns import Scoring
from amgs.store.blocks import Numbered
from amgs.store.connection import Store

_FILTERS_KEPT = 32
_BLOCKS_KEPT = 4000


@dataclass(frozen=True, eq=False)
class Facts:
    """What scoring needs of n blocks, rows in rising number; see retrieval/ports.py."""

    numbers: NDArray[np.int64]
    ids: NDArray[np.object_]
    reinforced: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]
    confidence: NDArray[np.float64]
    reinforcements: NDArray[np.int64]


class Reader:
    """Remembers the numbers that pass a filter and the scoring columns of all blocks as long as the structure
    stands, the blocks read as long as nothing changes.
    """

    def __init__(self, store: Store, roll: Callable[[], Roll]) -> None:
        self._store = store
        self._roll = roll
        self._changes = self._structure = -1
        self._passing: dict[BlockFilter, NDArray[np.int64]] = {}
        self._scoring: Scoring | None = None
        self._clocks_are_true = False
        self._blocks: dict[int, Numbered] = {}

    def follow(self, changes: int, structure: int) -> None:
        """Forget what is no longer true of a store with these counters."""
        if structure != self._structure:
            self._structure, self._scoring = structure, None
            self._passing.clear()
        if changes != self._changes:
            self._changes, self._clocks_are_true = changes, False
            self._blocks.clear()

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None) -> NDArray[np.int64]:
        if limit is not None or wanted.reinforced_since is not None:
            return block_columns.numbers(self._store, wanted, limit=limit)
        # All else that a filter asks for stands still as long as the structure does.
        if wanted not in self._passing:
            if len(self._passing) >= _FILTERS_KEPT:
                self._passing.clear()
            self._passing[wanted] = block_columns.numbers(self._store, wanted)
        return self._passing[wanted]

    def stored(self, numbers: Sequence[int]) -> Sequence[Numbered]:
        missing = [n for n in numbers if n not in self._blocks]
        if missing:
            if len(self._blocks) + len(missing) > _BLOCKS_KEPT:
                self._blocks.clear()
                missing = list(numbers)
            self._blocks.update((one.number, one) for one in stored_blocks.by_number(self._store, missing))
        return [self._blocks[n] for n in sorted(numbers) if n in self._blocks]

    def facts(self, numbers: Sequence[int]) -> Facts:
        if self._scoring is None:
            self._scoring = block_columns.scoring(self._store)
        elif not self._clocks_are_true:
            reinforced, times = block_columns.clocks(self._store, self._scoring.numbers)
            self._scoring = replace(self._scoring, reinforced=reinforced, reinforcements=times)
        self._clocks_are_true = True
        all_ = self._scoring
        given = np.unique(np.asarray(numbers, dtype=np.int64))
        at = np.searchsorted(all_.numbers, given)
        inside = at < all_.numbers.size
        rows = at[inside][all_.numbers[at[inside]] == given[inside]]
        found = all_.numbers[rows]
        return Facts(
            found,
            self._roll().of(found),
            all_.reinforced[rows],
            all_.decay_lambda[rows],
            all_.confidence[rows],
            all_.reinforcements[rows],
        )

    def numbers_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        return stored_blocks.numbers_of(self._store, ids)
