"""What is derived from the store and kept true to it: keyword index, vectors, graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.clock import Clock
from amgs.errors import ModelError, StoreCorruptError, StoreError
from amgs.graph.live import LiveGraph
from amgs.index.keyword import KeywordIndex, Stamp
from amgs.index.neighbours import Near
from amgs.index.traits import Traits
from amgs.index.vector import VectorIndex
from amgs.model import STATUSES, BlockFilter, Fault, Vector
from amgs.retrieval.ports import Sources
from amgs.retrieval.terrain import Terrain, lay_out
from amgs.settings import Settings
from amgs.store import block_columns
from amgs.store import blocks as stored_blocks
from amgs.store import edges as stored_edges
from amgs.store import meta as stored_meta
from amgs.store.blocks import Numbered
from amgs.store.connection import MEMORY, Store
from amgs.text.embedding import Embedder

_LIVE = BlockFilter(statuses=("raw", "consolidated"))
_SEARCHABLE = BlockFilter(statuses=("raw", "consolidated", "archived"))
_EVERY = BlockFilter(statuses=STATUSES)
_BATCH = 2000
_FILTERS_KEPT = 32
_BLOCKS_KEPT = 4000


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
        self._counter = self._true_at = -1
        self._reader = _Reader(store)
        self._graph = LiveGraph(self._load_graph, lambda: self._counter, clock, settings.graph)
        self._terrain: Terrain | None = None
        self._terrain_at = -1
        # The same query is embedded for the search, for the frame and for each of its children.
        self._embed = lru_cache(maxsize=64)(self._embed_one)

    def sources(self) -> Sources:
        """Everything retrieval reads, true to the store as it is now.

        Raises StoreError when the store's embeddings come from another embedder than the one at hand.
        """
        self._look()
        if self._true_at != self._counter:
            check_space(self._store, self._embedder)
            self._catch_up_keyword()
            self._true_at = self._counter
        return Sources(
            blocks=self._reader,
            keyword=self._keyword,
            vectors=self._caught_up_vectors(),
            graph=self._graph,
            embed=self._embed,
            clock=self._clock,
            terrain=self._terrain_now,
        )

    @property
    def graph(self) -> LiveGraph:
        self._look()
        return self._graph

    def neighbours(self, queries: Vector, limit: int, floor: float, allowed: NDArray[np.int64]) -> Near:
        """The best `limit` of the allowed numbers (ascending) for each of many unit vectors (m, d)."""
        self._look()
        return self._caught_up_vectors().nearest(queries, limit, floor=floor, allowed=allowed)

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
        self._look()
        self._catch_up_keyword()
        wanted = block_columns.numbers(self._store, _SEARCHABLE)
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
        off = np.setxor1d(held, block_columns.embedded(self._store)).size
        return [Fault("vector index", f"{off} blocks differ from the store", repairable=True)] if off else []

    # --- inside -----------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Note the store's counters, once a request, and forget what was remembered of another state."""
        changes, self._counter = self._store.counters
        self._reader.follow(changes, self._counter)

    def _catch_up_keyword(self) -> None:
        stamp = Stamp(stored_meta.store_id(self._store), self._store.structure_counter)
        if stamp != self._keyword.stamp:
            self._keyword.catch_up(block_columns.numbers(self._store, _SEARCHABLE), self._texts, stamp)

    def _texts(self, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        for start in range(0, len(numbers), _BATCH):
            yield from stored_blocks.texts(self._store, numbers[start : start + _BATCH])

    def _caught_up_vectors(self) -> VectorIndex:
        counter = self._counter
        index = self._vectors
        if index is None:
            space = stored_meta.embedding_space(self._store)
            index = VectorIndex(space[1] if space is not None else self._embedder.dimension)
        if counter != self._vectors_at:
            index.remove(np.setdiff1d(index.numbers, block_columns.embedded(self._store)))
            changed = block_columns.embeddings(self._store, since=self._vectors_at)
            if len(changed.numbers):
                index.add(changed.numbers, changed.matrix)
        self._vectors, self._vectors_at = index, counter
        return index

    def _terrain_now(self) -> Terrain:
        """The order and the episodes of all blocks, laid out once for a state of the store."""
        counter = self._counter
        if self._terrain is None or counter != self._terrain_at:
            traits = Traits.none() if self._terrain is None else self._terrain.traits
            gone = np.setdiff1d(traits.numbers, block_columns.numbers(self._store, _EVERY))
            fresh = block_columns.traits(self._store, since=self._terrain_at)
            self._terrain = lay_out(traits.without(gone).merged(fresh), self._graph.view())
            self._terrain_at = counter
        return self._terrain

    def _load_graph(self) -> tuple[stored_edges.EdgeTable, NDArray[np.int64]]:
        return stored_edges.table(self._store), block_columns.numbers(self._store, _LIVE)

    def _embed_one(self, text: str) -> Vector:
        vector: Vector = self._embedder.embed([text])[0]
        return vector


class _Reader:
    """The store's reading side as retrieval asks for it, with a memory: the numbers that pass a filter and
    the facts of all blocks as long as the structure stands, the blocks read as long as nothing changes.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changes = self._structure = -1
        self._passing: dict[BlockFilter, NDArray[np.int64]] = {}
        self._facts: block_columns.Facts | None = None
        self._clocks_are_true = False
        self._blocks: dict[int, Numbered] = {}

    def follow(self, changes: int, structure: int) -> None:
        """Forget what is no longer true of a store with these counters."""
        if structure != self._structure:
            self._structure, self._facts = structure, None
            self._passing.clear()
        if changes != self._changes:
            self._changes, self._clocks_are_true = changes, False
            self._blocks.clear()

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None) -> NDArray[np.int64]:
        if limit is not None or wanted.reinforced_since is not None:
            return block_columns.numbers(self._store, wanted, limit=limit)
        # All else that a filter asks for stands still as long as the structure does.
        if wanted not in self._passing:
            if len(self._passing) >= _FILTERS_KEPT:
                self._passing.clear()
            self._passing[wanted] = block_columns.numbers(self._store, wanted)
        return self._passing[wanted]

    def stored(self, numbers: Sequence[int]) -> Sequence[Numbered]:
        missing = [n for n in numbers if n not in self._blocks]
        if missing:
            if len(self._blocks) + len(missing) > _BLOCKS_KEPT:
                self._blocks.clear()
                missing = list(numbers)
            self._blocks.update((one.number, one) for one in stored_blocks.by_number(self._store, missing))
        return [self._blocks[n] for n in sorted(numbers) if n in self._blocks]

    def facts(self, numbers: Sequence[int]) -> block_columns.Facts:
        if self._facts is None:
            self._facts = block_columns.facts(self._store, _EVERY)
        elif not self._clocks_are_true:
            reinforced, times = block_columns.clocks(self._store)
            self._facts = replace(self._facts, reinforced=reinforced, reinforcements=times)
        self._clocks_are_true = True
        return self._facts.of(numbers)

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
