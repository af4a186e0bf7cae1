"""Find approximate nearest neighbours in large stores with usearch: an HNSW graph (Malkov and Yashunin 2018) over 8-bit
copies of the vectors. `vector` measures the blocks it returns again, exactly.
"""

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
"""Edges of a vector on each level of the graph."""

EFFORT = 128
"""Candidates compared while a vector is inserted."""


class Nearby:
    """Neighbour graph mapped from a file, read-only; keys are block numbers. look: see `Neighbours`."""

    FILE: ClassVar[str] = "nearby.usearch"
    look: ClassVar[int] = 8

    def __init__(self, path: Path, index: Index) -> None:
        self.path = path
        self._index = index

    @classmethod
    def view(cls, path: Path, dimension: int) -> Nearby:
        """Map the graph in a file; its pages are read on use."""
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
        """Write a graph: that of `known` without the numbers in `left`, and with the `fresh` numbers and unit vectors.

        A single thread inserts them in order, so that equal stores get equal graphs.
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
        """Return the numbers of about the `count` nearest vectors, in no particular order."""
        matches = self._index.search(query, count, threads=1)
        return np.asarray(matches.keys).astype(np.int64)


def _empty(dimension: int) -> Index:
    from usearch.index import Index  # here: small stores never need it

    return Index(ndim=dimension, metric="cos", dtype="i8", connectivity=CONNECTIONS, expansion_add=EFFORT)
