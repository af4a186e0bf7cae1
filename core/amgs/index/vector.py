"""The vector index: exact cosine by one float32 product; derived from the store's embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from amgs.errors import ModelError
from amgs.model import Vector


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

    def search(
        self, query: Vector, limit: int, allowed: NDArray[np.int64] | None = None
    ) -> list[tuple[int, float]]:
        """The best `limit` (number, cosine) among the allowed numbers (ascending; None: all); ties by number.

        query: (d,). A zero query finds nothing.
        """
        rows = self._rows(allowed)
        direction = unit(np.asarray(query, dtype=np.float32).reshape(1, -1))[0]
        if limit <= 0 or not rows.size or not direction.any():
            return []
        whole = rows.size == len(self)
        cosines = (self._matrix[: len(self)] if whole else self._matrix[rows]) @ direction
        numbers = self._numbers[: len(self)] if whole else self._numbers[rows]
        if limit < cosines.size:
            # Everything as good as the last one in, so that ties at the edge are cut by number.
            edge = np.partition(cosines, cosines.size - limit)[cosines.size - limit]
            best = np.flatnonzero(cosines >= edge)
        else:
            best = np.arange(cosines.size)
        order = best[np.lexsort((numbers[best], -cosines[best]))][:limit]
        return [(int(numbers[i]), _clipped(float(cosines[i]))) for i in order]

    def cosines(self, query: Vector, numbers: Sequence[int]) -> dict[int, float]:
        """Cosine of each given block that has a vector."""
        known = [number for number in numbers if number in self._row_of]
        if not known:
            return {}
        direction = unit(np.asarray(query, dtype=np.float32).reshape(1, -1))[0]
        values = self._matrix[[self._row_of[number] for number in known]] @ direction
        return {number: _clipped(float(value)) for number, value in zip(known, values, strict=True)}

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
