"""Every reinforcement of a block and every edge that an assembly walked, with where it came from (AMGS §8.4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from amgs.types import ReinforcementEvent


class ReinforcementStorage(Protocol):
    """The log of reinforcements and walks."""

    def append(self, ids: Sequence[str], event_type: str, at: datetime, source: str) -> None:
        """Log one event for each block."""
        ...

    def remove(self, block_id: str, event_type: str, at: datetime, source: str) -> None:
        """Take one event out of the log."""
        ...

    def of(self, block_id: str) -> tuple[ReinforcementEvent, ...]:
        """The events of one block, the oldest first."""
        ...

    def instants(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Running number of the block and microseconds since 1970 of every event, the oldest first: (n,) each."""
        ...

    def counts(self, ids: Iterable[str] | None = None) -> dict[str, int]:
        """How often each block was reinforced, of all blocks or of those named.

        Blocks without an event are missing.
        """
        ...

    def count(self, *, since: datetime) -> int:
        """How many events there were since an instant."""
        ...

    def append_walks(self, keys: Sequence[tuple[str, str, str]], at: datetime, source: str) -> None:
        """Log one walk for each edge (source, target, relation)."""
        ...

    def walks(self) -> dict[tuple[str, str, str], int]:
        """How often each edge (source, target, relation) led to a block that a verdict calls useful; edges that never
        did are missing.
        """
        ...

    def uses(self) -> dict[str, frozenset[str]]:
        """The occasions on which each block was used, by block; a block that never was is missing. Two blocks that
        share an occasion were used together: a verdict calls both useful in one assembly, or they were reinforced
        together. Having been selected by the same frame is none.
        """
        ...

    def miscounted(self) -> tuple[str, ...]:
        """Blocks whose counter disagrees with the log; empty in a sound store."""
        ...
