"""The list of all blocks with status and embedding, which decides which index holds a block; updated by revision."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from amgs.index.ascending import contains, places, replace_values
from amgs.storage.block_columns import BlockColumnStorage
from amgs.types import STATUSES

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
