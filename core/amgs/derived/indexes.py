"""Everything derived from the store, updated for readers: keyword index, vectors, graph, order.

A reader takes the latest committed state under a lock, which is held only while indexes catch up, and then reads it
without: a state never changes. A thread that writes holds that lock no longer.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amgs.derived.block_reader import Roll, State, StateReader
from amgs.derived.search_indexes import WORTH_KEEPING, KeptArrays, RawVectors, SearchIndexes
from amgs.errors import StoreError
from amgs.graph.centrality import BRIEF_BYTES
from amgs.graph.live import CentralitySnapshot, LiveGraph, StoredCentrality
from amgs.graph.view import catch_up
from amgs.index.arrays import BlockFeatures, difference
from amgs.index.vector import VectorIndex
from amgs.retrieval.sources import SequenceIndex, Sources, append_blocks, build_sequences
from amgs.storage.edges import EdgeColumns
from amgs.text.embedding import embed_question, knows_script, meaning_weight

if TYPE_CHECKING:
    from amgs.clock import Clock
    from amgs.derived.entities import EntityCatalogue
    from amgs.graph.view import GraphView
    from amgs.index.arrays import IdMap
    from amgs.settings import Settings
    from amgs.storage.store import Storage
    from amgs.text.embedding import Embedder
    from amgs.types import Fault, Progress, Vector

_FEW_EDGES = 5000
"""With more changed edges, the graph is rebuilt."""


class Derived:
    """The indexes and the graph of an open store; `close` saves them."""

    def __init__(self, storage: Storage, embedder: Embedder, clock: Clock, settings: Settings) -> None:
        self._storage = storage
        self._embedder = embedder
        self._clock = clock
        self._settings = settings
        beside = None if storage.file is None else Path(f"{storage.file}.index")
        self._kept = KeptArrays(storage)
        self._search = SearchIndexes(storage, embedder, self._kept, folder=beside, roll=self._catch_up_roll)
        self.centrality = StoredCentrality(storage, settings.graph)
        self._entities: EntityCatalogue | None = None
        self._lock = threading.RLock()
        self._here = threading.local()
        self._state: State | None = None
        self._roll: Roll | None = None
        self._graph = self._first_graph()
        self._seen_graph: LiveGraph | None = None
        self._sequences: tuple[SequenceIndex | None, int] = (None, -1)
        self._laid_on: NDArray[np.int64] | None = None
        """The edges' sources of the view that the order was laid out from: another array, and edges have changed."""
        self._id_map: tuple[IdMap | None, int] = (None, -1)
        self._times_forgotten = 0
        # The same query is embedded for the search, for the frame and for each of its children.
        self._embed = lru_cache(maxsize=64)(self._embed_one)
        self.raw_vectors = RawVectors(lru_cache(maxsize=64)(self._embed_text))

    def over(self, storage: Storage, clock: Clock) -> Derived:
        """Return the derived data of another store with the same texts, such as a copy; both share the cache of
        embedded queries.
        """
        other = Derived(storage, self._embedder, clock, self._settings)
        other._embed, other.raw_vectors = self._embed, self.raw_vectors
        return other

    @contextlib.contextmanager
    def reading(self) -> Iterator[State]:
        """Yield the latest committed state; everything this thread reads from the store in the block is
        of that state.
        """
        here: State | None = getattr(self._here, "state", None)
        if here is not None:
            yield here
            return
        with contextlib.ExitStack() as stack:
            with self._lock:
                stack.enter_context(self._storage.snapshot())
                self._here.state = self._latest()
            try:
                yield self._here.state
            finally:
                self._here.state = None

    @contextlib.contextmanager
    def searching(self, *, words_alone: bool = False) -> Iterator[Sources]:
        """Yield what retrieval reads, at the latest committed state.

        words_alone: without vectors, for searches that need none. Raises StoreError if the store's embeddings come from
        another encoder.
        """
        here: Sources | None = getattr(self._here, "sources", None)
        if here is not None:
            yield here
            return
        with contextlib.ExitStack() as stack:
            with self._lock:
                # Lock before snapshot, so that a later reader never gets an earlier state.
                stack.enter_context(self.reading())
                sources = self._sources(self._here.state, words_alone=words_alone)
                self._here.sources = None if words_alone else sources
            try:
                yield sources
            finally:
                self._here.sources = None

    def vectors(self) -> VectorIndex:
        """Return the vectors of the latest state."""
        with self._lock, self.reading() as state:
            return self._search.vectors(state.structure)

    @property
    def entities(self) -> EntityCatalogue:
        """Catalogue of names in blocks, created on first use."""
        from amgs.derived.entities import EntityCatalogue

        with self._lock:
            if self._entities is None:
                self._entities = EntityCatalogue(self._storage)
            return self._entities

    def forget(self, *, files: bool = True) -> None:
        """Drop everything derived, after the store was bulk-loaded. files: delete the saved files too."""
        with self._lock:
            if files:
                self._kept.forget()
                self._times_forgotten += 1
            self._state = self._roll = None
            self._search.forget()
            self._sequences, self._id_map = (None, -1), (None, -1)
            self._graph = self._first_graph()
            self.centrality.forget()
            self._entities = None

    def sizes(self) -> dict[str, int]:
        """Return the number of blocks in the keyword index and the vectors, and of edges in the graph."""
        with self._lock, self.reading() as state:
            words = self._search.look_up_words()
            vectors = self._search.vectors(state.structure) if self._storage.meta.embedding_space() else None
            return {
                "keyword index": words.documents,
                "vectors": 0 if vectors is None else int(vectors.numbers.size),
                "graph edges": self._storage.edges.count(),
            }

    def rewrite(self) -> None:
        """Delete every derived file and rebuild the keyword index, so that no file contains a word of erased blocks."""
        with self._lock:
            self.forget()
            self._search.begin_anew()
            if not self._storage.read_only:
                with self._storage.snapshot():
                    self._search.catch_up()

    def close(self, progress: Progress | None = None) -> None:
        """Update the indexes once more and save them for the next opening."""
        with self._lock:
            if not self._storage.read_only:
                with self._storage.snapshot():
                    self._search.catch_up(progress)
                    # On a full disk nothing is saved, and the next opening rebuilds it; usearch raises RuntimeError
                    # then.
                    with contextlib.suppress(OSError, RuntimeError):
                        self._keep()
                self._settle_centrality()
            self._search.close()

    def faults(self) -> list[Fault]:
        """Return where an index differs from the store, after catching up."""
        with self._lock, self._storage.snapshot():
            return self._search.faults()

    # --- inside -----------------------------------------------------------------------------------------

    def _first_graph(self) -> LiveGraph:
        return LiveGraph(
            lambda: (EdgeColumns.none(), np.zeros(0, np.int64)),
            lambda: -1,
            self._clock,
            self._settings.graph,
            load_graph=self._kept.graph,
            recorded=self._read_centrality,
            walks=lambda since: self._storage.edges.read_walked(since),
            brief=lambda: self._storage.block_columns.brief(BRIEF_BYTES),
        )

    def _latest(self) -> State:
        """Return the state of this thread's snapshot, which is the latest since it was taken under the lock."""
        changes, structure = self._storage.counters
        before = self._state
        if before is not None and changes != before.changes and not self._storage.can_follow(before.changes):
            self.forget(files=False)  # others may have saved a later state
            before = None
        if before is None or structure != before.structure:
            if self._graph.version >= 0:
                self._seen_graph = self._graph
            roll = self._catch_up_roll(structure)
            self._graph = self._graph.successor(
                structure,
                lambda: (self._storage.edges.table(), roll.live),
                lambda view, version, highest: self._catch_up_graph(roll, view, version, highest),
                highest=roll.highest,
            )
        elif changes == before.changes:
            if self._graph.version >= 0:
                self._seen_graph = None
            return before
        reader = StateReader(
            self._storage,
            lambda: self._catch_up_id_map(structure),
            self._catch_up_roll(structure),
            changes,
            None if before is None else before.blocks,
        )
        self._state = State(changes, structure, reader, self._graph, self._lay_out)
        return self._state

    def _sources(self, state: State, *, words_alone: bool) -> Sources:
        """Return what retrieval reads of a state."""
        if state is not self._state:
            raise RuntimeError("a search inside a reading is begun before it")
        return Sources(
            blocks=state.blocks,
            keyword=self._search.words(state.structure),
            vectors=VectorIndex(self._embedder.dimension) if words_alone else self._search.vectors(state.structure),
            graph=state.graph,
            embed=self._embed,
            embed_raw=self.raw_vectors.of,
            clock=self._clock,
            sequences=state.sequences,
            knows_script=lambda text: knows_script(self._embedder, text),
            meaning_weight=meaning_weight(self._embedder),
        )

    def _lay_out(self, structure: int, view: GraphView) -> SequenceIndex:
        """Return the order and episodes of all blocks, updated from the last one built if possible."""
        known, at = self._sequences
        order = self._kept.order() if known is None else None
        if order is not None:
            known, at = order
        if known is not None and at == structure:
            if order is not None:
                self._sequences, self._laid_on = (known, at), view.source
            return known
        if at > structure:  # a later reader was faster
            known, at = None, -1
        traits = BlockFeatures.none() if known is None else known.traits
        gone = difference(traits.numbers, self._catch_up_roll(structure).numbers)
        fresh = self._storage.block_columns.features(since=at)
        traits = traits.without(gone).merge_changed(fresh)
        sequences = None
        if known is not None and not gone.size and view.source is self._laid_on:
            sequences = append_blocks(known, traits)
        sequences = sequences or build_sequences(traits, view)
        if structure > self._sequences[1]:
            self._sequences, self._laid_on = (sequences, structure), view.source
        return sequences

    def _catch_up_id_map(self, structure: int) -> IdMap:
        """Return the ids of all blocks by running number; a later list serves earlier states, too, as it only grows."""
        id_map, at = self._id_map
        if id_map is None:
            id_map = self._kept.ids()
        if at < structure:
            id_map = id_map.with_(*self._storage.block_columns.ids_after(id_map.last))
            self._id_map = id_map, structure
        return id_map

    def _read_centrality(self) -> CentralitySnapshot | None:
        """Return the saved centrality in the state that this thread reads."""
        state: State | None = getattr(self._here, "state", None)
        return self.centrality.snapshot(self._storage.change_counter if state is None else state.changes)

    def settle_centrality(self) -> None:
        """Compute and save the centrality if it is due."""
        with self.reading() as state:
            if not self.centrality.due():
                return
            centrality = self.centrality.of(state.graph.view(), state.structure)
        self.centrality.keep(centrality)

    def _settle_centrality(self) -> None:
        """Do so only if this session has built the graph already."""
        graph = self._graph if self._graph.version >= 0 else self._seen_graph
        if graph is not None and graph.last is not None:
            with contextlib.suppress(StoreError):  # a full disk
                self.settle_centrality()

    # --- what lies beside the store ---------------------------------------------------------------------

    def keep_vectors(self, progress: Progress | None = None) -> bool:
        """Save the vectors beside the store if many were added since, and read them from there; return whether they
        were saved.

        Otherwise a long-running process would hold all new vectors in memory and compare each query with all of them.
        Searches are not blocked. Raises Cancelled if progress is cancelled.
        """
        arrays = self._kept
        if not arrays.keeps_vectors:
            return False
        with self._lock, self.reading() as state:
            vectors, at = self._search.vectors(state.structure), state.structure
            before = self._times_forgotten
        if not _worth_writing(vectors):
            return False
        arrays.put_vectors(at, vectors, self._settings.retrieval.approximate_from, progress)
        with self._lock:
            if self._times_forgotten != before:
                arrays.forget()  # no file keeps what was erased meanwhile
            else:
                self._search.reopen_vectors()
        return True

    def _keep(self) -> None:
        """Save what this session derived and the files lack, if deriving it again would take long."""
        arrays = self._kept
        graph = self._graph if self._graph.version >= 0 else self._seen_graph or self._graph
        view = graph.last if arrays.lacks("graph", graph.version) else None
        if view is not None and view.nodes.size >= WORTH_KEEPING:
            arrays.put_graph(graph.version, view, graph.highest)
        sequences, at = self._sequences
        long = sequences is not None and sequences.traits.numbers.size >= WORTH_KEEPING
        if sequences is not None and long and arrays.lacks("blocks", at):
            ids = self._catch_up_id_map(self._storage.structure_counter)
            arrays.put_order(at, sequences, ids)
        vectors, at = self._search.latest_vectors() if arrays.keeps_vectors else (None, -1)
        if vectors is not None and _worth_writing(vectors):
            arrays.put_vectors(at, vectors, self._settings.retrieval.approximate_from)

    def _catch_up_roll(self, structure: int) -> Roll:
        """Return the list of blocks at this structure counter; the latest is cached."""
        known = self._roll
        if known is None or known.structure > structure:  # a reader of an earlier state, beside a later reader
            roll = Roll.read(self._storage.block_columns, structure, self._kept.read_embedded())
        elif known.structure == structure:
            return known
        else:
            roll = known.caught_up(self._storage.block_columns, structure)
        if known is None or roll.structure > known.structure:
            self._roll = roll
        return roll

    def _catch_up_graph(self, roll: Roll, view: GraphView, version: int, highest: int) -> GraphView | None:
        """Update the graph's view to the latest state; None if it must be, or may as well be, rebuilt."""
        keys = self._storage.edges.find_changed(version)
        came = difference(roll.live, view.nodes)
        # A restored block has edges that were not written again.
        if keys is None or len(keys) > _FEW_EDGES or (came.size and int(came[0]) <= highest):
            return None
        numbers = self._storage.blocks.numbers_of(list({i for key in keys for i in key[:2]})) if keys else {}
        changed = [(numbers[s], numbers[t], r) for s, t, r in keys if s in numbers and t in numbers]
        fresh = self._storage.edges.rows(keys) if keys else EdgeColumns.none()
        return catch_up(view, roll.live, changed, fresh)

    def _embed_one(self, text: str) -> Vector:
        return embed_question(self._embedder, text)

    def _embed_text(self, text: str) -> Vector:
        vector: Vector = self._embedder.embed([text])[0]
        return vector


def _worth_writing(vectors: VectorIndex) -> bool:
    """Return whether to save vectors: catching up a short tail is faster than writing a long base."""
    return vectors.tail + vectors.gone > max(WORTH_KEEPING, len(vectors) // 20)
