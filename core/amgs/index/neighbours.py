"""Find the nearest rows of vectors: exactly for many queries at once, in constant memory, or by a graph.
Consolidation finds related blocks by it. Its slow twin in tests/unit/test_index_neighbours.py must agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from amgs.extras import is_installed
from amgs.index.arrays import Generation, places
from amgs.types import Vector

if TYPE_CHECKING:
    from usearch.index import Index


CONNECTIONS = 16
"""Edges of a vector on each level of the graph."""

EFFORT = 128
"""Candidates compared while a vector is inserted."""


class Nearby:
    """Neighbour graph mapped from a file, read-only; keys are block numbers. look: see `Neighbours`.

    An HNSW graph (Malkov and Yashunin 2018) of usearch over 8-bit copies of the vectors; the caller measures again,
    exactly, the blocks it returns.
    """

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
            Nearby.view(beside, generation.array("total").size)
            if beside.exists() and is_installed("usearch")
            else None,
        )

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each number, -1 for one that is not there: (m,)."""
        return places(self.numbers, numbers)


_QUERIES, _COLUMNS = 512, 4096


@dataclass(frozen=True, slots=True)
class Near:
    """Nearest rows of m queries, best first. rows: (m, k), −1 where there are fewer. cosines: (m, k), −2 there."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]

    @classmethod
    def none(cls, queries: int, limit: int) -> Near:
        """Return nothing near any of the queries."""
        return cls(np.full((queries, limit), -1, dtype=np.int64), np.full((queries, limit), -2.0, dtype=np.float32))

    def join(self, other: Near) -> Near:
        """Return the nearest k of both, ties by row."""
        rows = np.concatenate([self.rows, other.rows], axis=1)
        cosines = np.concatenate([self.cosines, other.cosines], axis=1)
        order = np.lexsort((rows, -cosines), axis=1)[:, : self.rows.shape[1]]
        return Near(np.take_along_axis(rows, order, axis=1), np.take_along_axis(cosines, order, axis=1))


@dataclass(frozen=True, slots=True)
class ValueLimit:
    """Limits neighbours to rows whose value differs by at most `most` from the query's. queries: (m,). rows: (n,)."""

    queries: NDArray[np.float64]
    rows: NDArray[np.float64]
    most: float


def nearest(
    queries: Vector,
    matrix: VectorRows,
    limit: int,
    *,
    floor: float = -1.0,
    allowed: NDArray[np.bool_] | None = None,
    own: int | None = None,
    within: ValueLimit | None = None,
) -> Near:
    """Return the `limit` rows of matrix (n, d) with the highest cosine ≥ floor for each query (m, d), ties by row.

    All rows are unit vectors. allowed: (n,) mask of the rows that may be returned. own: the queries are the rows of the
    matrix from this index on, and none is its own neighbour. Takes m·n·d multiplications; memory does not grow with n.
    """
    near = Near.none(queries.shape[0], limit)
    if limit <= 0 or not matrix.shape[0]:
        return near
    for start in range(0, queries.shape[0], _QUERIES):
        asked = queries[start : start + _QUERIES]
        place = None if own is None else own + start
        some = None
        if within is not None:
            some = ValueLimit(within.queries[start : start + _QUERIES], within.rows, within.most)
        rows, cosines = _nearest_of_batch(asked, matrix, limit, floor, allowed, place, some)
        near.rows[start : start + _QUERIES], near.cosines[start : start + _QUERIES] = rows, cosines
    return near


def _nearest_of_batch(
    queries: Vector,
    matrix: VectorRows,
    limit: int,
    floor: float,
    allowed: NDArray[np.bool_] | None,
    own: int | None,
    within: ValueLimit | None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return rows and cosines of the nearest for a batch of queries; see `nearest`."""
    best = Near.none(queries.shape[0], limit)
    for start in range(0, matrix.shape[0], _COLUMNS):
        cosines = queries @ matrix[start : start + _COLUMNS].T
        if allowed is not None:
            cosines[:, ~allowed[start : start + _COLUMNS]] = -2.0
        if own is not None and own < start + cosines.shape[1] and own + queries.shape[0] > start:
            diagonal = np.arange(max(own, start), min(own + queries.shape[0], start + cosines.shape[1]))
            cosines[diagonal - own, diagonal - start] = -2.0
        if within is not None:
            apart = np.abs(within.queries[:, None] - within.rows[None, start : start + _COLUMNS])
            cosines[apart > within.most] = -2.0
        # Drop what is under the floor or under the last of the best so far.
        last = np.maximum(best.cosines[:, -1], np.float32(floor))
        good = cosines >= last[:, None]
        if limit < cosines.shape[1] and np.count_nonzero(good) > 8 * limit * queries.shape[0]:
            # Too many to sort: drop what is not among this part's own best.
            edge = np.partition(cosines, -limit, axis=1)[:, -limit]
            good &= cosines >= edge[:, None]
        asking, at = np.nonzero(good)
        if asking.size:
            best = best.join(_rank_pairs(asking, at + start, cosines[asking, at], queries.shape[0], limit))
    return best.rows, best.cosines


def _rank_pairs(
    asking: NDArray[np.int64], rows: NDArray[np.int64], cosines: NDArray[np.float32], queries: int, limit: int
) -> Near:
    """Return the best `limit` of the pairs (query, row) for each query."""
    order = np.lexsort((rows, -cosines, asking))
    asking, rows, cosines = asking[order], rows[order], cosines[order]
    place = np.arange(asking.size) - np.searchsorted(asking, asking)
    within = place < limit
    near = Near.none(queries, limit)
    near.rows[asking[within], place[within]] = rows[within]
    near.cosines[asking[within], place[within]] = cosines[within]
    return near
