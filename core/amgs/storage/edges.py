"""Edges: typed, weighted, directed relations that decay on their own (AMGS §3.2).

An edge is known by its source, target and relation; there is one of each at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from amgs.types import Edge, EdgeKey


@dataclass(frozen=True, eq=False)
class EdgeColumns:
    """All edges between live blocks as arrays of length m; source and target are running numbers of blocks.

    Live: neither archived nor pruned. Instants are microseconds since 1970.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    relation: NDArray[np.object_]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    created: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]

    @classmethod
    def none(cls) -> EdgeColumns:
        """No edges."""
        whole, real = np.zeros(0, np.int64), np.zeros(0)
        return cls(whole, whole, np.zeros(0, dtype=object), real, real, whole, whole, real)


@dataclass(frozen=True, eq=False)
class WalkColumns:
    """Walked edges as arrays of length w; columns as those of EdgeColumns, reinforced: the last walk."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    relation: NDArray[np.object_]
    reinforced: NDArray[np.int64]


class EdgeStorage(Protocol):
    """Edges one by one and as columns."""

    def insert(self, edges: Sequence[Edge]) -> tuple[Edge, ...]:
        """Add the edges whose key is not there yet; returns those added. Keys given twice count once."""
        ...

    def put(self, edges: Sequence[Edge]) -> None:
        """Write edges, in place of those with the same key."""
        ...

    def delete(self, keys: Iterable[EdgeKey]) -> None:
        """Take edges out; unknown keys are passed over."""
        ...

    def reinforce(self, keys: Iterable[EdgeKey], at: datetime) -> None:
        """Reset the decay clock of edges that were walked."""
        ...

    def existing(self, keys: Iterable[EdgeKey]) -> set[EdgeKey]:
        """Which of the keys the store holds."""
        ...

    def get(self, keys: Iterable[EdgeKey]) -> dict[EdgeKey, Edge]:
        """The edges with these keys, by key."""
        ...

    def everything(self) -> tuple[Edge, ...]:
        """All edges, sorted by source, target and relation."""
        ...

    def touching(self, ids: Iterable[str]) -> tuple[Edge, ...]:
        """Edges that begin or end at one of the blocks."""
        ...

    def table(self) -> EdgeColumns:
        """The edge list for materialising the graph (AMGS §5.3), sorted by source, target and relation."""
        ...

    def changed(self, since: int) -> frozenset[EdgeKey] | None:
        """The keys of the edges that were written or taken out after revision `since`, and maybe of a few more; None
        where it is not known: what a session before this one did, and whole stores.
        """
        ...

    def rows(self, keys: Iterable[EdgeKey]) -> EdgeColumns:
        """Of the `table` the rows with these keys."""
        ...

    def walked(self, since: int) -> WalkColumns:
        """The edges walked at or after an instant (microseconds since 1970), each once."""
        ...

    def count(self) -> int:
        """How many edges there are."""
        ...

    def faded(self, now: datetime, below: float) -> int:
        """How many edges have a strength (weight × confidence × decay) under a value."""
        ...

    def leading_to(self, ids: Sequence[str]) -> dict[str, int]:
        """How many edges lead to each of these blocks; those without one are left out."""
        ...

    def alone(self) -> int:
        """How many consolidated blocks no edge touches."""
        ...

    def dangling(self) -> tuple[tuple[EdgeKey, str], ...]:
        """Edges that end at a block that is missing or pruned, each with what is wrong.

        Empty in a sound store.
        """
        ...

    def repeated(self) -> tuple[EdgeKey, ...]:
        """Keys that more than one edge has; empty in a sound store."""
        ...

    def out_of_range(self) -> tuple[tuple[EdgeKey, str], ...]:
        """Edges with numbers that no edge may have, each with what is wrong; empty in a sound store."""
        ...
