"""The store's reading side as retrieval asks for it, with a memory, so that a search reads little of the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from amgs.index.id_map import IdMap
from amgs.storage.block_columns import ScoringColumns, ScoringFacts
from amgs.storage.blocks import NumberedBlock
from amgs.storage.protocol import Storage
from amgs.types import BlockFilter

_FILTERS_KEPT = 32
_BLOCKS_KEPT = 4000


class StateReader:
    """Reads one state of the store and remembers the numbers that pass a filter, the scoring columns of all blocks,
    and the blocks read. What it remembers is only ever put in place whole, so that several threads may read.

    before: the reader of an earlier state with the same structure: what it knows still holds, but for the clocks.
    """

    def __init__(
        self, storage: Storage, id_map: Callable[[], IdMap], before: StateReader | None = None
    ) -> None:
        self._storage = storage
        self._id_map = id_map
        self._passing: dict[BlockFilter, NDArray[np.int64]] = {} if before is None else dict(before._passing)
        self._earlier: ScoringColumns | None = None if before is None else before._scoring or before._earlier
        self._scoring: ScoringColumns | None = None
        self._blocks: dict[int, NumberedBlock] = {}

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None) -> NDArray[np.int64]:
        if limit is not None or wanted.reinforced_since is not None:
            return self._storage.block_columns.numbers(wanted, limit=limit)
        # All else that a filter asks for stands still as long as the structure does.
        found = self._passing.get(wanted)
        if found is None:
            found = self._storage.block_columns.numbers(wanted)
            if len(self._passing) >= _FILTERS_KEPT:
                self._passing = {}
            self._passing[wanted] = found
        return found

    def stored(self, numbers: Sequence[int]) -> Sequence[NumberedBlock]:
        known = self._blocks
        found = {n: known[n] for n in numbers if n in known}
        missing = [n for n in numbers if n not in found]
        if missing:
            read = {one.number: one for one in self._storage.blocks.by_number(missing)}
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
        found = all_.of(numbers)
        return ScoringFacts(
            numbers=found.numbers,
            ids=self._id_map().of(found.numbers),
            reinforced=found.reinforced,
            decay_lambda=found.decay_lambda,
            confidence=found.confidence,
            reinforcements=found.reinforcements,
            superseded=found.superseded,
        )

    def _read_scoring(self) -> ScoringColumns:
        earlier = self._earlier
        if earlier is None:
            return self._storage.block_columns.scoring()
        reinforced, times = self._storage.block_columns.clocks(earlier.numbers)
        return replace(earlier, reinforced=reinforced, reinforcements=times)

    def numbers_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        return self._storage.blocks.numbers_of(ids)
