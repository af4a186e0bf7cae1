"""The vectors of a built dataset as the base of a vector index: rows read when wanted, neighbours by partitions."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from amgs.index.lance.dataset import SearchDataset, told
from amgs.index.vector_base import Base
from amgs.types import Vector

VECTOR = "vector"

_KEPT = 20_000
"""Rows that were read last and are kept: what one query measures it measures several times."""
_PROBES = 64
"""Partitions that are looked through for a query; of a million vectors 32 bring 86 % of the fifty nearest, 48 bring
91 %."""
_BATCH = 8192


def base_of(dataset: SearchDataset) -> Base:
    """The vectors of a version; without an index of neighbours they are few, and are read whole."""
    space = dataset.built.space
    if space is None or not dataset.embedded.any():
        return Base.none(0 if space is None else space[1])
    numbers = dataset.numbers[dataset.embedded]
    rows = LanceRows(dataset, space[1])
    total, second = dataset.moments
    if not dataset.built.nearby:
        return Base(numbers, rows.whole(), total, second)
    return Base(numbers, rows, total, second, LanceNeighbours(dataset))


class LanceRows:
    """The unit vectors of a version (n, d), in rising number of their blocks."""

    def __init__(self, dataset: SearchDataset, dimension: int) -> None:
        self._dataset = dataset
        self._addresses = dataset.addresses[dataset.embedded]
        self._by_address = np.argsort(self._addresses, kind="stable")
        self.shape = (int(self._addresses.size), dimension)
        self._kept: dict[int, Vector] = {}
        self._lock = threading.Lock()

    def __getitem__(self, rows: Any, /) -> Vector:
        wanted = np.arange(self.shape[0])[rows] if isinstance(rows, slice) else np.asarray(rows)
        if wanted.size > _KEPT // 4:
            return self._read(wanted)
        asked = wanted.tolist()
        with self._lock:
            held = {row: self._kept[row] for row in asked if row in self._kept}
        missing = np.array(sorted({row for row in asked if row not in held}), dtype=np.int64)
        if missing.size:
            fresh = dict(zip(missing.tolist(), self._read(missing), strict=True))
            held |= fresh
            with self._lock:
                if len(self._kept) + len(fresh) > _KEPT:
                    self._kept.clear()
                self._kept |= fresh
        made = np.empty((len(asked), self.shape[1]), dtype=np.float32)
        for place, row in enumerate(asked):
            made[place] = held[row]
        return made

    def __matmul__(self, direction: Vector, /) -> Vector:
        product = np.zeros(self.shape[0], dtype=np.float32)
        for places, vectors in self._batches():
            product[places] = vectors @ direction
        return product

    def whole(self) -> Vector:
        """All rows: (n, d)."""
        made = np.empty(self.shape, dtype=np.float32)
        for places, vectors in self._batches():
            made[places] = vectors
        return made

    def _batches(self) -> Any:
        """Places and rows, in the order in which they lie."""
        with told(self._dataset.folder):
            scanner = self._dataset.blocks.scanner(
                columns=[VECTOR], filter="embedded", with_row_id=True, batch_size=_BATCH
            )
            for batch in scanner.to_batches():
                at = np.searchsorted(
                    self._addresses, batch.column("_rowid").to_numpy(), sorter=self._by_address
                )
                yield self._by_address[at], matrix_of(batch.column(VECTOR), self.shape[1])

    def _read(self, rows: NDArray[np.int64]) -> Vector:
        order = np.argsort(self._addresses[rows], kind="stable")  # as they lie: one pass over the file
        with told(self._dataset.folder):
            table = self._dataset.blocks._take_rows(self._addresses[rows[order]].tolist(), columns=[VECTOR])
        made = np.empty((rows.size, self.shape[1]), dtype=np.float32)
        made[order] = matrix_of(table[VECTOR].combine_chunks(), self.shape[1])
        return made


class LanceNeighbours:
    """What the index of partitions brings near a vector, in the order of 8-bit codes: of twice as many as are wanted
    none is missed that eight times as many hold.
    """

    look: ClassVar[int] = 2

    def __init__(self, dataset: SearchDataset) -> None:
        self._dataset = dataset

    def nearest(self, query: Vector, count: int) -> NDArray[np.int64]:
        """Numbers of about the `count` nearest."""
        asked = {"column": VECTOR, "q": query, "k": count, "nprobes": _PROBES}
        with told(self._dataset.folder):
            table = self._dataset.blocks.scanner(columns=["_rowid", "_distance"], nearest=asked).to_table()
        return self._dataset.numbers_at(table["_rowid"].to_numpy())


def matrix_of(column: Any, dimension: int) -> Vector:
    """A column of vectors without nulls as an array (n, d)."""
    return np.asarray(column.flatten().to_numpy(zero_copy_only=False), np.float32).reshape(-1, dimension)
