"""The keyword index and the vectors of a store, kept up to date.

Every call is made under the lock of `Derived`, inside a snapshot of the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from amgs.errors import ModelError, StoreCorruptError, StoreError
from amgs.index.ascending import difference
from amgs.index.keyword import KeywordIndex
from amgs.index.snapshot_store import Stamp
from amgs.index.vector import VectorIndex
from amgs.index.vector_base import Base
from amgs.text.plural import plural
from amgs.types import BlockFilter, Fault, Progress
from amgs.types.block import untold

if TYPE_CHECKING:
    from amgs.derived.kept import KeptArrays
    from amgs.derived.roll import Roll
    from amgs.index.lexical import LexicalIndex
    from amgs.storage.store import Storage
    from amgs.text.embedding import Embedder

SEARCHABLE = BlockFilter(statuses=("raw", "consolidated", "archived"))
"""Blocks that the keyword index contains."""
_BATCH = 2000


def texts(storage: Storage, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield running number and text to index of each block: its content, below headings that it does not contain
    itself.
    """
    for start in range(0, len(numbers), _BATCH):
        for number, content, meta in storage.blocks.texts(numbers[start : start + _BATCH]):
            yield number, "\n".join((*untold(content, meta), content))


class SearchIndexes:
    """Keyword index and vectors. folder: where the keyword index is stored, None for memory. roll: returns the list of
    blocks at a structure counter.
    """

    def __init__(
        self,
        storage: Storage,
        embedder: Embedder,
        arrays: KeptArrays,
        *,
        folder: Path | None,
        roll: Callable[[int], Roll],
    ) -> None:
        self._storage = storage
        self._embedder = embedder
        self._kept = arrays
        self._roll = roll
        own = None if folder is None else folder / "keyword"
        self._keyword = KeywordIndex.open(own, read_only=storage.read_only)
        self._words: LexicalIndex | None = None
        self._words_at = -1
        self._vectors: VectorIndex | None = None
        self._vectors_at = -1

    def words(self, structure: int) -> LexicalIndex:
        """Return the keyword index at a structure counter, which does not change any more.

        Raises StoreError if the store's embeddings come from another encoder.
        """
        if self._words is None or self._words_at != structure:
            check_space(self._storage, self._embedder)
            self._words, self._words_at = self.look_up_words(), structure
        return self._words

    def look_up_words(self) -> LexicalIndex:
        """Return the keyword index after catching up, whatever the encoder."""
        self.catch_up()
        return self._keyword.view()

    def vectors(self, structure: int) -> VectorIndex:
        """Return the vectors at a structure counter, which do not change any more."""
        index, at = self._vectors, self._vectors_at
        if index is None:
            index, at = self._open_vectors()
        elif at != structure:
            index = index.copy()
        if at != structure:
            index.remove(difference(index.numbers, self._roll(structure).with_vector))
            for changed in self._storage.block_columns.embedding_batches(since=at):
                index.add(changed.numbers, changed.matrix)
        self._vectors, self._vectors_at = index, structure
        return index

    def latest_vectors(self) -> tuple[VectorIndex | None, int]:
        """Return the last requested vectors and their structure counter; None and −1 before the first."""
        return self._vectors, self._vectors_at

    def reopen_vectors(self) -> None:
        """Drop the vectors, so that the next request reads the saved ones and updates them."""
        self._vectors, self._vectors_at = None, -1

    def catch_up(self, progress: Progress | None = None) -> None:
        """Update the keyword index to the present structure."""
        stamp = Stamp(self._storage.meta.store_id(), self._storage.structure_counter)
        if stamp != self._keyword.stamp or not self._keyword.compared:
            roll = self._roll(stamp.revision)
            self._keyword.catch_up(roll.searchable, lambda some: texts(self._storage, some), stamp, progress)

    def forget(self) -> None:
        """Drop cached indexes, after the store was bulk-loaded."""
        self._words, self._words_at = None, -1
        self._vectors, self._vectors_at = None, -1

    def begin_anew(self) -> None:
        """Delete the files of the keyword index and start an empty one."""
        self._keyword = self._keyword.clear()

    def close(self) -> None:
        """Close the keyword index, which writes it to disk."""
        self._keyword.close()

    def faults(self) -> list[Fault]:
        """Return where an index differs from the store, after catching up."""
        index_faults = self._keyword_faults()
        space = self._storage.meta.embedding_space()
        if space is None or space == (self._embedder.name, self._embedder.dimension):
            index_faults += self._vector_faults()
        return index_faults

    def _keyword_faults(self) -> list[Fault]:
        self.catch_up()
        self._keyword.recheck()
        wanted = self._storage.block_columns.numbers(SEARCHABLE)
        off = np.setxor1d(self._keyword.numbers, wanted).size
        return [Fault("keyword index", _differing(off), repairable=True)] if off else []

    def _vector_faults(self) -> list[Fault]:
        try:
            numbers = self.vectors(self._storage.structure_counter).numbers
        except (ModelError, StoreCorruptError) as error:
            return [Fault("vector index", error.message)]
        off = np.setxor1d(numbers, self._storage.block_columns.embedded()).size
        faults = [Fault("vector index", _differing(off), repairable=True)] if off else []
        return faults + self._kept.damage()

    def _open_vectors(self) -> tuple[VectorIndex, int]:
        """Read the vectors saved beside the store, and their revision; empty and −1 without any."""
        space = self._storage.meta.embedding_space()
        generation = self._kept.latest("vectors")
        if generation is not None and space is not None and generation.facts.get("space") == list(space):
            return VectorIndex(space[1], Base.read(generation)), generation.stamp.revision
        return VectorIndex(space[1] if space is not None else self._embedder.dimension), -1


def check_space(storage: Storage, embedder: Embedder) -> None:
    """Raise StoreError if the store's embeddings come from another encoder, since two vector spaces must not mix."""
    space = storage.meta.embedding_space()
    if space is not None and space != (embedder.name, embedder.dimension):
        raise StoreError(
            f"The store's embeddings come from {space[0]} ({space[1]} dimensions); it was opened with "
            f"{embedder.name} ({embedder.dimension}).",
            way_out=f"Open it with {space[0]}, or use another store.",
        )


def _differing(blocks: int) -> str:
    return f"{plural(blocks, 'block differs', 'blocks differ')} from the store"
