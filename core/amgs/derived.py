"""What is derived from the store and kept true to it: keyword index, vectors, graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.clock import Clock
from amgs.errors import ModelError, StoreCorruptError, StoreError
from amgs.graph.live import LiveGraph
from amgs.index.keyword import KeywordIndex, Stamp
from amgs.index.vector import VectorIndex
from amgs.model import BlockFilter, Fault, Vector
from amgs.retrieval.ports import Sources
from amgs.settings import Settings
from amgs.store import blocks as stored_blocks
from amgs.store import edges as stored_edges
from amgs.store import meta as stored_meta
from amgs.store.blocks import Numbered
from amgs.store.connection import MEMORY, Store
from amgs.text.embedding import Embedder

_LIVE = BlockFilter(statuses=("raw", "consolidated"))
_SEARCHABLE = BlockFilter(statuses=("raw", "consolidated", "archived"))
_BATCH = 2000


class Derived:
    """The indexes and the graph of one open store. `sources()` gives them caught up; `close` seals them."""

    def __init__(self, store: Store, embedder: Embedder, clock: Clock, settings: Settings) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        beside = None if store.path == MEMORY else Path(f"{store.path}.index") / "keyword"
        self._keyword = KeywordIndex.open(beside, read_only=store.read_only)
        self._vectors: VectorIndex | None = None
        self._vectors_at = -1
        self._graph = LiveGraph(self._load_graph, lambda: store.structure_counter, clock, settings.graph)
        # The same query is embedded for the search, for the frame and for each of its children.
        self._embed = lru_cache(maxsize=64)(self._embed_one)

    def sources(self) -> Sources:
        """Everything retrieval reads, true to the store as it is now.

        Raises StoreError when the store's embeddings come from another embedder than the one at hand.
        """
        check_space(self._store, self._embedder)
        self._catch_up_keyword()
        return Sources(
            blocks=_Reader(self._store),
            keyword=self._keyword,
            vectors=self._caught_up_vectors(),
            graph=self._graph,
            embed=self._embed,
            clock=self._clock,
        )

    @property
    def graph(self) -> LiveGraph:
        return self._graph

    def forget(self) -> None:
        """Drop what follows revisions: the store was filled from elsewhere."""
        self._vectors, self._vectors_at = None, -1

    def close(self) -> None:
        """Catch up once more and seal the keyword index, so that the next open finds it true."""
        if not self._store.read_only:
            self._catch_up_keyword()
        self._keyword.close()

    def faults(self) -> list[Fault]:
        """Where an index does not hold what the store holds, after catching up."""
        found = []
        self._catch_up_keyword()
        wanted = stored_blocks.numbers(self._store, _SEARCHABLE)
        if not np.array_equal(self._keyword.numbers, wanted):
            off = np.setxor1d(self._keyword.numbers, wanted).size
            found.append(Fault("keyword index", f"{off} blocks differ from the store", repairable=True))
        space = stored_meta.embedding_space(self._store)
        if space is None or space == (self._embedder.name, self._embedder.dimension):
            found += self._vector_faults()
        return found

    def _vector_faults(self) -> list[Fault]:
        try:
            held = self._caught_up_vectors().numbers
        except (ModelError, StoreCorruptError) as error:
            return [Fault("vector index", error.message)]
        off = np.setxor1d(held, stored_blocks.embedded(self._store)).size
        return [Fault("vector index", f"{off} blocks differ from the store", repairable=True)] if off else []

    # --- inside -----------------------------------------------------------------------------------------

    def _catch_up_keyword(self) -> None:
        stamp = Stamp(stored_meta.store_id(self._store), self._store.structure_counter)
        if stamp != self._keyword.stamp:
            self._keyword.catch_up(stored_blocks.numbers(self._store, _SEARCHABLE), self._texts, stamp)

    def _texts(self, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        for start in range(0, len(numbers), _BATCH):
            yield from stored_blocks.texts(self._store, numbers[start : start + _BATCH])

    def _caught_up_vectors(self) -> VectorIndex:
        counter = self._store.structure_counter
        index = self._vectors
        if index is None:
            space = stored_meta.embedding_space(self._store)
            index = VectorIndex(space[1] if space is not None else self._embedder.dimension)
        if counter != self._vectors_at:
            index.remove(np.setdiff1d(index.numbers, stored_blocks.embedded(self._store)))
            changed = stored_blocks.embeddings(self._store, since=self._vectors_at)
            if len(changed.numbers):
                index.add(changed.numbers, changed.matrix)
        self._vectors, self._vectors_at = index, counter
        return index

    def _load_graph(self) -> tuple[stored_edges.EdgeTable, NDArray[np.int64]]:
        return stored_edges.table(self._store), stored_blocks.numbers(self._store, _LIVE)

    def _embed_one(self, text: str) -> Vector:
        vector: Vector = self._embedder.embed([text])[0]
        return vector


class _Reader:
    """The store's reading side as retrieval asks for it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None) -> NDArray[np.int64]:
        return stored_blocks.numbers(self._store, wanted, limit=limit)

    def stored(self, numbers: Sequence[int]) -> Sequence[Numbered]:
        return stored_blocks.by_number(self._store, numbers)

    def numbers_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        return stored_blocks.numbers_of(self._store, ids)


def check_space(store: Store, embedder: Embedder) -> None:
    """Raise StoreError when the store's vectors came from another embedder: two spaces must not mix."""
    space = stored_meta.embedding_space(store)
    if space is not None and space != (embedder.name, embedder.dimension):
        raise StoreError(
            f"Its embeddings come from {space[0]} ({space[1]} dimensions), the embedder at hand is "
            f"{embedder.name} ({embedder.dimension}).",
            way_out=f"Use {space[0]}, or start another store with --store.",
        )
