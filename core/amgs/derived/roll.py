"""Blocks and the index that holds each, caught up by revision instead of read anew."""

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
    """All n blocks of a state of the store, rising: numbers (n,), status (n,) places in STATUSES, embedded (n,).

    structure: of that state. whole_since: since this structure no block was deleted. before: the structure of the
    state that it was caught up from, changed: the numbers of the blocks changed since, rising.
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
        """Return all of it anew. known: the blocks that had an embedding at an earlier structure."""
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
        """Highest block number, 0 without a block."""
        return int(self.numbers[-1]) if self.numbers.size else 0

    @cached_property
    def live(self) -> Numbers:
        """Blocks of the graph."""
        return self.of(("raw", "consolidated"))

    @cached_property
    def searchable(self) -> Numbers:
        """Blocks of the keyword index."""
        return self.of(("raw", "consolidated", "archived"))

    @cached_property
    def with_vector(self) -> Numbers:
        """Blocks of the vector index."""
        return self.numbers[self.embedded]

    def of(self, statuses: Collection[str]) -> Numbers:
        """Return the blocks of these statuses."""
        chosen = np.array([status in statuses for status in STATUSES], dtype=np.bool_)
        return self.numbers[chosen[self.status] & (self.status >= 0)]
