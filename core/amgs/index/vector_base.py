"""Define the base of a vector index: the saved vectors, mapped from disk, and their neighbour graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from amgs.extras import installed
from amgs.index.ascending import places
from amgs.index.neighbour_graph import Nearby
from amgs.index.snapshot_store import Generation
from amgs.types import Vector


class VectorRows(Protocol):
    """Unit vectors (n, d) that are read on demand; an array is the usual case."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, rows: Any, /) -> Vector:
        """Return the rows at some places, or of a slice: (m, d)."""
        ...

    def __matmul__(self, direction: Vector, /) -> Vector:
        """Return the product of every row with a vector (d,): (n,)."""
        ...


class Neighbours(Protocol):
    """Approximate nearest-neighbour search.

    look: how many times the wanted count to ask for, so that ranking by exact cosines has a choice.
    """

    look: ClassVar[int]

    def nearest(self, query: Vector, count: int) -> NDArray[np.int64]:
        """Return the numbers of about the `count` nearest to a unit vector (d,), in no particular order."""
        ...


@dataclass(frozen=True, eq=False)
class Base:
    """Saved vectors: numbers (n,) ascending, unit rows (n, d).

    total (d,), second (d, d): the sums of the rows and of their outer products, for the mean and deviation of cosines.
    nearby: the neighbour graph; None for a small base.
    """

    numbers: NDArray[np.int64]
    matrix: VectorRows
    total: NDArray[np.float64]
    second: NDArray[np.float64]
    nearby: Neighbours | None = None

    @classmethod
    def none(cls, dimension: int) -> Base:
        return cls(
            np.zeros(0, np.int64),
            np.zeros((0, dimension), np.float32),
            np.zeros(dimension),
            np.zeros((dimension, dimension)),
        )

    @classmethod
    def read(cls, generation: Generation) -> Base:
        """Return the base of a generation that `VectorIndex.write` wrote."""
        beside = generation.folder / Nearby.FILE
        return cls(
            generation.array("numbers"),
            generation.array("matrix"),
            generation.array("total"),
            generation.array("second"),
            Nearby.view(beside, generation.array("total").size) if beside.exists() and installed("usearch") else None,
        )

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each number, -1 for one that is not there: (m,)."""
        return places(self.numbers, numbers)
