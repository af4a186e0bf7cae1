"""The graph of near neighbours (HNSW, Malkov and Yashunin 2018) over 8-bit copies of the vectors, by usearch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from amgs.types import Vector

if TYPE_CHECKING:
    from usearch.index import Index

CONNECTIONS = 16
"""Neighbours of a vector on each level."""

EFFORT = 128
"""Candidates weighed while a vector is put in its place."""


class Nearby:
    """A graph mapped from a file, read-only; keys are block numbers."""

    FILE: ClassVar[str] = "nearby.usearch"
    look: ClassVar[int] = 8

    def __init__(self, path: Path, index: Index) -> None:
        self.path = path
        self._index = index

    @classmethod
    def view(cls, path: Path, dimension: int) -> Nearby:
        """Return the graph in a file; nothing is read before it is asked."""
        index = _empty(dimension)
        index.view(str(path))
        return cls(path, index)

    @classmethod
    def write(
        cls,
        path: Path,
        known: Nearby | None,
        left: NDArray[np.int64],
        fresh: Iterable[tuple[NDArray[np.int64], Vector]],
        dimension: int,
    ) -> None:
        """Write the graph of `known` without what has left and with what is fresh (numbers and unit vectors).

        One thread puts one vector after another in its place, so that equal stores get equal graphs.
        """
        index = _empty(dimension)
        if known is not None:
            index.load(str(known.path))
            if left.size:
                index.remove(left.astype(np.uint64))
        for numbers, vectors in fresh:
            index.add(numbers.astype(np.uint64), np.ascontiguousarray(vectors), threads=1)
        index.save(str(path))

    def nearest(self, query: Vector, count: int) -> NDArray[np.int64]:
        """Return numbers of about the `count` nearest, in no order that counts."""
        matches = self._index.search(query, count, threads=1)
        return np.asarray(matches.keys).astype(np.int64)


def _empty(dimension: int) -> Index:
    from usearch.index import Index  # here: small stores never need it

    return Index(ndim=dimension, metric="cos", dtype="i8", connectivity=CONNECTIONS, expansion_add=EFFORT)
