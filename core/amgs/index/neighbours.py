"""Find the nearest rows of a matrix for many queries at once: exactly, block by block, so that memory stays constant.

Consolidation uses it to find related blocks. Its slow twin in tests/unit/test_index_neighbours.py must agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs.index.vector_base import VectorRows
from amgs.types import Vector

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

    def joined(self, other: Near) -> Near:
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
            best = best.joined(_rank_pairs(asking, at + start, cosines[asking, at], queries.shape[0], limit))
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
