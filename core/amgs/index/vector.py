"""The vector index: exact cosine by one float32 product; derived from the store's embeddings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from amgs.errors import ModelError
from amgs.index.neighbours import Near, nearest
from amgs.model import Vector


@dataclass(frozen=True, eq=False)
class Comparison:
    """A query beside every vector: numbers (n,), cosines (n,), and the rows of those that may be found."""

    numbers: NDArray[np.int64]
    cosines: NDArray[np.float32]
    rows: NDArray[np.int64]
    row_of: Mapping[int, int]

    def best(self, limit: int) -> list[tuple[int, float]]:
        """The best `limit` (number, cosine) of those that may be found; ties by number."""
        if limit <= 0 or not self.rows.size:
            return []
        cosines, numbers = self.cosines[self.rows], self.numbers[self.rows]
        if limit < cosines.size:
            # Everything as good as the last one in, so that ties at the edge are cut by number.
            edge = np.partition(cosines, cosines.size - limit)[cosines.size - limit]
            top = np.flatnonzero(cosines >= edge)
        else:
            top = np.arange(cosines.size)
        order = top[np.lexsort((numbers[top], -cosines[top]))][:limit]
        return [(int(numbers[i]), _clipped(float(cosines[i]))) for i in order]

    def of(self, numbers: Iterable[int]) -> dict[int, float]:
        """Cosine of each given block that has a vector."""
        return {n: _clipped(float(self.cosines[self.row_of[n]])) for n in numbers if n in self.row_of}

    @cached_property
    def spread(self) -> tuple[float, float]:
        """Mean and standard deviation of the cosines of all that may be found; (0, 0) of none."""
        if not self.rows.size:
            return 0.0, 0.0
        held = self.cosines[self.rows] if self.rows.size < self.cosines.size else self.cosines
        # Rounded as the cosines are.
        return round(float(held.mean(dtype=np.float64)), 6), round(float(held.std(dtype=np.float64)), 6)


class VectorIndex:
    """Unit vectors by block number. Rows are appended; a removed row is overwritten by the last."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._matrix = np.zeros((0, dimension), dtype=np.float32)
        self._numbers = np.zeros(0, dtype=np.int64)
        self._row_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Numbers of the blocks it holds, ascending: (n,)."""
        return np.sort(self._numbers[: len(self)])

    def add(self, numbers: NDArray[np.int64] | Sequence[int], vectors: Vector) -> None:
        """Add or replace vectors: numbers (m,), vectors (m, d); scaled to unit length, zero vectors stay
        zero.

        Raises ModelError when the dimension is another, as after a change of the embedding model.
        """
        given = np.asarray(vectors, dtype=np.float32).reshape(len(numbers), -1)
        if len(numbers) and given.shape[1] != self.dimension:
            raise ModelError(
                f"Embeddings of {given.shape[1]} values do not fit an index of {self.dimension}.",
                way_out="Use the embedding model that the store was made with.",
            )
        self._reserve(len(self) + len(numbers))
        for number, vector in zip(np.asarray(numbers).tolist(), unit(given), strict=True):
            row = self._row_of.setdefault(number, len(self._row_of))
            self._matrix[row] = vector
            self._numbers[row] = number

    def remove(self, numbers: NDArray[np.int64] | Sequence[int]) -> None:
        """Forget vectors; unknown numbers are left alone."""
        for number in np.asarray(numbers).tolist():
            row = self._row_of.pop(number, None)
            last = len(self._row_of)
            if row is not None and row != last:
                self._matrix[row] = self._matrix[last]
                self._numbers[row] = self._numbers[last]
                self._row_of[int(self._numbers[row])] = row

    def compare(self, query: Vector, allowed: NDArray[np.int64] | None = None) -> Comparison:
        """The cosine of every block it holds, by one product. allowed: numbers (ascending) that may be found;
        None: all. query: (d,); a zero query is like nothing.
        """
        size = len(self)
        direction = unit(np.asarray(query, dtype=np.float32).reshape(1, -1))[0]
        cosines = self._matrix[:size] @ direction
        rows = self._rows(allowed) if direction.any() else np.zeros(0, dtype=np.int64)
        return Comparison(self._numbers[:size], cosines, rows, self._row_of)

    def search(
        self, query: Vector, limit: int, allowed: NDArray[np.int64] | None = None
    ) -> list[tuple[int, float]]:
        """The best `limit` (number, cosine) among the allowed numbers (ascending; None: all); ties by number.

        query: (d,). A zero query finds nothing.
        """
        return self.compare(query, allowed).best(limit)

    def nearest(
        self, queries: Vector, limit: int, *, floor: float, allowed: NDArray[np.int64] | None = None
    ) -> Near:
        """The best `limit` blocks for each of many unit queries (m, d), cosine ≥ floor; rows are numbers.

        allowed: numbers (ascending) that may be found; None: all.
        """
        mask = None
        if allowed is not None:
            mask = np.zeros(len(self), dtype=np.bool_)
            mask[self._rows(allowed)] = True
        found = nearest(queries, self._matrix[: len(self)], limit, floor=floor, allowed=mask)
        if not len(self):
            return found
        return Near(np.where(found.rows >= 0, self._numbers[found.rows], -1), found.cosines)

    def cosines(self, query: Vector, numbers: Sequence[int]) -> dict[int, float]:
        """Cosine of each given block that has a vector."""
        return self.compare(query).of(numbers)

    def together(self, firsts: NDArray[np.int64], seconds: NDArray[np.int64]) -> NDArray[np.float32]:
        """Length of the sum of each pair's unit vectors, 0 to 2; 0 where one has none: (m,)."""
        lengths = np.zeros(firsts.size, dtype=np.float32)
        places = [(self._row_of.get(a), self._row_of.get(b)) for a, b in zip(firsts, seconds, strict=True)]
        both = [(i, a, b) for i, (a, b) in enumerate(places) if a is not None and b is not None]
        if both:
            at, first, second = (np.array(column, dtype=np.int64) for column in zip(*both, strict=True))
            lengths[at] = np.linalg.norm(self._matrix[first] + self._matrix[second], axis=1)
        return lengths

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        """The unit vector (d,) of each given block that has one."""
        return {n: self._matrix[self._row_of[n]].copy() for n in numbers if n in self._row_of}

    def _rows(self, allowed: NDArray[np.int64] | None) -> NDArray[np.int64]:
        size = len(self)
        if allowed is None:
            return np.arange(size, dtype=np.int64)
        if not allowed.size:
            return np.zeros(0, dtype=np.int64)
        held = self._numbers[:size]
        at = np.minimum(np.searchsorted(allowed, held), allowed.size - 1)
        return np.flatnonzero(allowed[at] == held).astype(np.int64)

    def _reserve(self, rows: int) -> None:
        if rows <= self._matrix.shape[0]:
            return
        size = max(rows, 2 * self._matrix.shape[0], 64)
        matrix = np.zeros((size, self.dimension), dtype=np.float32)
        matrix[: len(self)] = self._matrix[: len(self)]
        numbers = np.zeros(size, dtype=np.int64)
        numbers[: len(self)] = self._numbers[: len(self)]
        self._matrix, self._numbers = matrix, numbers


def unit(vectors: Vector) -> Vector:
    """(n, d) scaled to unit length; a zero or non-finite row becomes zero."""
    clean = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, np.float32(0.0))
    lengths = np.linalg.norm(clean, axis=1, keepdims=True)
    return np.asarray(
        np.divide(clean, lengths, out=np.zeros_like(clean), where=lengths > 0), dtype=np.float32
    )


def _clipped(cosine: float) -> float:
    # Rounded: the last bits of a product depend on the size of the matrix, and a score must not.
    return round(min(1.0, max(-1.0, cosine)), 5)
