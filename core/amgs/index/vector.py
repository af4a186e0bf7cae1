"""Compare a query's embedding with those of all blocks: the vector index, derived from the store's embeddings.

The saved part is mapped from disk, sorted by number (the base); later vectors are in memory (the tail). Small stores
are compared exactly, by a float32 product. A large base has a neighbour graph over 8-bit vectors; the blocks that it
returns are measured again exactly, so which blocks are found is approximate, but never their cosine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.errors import ModelError
from amgs.extras import is_installed
from amgs.index.arrays import contains, difference, places, save_arrays, union
from amgs.index.neighbours import Base, Near, Nearby, nearest
from amgs.types import Progress, Vector

FARTHEST_LOOK = 4096
"""Neighbours asked of the graph at most; beyond that the exact product is as fast."""

SMALLEST_SHARE = 0.05
"""Share of the store that a filter must pass for the graph to be used; below it the search is exact."""

FEW = 12
USUAL_DEVIATION = 0.1
"""With fewer than FEW cosines their deviation is mixed with the usual deviation: two may be equal by chance, and then a
third would be hundreds of deviations away.
"""

_CHUNK = 50_000
_PLACED = 2_000  # vectors put into the graph between two looks at whether to stop: a second or less
_FEW = 8
_REMEMBERED = 4


class VectorIndex:
    """Unit vectors by block number. Rows of the base come first, then those of the tail."""

    def __init__(self, dimension: int, base: Base | None = None) -> None:
        self.dimension = dimension
        self._base = base or Base.none(dimension)
        self._gone = np.zeros(self._base.numbers.size, dtype=np.bool_)
        self._matrix = np.zeros((0, dimension), dtype=np.float32)
        self._numbers = np.zeros(0, dtype=np.int64)
        self._row_of: dict[int, int] = {}
        self._shares = False
        # Rows that pass the last filters, with the filters themselves, which are compared by identity.
        self._cached_rows: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._measured: tuple[bytes, NDArray[np.float32]] = b"", np.zeros(0, np.float32)

    def copy(self) -> VectorIndex:
        """Return a copy that may be changed while this index is searched. They share the vectors as long as rows are
        only added, so only a single copy of an index may be changed.
        """
        clone = VectorIndex(self.dimension, self._base)
        clone._gone = self._gone.copy()
        clone._matrix, clone._numbers, clone._row_of = self._matrix, self._numbers, dict(self._row_of)
        clone._shares = True
        return clone

    def __len__(self) -> int:
        return self._gone.size - self.gone + len(self._row_of)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Numbers of its blocks, ascending: (n,)."""
        base_numbers = self._base.numbers[~self._gone] if self.gone else self._base.numbers
        return union(base_numbers, np.sort(self._numbers[: self.tail]))

    @cached_property
    def gone(self) -> int:
        """Number of base rows that were removed or replaced."""
        return int(self._gone.sum())

    @property
    def tail(self) -> int:
        """Number of vectors in the tail."""
        return len(self._row_of)

    @property
    def approximate(self) -> bool:
        """Whether searches use the neighbour graph."""
        return self._base.nearby is not None

    # --- writing ----------------------------------------------------------------------------------------

    def add(self, numbers: NDArray[np.int64] | Sequence[int], vectors: Vector) -> None:
        """Add or replace vectors, scaled to unit length: numbers (m,), vectors (m, d); zero vectors stay zero.

        Raises ModelError for another dimension, as after a change of the embedding model.
        """
        matrix = np.asarray(vectors, dtype=np.float32).reshape(len(numbers), -1)
        if len(numbers) and matrix.shape[1] != self.dimension:
            raise ModelError(
                f"Embeddings of {matrix.shape[1]} values do not fit an index of {self.dimension}.",
                way_out="Use the embedding model that the store was created with.",
            )
        wanted = np.asarray(numbers, dtype=np.int64)
        self._drop_from_base(wanted)
        self._reserve(self.tail + wanted.size)
        if any(number in self._row_of for number in wanted.tolist()):
            self._stop_sharing()
        rows = [self._row_of.setdefault(number, len(self._row_of)) for number in wanted.tolist()]
        self._matrix[rows], self._numbers[rows] = to_unit_length(matrix), wanted

    def remove(self, numbers: NDArray[np.int64] | Sequence[int]) -> None:
        """Remove vectors; unknown numbers are ignored. In the tail the last row moves to the free place."""
        wanted = np.asarray(numbers, dtype=np.int64)
        self._drop_from_base(wanted)
        if any(number in self._row_of for number in wanted.tolist()):
            self._stop_sharing()
        for number in wanted.tolist():
            row = self._row_of.pop(number, None)
            last = len(self._row_of)
            if row is not None and row != last:
                self._matrix[row] = self._matrix[last]
                self._numbers[row] = self._numbers[last]
                self._row_of[int(self._numbers[row])] = row

    def write(self, folder: Path, *, approximate_from: int, progress: Progress | None = None) -> None:
        """Save all vectors in a folder as the base of the next index; from `approximate_from` vectors on with the
        neighbour graph. Raises Cancelled when `progress` does.
        """
        numbers = self.numbers
        shape = (numbers.size, self.dimension)
        matrix = np.lib.format.open_memmap(folder / "matrix.npy", mode="w+", dtype=np.float32, shape=shape)
        total, second = np.zeros(self.dimension), np.zeros((self.dimension, self.dimension))
        for start in range(0, numbers.size, _CHUNK):
            rows = self._take(self._locate(numbers[start : start + _CHUNK]))
            matrix[start : start + _CHUNK] = rows
            total += rows.sum(axis=0, dtype=np.float64)
            second += rows.T @ rows
        matrix.flush()
        save_arrays(folder, {"numbers": numbers, "total": total, "second": second})
        if numbers.size >= approximate_from and is_installed("usearch"):
            base_numbers = self._base.numbers[~self._gone]
            nearby = self._base.nearby if base_numbers.size > 0.8 * self._gone.size else None
            known = nearby if isinstance(nearby, Nearby) else None
            left = self._base.numbers[self._gone] if known is not None else base_numbers[:0]
            fresh = difference(numbers, base_numbers) if known is not None else numbers
            Nearby.write(
                folder / Nearby.FILE,
                known,
                left,
                ((part, matrix[places(numbers, part)]) for part in _iterate_batches(fresh, progress)),
                self.dimension,
            )

    # --- reading ----------------------------------------------------------------------------------------

    def compare(self, query: Vector, allowed: NDArray[np.int64] | None = None) -> QueryVectors:
        """Compare a query (d,) with the blocks. allowed: numbers, ascending, that may be returned; None: all. A zero
        query is near nothing.
        """
        direction = to_unit_length(np.asarray(query, dtype=np.float32).reshape(1, -1))[0]
        return QueryVectors(self, direction, allowed)

    def search(self, query: Vector, limit: int, allowed: NDArray[np.int64] | None = None) -> list[tuple[int, float]]:
        """Return the best `limit` (number, cosine) for a query (d,), ties by number; see `compare`."""
        return self.compare(query, allowed).best(limit)

    def nearest(self, queries: Vector, limit: int, *, floor: float, allowed: NDArray[np.int64] | None = None) -> Near:
        """Return exactly the best `limit` blocks with cosine ≥ floor for each of m unit queries (m, d).

        The result's rows are numbers. allowed: numbers, ascending, that may be returned; None: all.
        """
        after = self._base.numbers.size
        mask = np.zeros(after + self.tail, dtype=np.bool_)
        mask[self._allowed_rows(allowed)] = True
        near = Near.none(queries.shape[0], limit)
        for matrix, numbers, passes in (
            (self._base.matrix, self._base.numbers, mask[:after]),
            (self._matrix[: self.tail], self._numbers[: self.tail], mask[after:]),
        ):
            if numbers.size:
                part = nearest(queries, matrix, limit, floor=floor, allowed=passes)
                near = near.join(Near(np.where(part.rows >= 0, numbers[part.rows], -1), part.cosines))
        return near

    def cosines(self, query: Vector, numbers: Sequence[int]) -> dict[int, float]:
        """Return the cosines of those of these blocks that have a vector, by number."""
        return self.compare(query).of(numbers)

    def pair_lengths(self, firsts: NDArray[np.int64], seconds: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the length (m,) of the sum of each pair's unit vectors, 0 to 2; 0 where either has none."""
        lengths = np.zeros(firsts.size, dtype=np.float32)
        first, second = self._locate(firsts), self._locate(seconds)
        both = np.flatnonzero((first >= 0) & (second >= 0))
        if both.size:
            lengths[both] = np.linalg.norm(self._take(first[both]) + self._take(second[both]), axis=1)
        return lengths

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vector]:
        """Return the unit vectors (d,) of those of these blocks that have a vector, by number."""
        wanted = np.asarray(numbers, dtype=np.int64)
        rows = self._locate(wanted)
        present = rows >= 0
        return dict(zip(wanted[present].tolist(), self._take(rows[present]), strict=True))

    # --- rows of base and tail together; QueryVectors uses these too ------------------------------------

    def _locate(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each number in base and tail together, -1 for a block without a vector: (m,)."""
        rows = self._base.rows(numbers)
        if self.gone:
            rows = np.where((rows >= 0) & self._gone[rows], -1, rows)
        if self._row_of:
            after = self._base.numbers.size
            late = np.array([self._row_of.get(n, -1) for n in numbers.tolist()], dtype=np.int64)
            rows = np.where(late >= 0, late + after, rows)
        return rows

    def _take(self, rows: NDArray[np.int64]) -> Vector:
        """Return the unit vectors of rows of base and tail together: (m, d)."""
        after = self._base.numbers.size
        late = rows >= after
        if not late.any():
            return np.asarray(self._base.matrix[rows])
        if late.all():
            return self._matrix[rows - after]
        taken = np.zeros((rows.size, self.dimension), dtype=np.float32)
        taken[~late] = self._base.matrix[rows[~late]]
        taken[late] = self._matrix[rows[late] - after]
        return taken

    def _allowed_rows(self, allowed: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return the rows (k,) that a filter passes, cached for the last filters."""
        for asked, rows in self._cached_rows:
            if asked is allowed:
                return rows
        if allowed is not None and allowed.size * _FEW < len(self):
            rows = np.sort(self._locate(allowed))
            return rows[rows >= 0]
        numbers = np.concatenate([self._base.numbers, self._numbers[: self.tail]])
        passes = np.ones(numbers.size, dtype=np.bool_) if allowed is None else contains(allowed, numbers)
        passes[: self._gone.size] &= ~self._gone
        rows = np.flatnonzero(passes)
        if allowed is not None:
            self._cached_rows = [(allowed, rows), *self._cached_rows[: _REMEMBERED - 1]]
        return rows

    def _numbers_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of rows of base and tail together: (m,)."""
        after = self._base.numbers.size
        late = rows >= after
        numbers = np.zeros(rows.size, dtype=np.int64)
        numbers[~late] = self._base.numbers[rows[~late]]
        numbers[late] = self._numbers[rows[late] - after]
        return numbers

    def _drop_from_base(self, numbers: NDArray[np.int64]) -> None:
        """Mark these blocks' rows in the base as gone, since they are removed or will be in the tail."""
        rows = self._base.rows(numbers)
        self._gone[rows[rows >= 0]] = True
        self._cached_rows, self._measured = [], (b"", np.zeros(0, np.float32))
        self.__dict__.pop("gone", None)

    def _stop_sharing(self) -> None:
        """Copy the tail if another index shares it, before rows in it change."""
        if self._shares:
            self._matrix, self._numbers, self._shares = self._matrix.copy(), self._numbers.copy(), False

    def _reserve(self, rows: int) -> None:
        """Grow the tail's arrays to at least so many rows."""
        if rows <= self._matrix.shape[0]:
            return
        size = max(rows, min(2 * self._matrix.shape[0], self._matrix.shape[0] + 100_000), 64)
        matrix = np.zeros((size, self.dimension), dtype=np.float32)
        matrix[: self.tail] = self._matrix[: self.tail]
        numbers = np.zeros(size, dtype=np.int64)
        numbers[: self.tail] = self._numbers[: self.tail]
        self._matrix, self._numbers = matrix, numbers


class QueryVectors:
    """Cosines of a query with the blocks of an index, computed on demand, for the index of that moment.

    exact: whether all allowed blocks are measured; else the neighbour graph proposes the nearest.
    """

    def __init__(self, index: VectorIndex, direction: Vector, allowed: NDArray[np.int64] | None) -> None:
        self._index = index
        self._direction = direction
        self._rows = index._allowed_rows(allowed) if direction.any() else np.zeros(0, dtype=np.int64)
        few = self._rows.size < SMALLEST_SHARE * max(len(index), 1)
        self.exact = few or not index.approximate
        self._whole = self.exact and not (few and index.approximate)
        self._added: dict[int, float] = {}

    def add(self, number: int, vector: Vector) -> None:
        """Add a block that is not in the index, by its unit vector (d,); from then on `of` returns its cosine."""
        self._added[number] = round(float(np.clip(vector @ self._direction, -1.0, 1.0)), 6)

    def best(self, limit: int) -> list[tuple[int, float]]:
        """Return the best `limit` (number, cosine) among the allowed blocks, ties by number."""
        if limit <= 0 or not self._rows.size:
            return []
        rows = None if self.exact else self._near(limit)
        rows, cosines = (self._rows, self._allowed_cosines) if rows is None else (rows, self._measure_cosines(rows))
        if limit < cosines.size:
            # All that tie with the last, so that they are cut by number.
            edge = np.partition(cosines, cosines.size - limit)[cosines.size - limit]
            top = np.flatnonzero(cosines >= edge)
        else:
            top = np.arange(cosines.size)
        numbers = self._index._numbers_of(rows[top])
        order = np.lexsort((numbers, -cosines[top]))[:limit]
        return list(zip(numbers[order].tolist(), _clip_cosines(cosines[top[order]]).tolist(), strict=True))

    def of(self, numbers: Iterable[int]) -> dict[int, float]:
        """Return the cosines of those of these blocks that have a vector, by number, allowed or not."""
        wanted = np.array(list(numbers), dtype=np.int64)
        rows = self._index._locate(wanted)
        present = rows >= 0
        beside = {n: self._added[n] for n in wanted[~present].tolist() if n in self._added}
        if not present.any():
            return beside
        cosines = self._cosines[rows[present]] if self._whole else self._measure_cosines(rows[present])
        return dict(zip(wanted[present].tolist(), _clip_cosines(cosines).tolist(), strict=True)) | beside

    def nearer(self, cosine: float) -> int:
        """Return how many allowed blocks have a greater cosine than this; measures all of them."""
        return int((_clip_cosines(self._allowed_cosines) > cosine).sum())

    @cached_property
    def spread(self) -> tuple[float, float]:
        """Mean and standard deviation of the cosines of all allowed blocks; (0, 0) where there are none.

        With a neighbour graph they are over the whole index, from the sums saved with the base: the mean is the product
        with the mean vector, the mean square that with the second moments. For a few cosines see USUAL_DEVIATION.
        """
        if not self._rows.size:
            return 0.0, 0.0
        if self.exact:
            deviation = float(self._allowed_cosines.std(dtype=np.float64))
            few = max(1.0 - self._allowed_cosines.size / FEW, 0.0)
            deviation += few * max(USUAL_DEVIATION - deviation, 0.0)
            return _round_statistics(float(self._allowed_cosines.mean(dtype=np.float64)), deviation)
        index, query = self._index, self._direction.astype(np.float64)
        left = index._take(np.flatnonzero(index._gone)) @ query
        late = index._matrix[: index.tail] @ query
        size = len(index)
        mean = (float(index._base.total @ query) - left.sum() + late.sum()) / size
        square = (float(query @ index._base.second @ query) - (left**2).sum() + (late**2).sum()) / size
        return _round_statistics(mean, float(np.sqrt(max(square - mean * mean, 0.0))))

    @cached_property
    def _cosines(self) -> NDArray[np.float32]:
        """Cosines (n,) of all rows of base and tail, cached for the parts of a frame, which ask the same question."""
        index, asked = self._index, self._direction.tobytes()
        known, cosines = index._measured
        if known != asked:
            cosines = index._base.matrix @ self._direction
            if index.tail:
                cosines = np.concatenate([cosines, index._matrix[: index.tail] @ self._direction])
            index._measured = asked, cosines
        return cosines

    @cached_property
    def _allowed_cosines(self) -> NDArray[np.float32]:
        """Cosines (k,) of the allowed rows."""
        if self.exact and not self._whole:
            return self._measure_cosines(self._rows)
        whole = self._rows.size == self._cosines.size
        return self._cosines if whole else self._cosines[self._rows]

    def _measure_cosines(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.asarray(self._index._take(rows) @ self._direction)

    def _near(self, limit: int) -> NDArray[np.int64] | None:
        """Return at least `limit` near, allowed rows from the neighbour graph; None where it gives fewer."""
        index = self._index
        nearby = index._base.nearby
        if nearby is None:
            return None
        look = int(nearby.look * limit * len(index) / self._rows.size) + 1
        if look > FARTHEST_LOOK:
            return None
        base_rows = index._base.rows(np.sort(nearby.nearest(self._direction, look)))
        late = np.arange(index.tail, dtype=np.int64) + index._base.numbers.size
        rows = np.concatenate([base_rows[base_rows >= 0], late])
        rows = rows[contains(self._rows, rows)]
        return rows if rows.size >= min(limit, self._rows.size) else None


def to_unit_length(vectors: Vector) -> Vector:
    """Return (n, d) scaled to unit length; a zero or non-finite row becomes zero."""
    clean = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, np.float32(0.0))
    lengths = np.linalg.norm(clean, axis=1, keepdims=True)
    return np.asarray(np.divide(clean, lengths, out=np.zeros_like(clean), where=lengths > 0), dtype=np.float32)


def _iterate_batches(numbers: NDArray[Any], progress: Progress | None) -> Iterable[NDArray[Any]]:
    """Yield the numbers in batches, reporting progress between them so that it can be cancelled."""
    for start in range(0, numbers.size, _PLACED):
        if progress is not None:
            progress(start, numbers.size, "finding neighbours")
        yield numbers[start : start + _PLACED]


def _clip_cosines(cosines: NDArray[np.float32]) -> NDArray[np.float64]:
    # The last bits of a product depend on the size of the matrix, and a score must not.
    return np.clip(cosines.astype(np.float64), -1.0, 1.0).round(5)


def _round_statistics(mean: float, deviation: float) -> tuple[float, float]:
    # As the cosines are.
    return round(mean, 6), round(deviation, 6)
