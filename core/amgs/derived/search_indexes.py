"""The keyword index and the vectors of a store, updated, and what is saved beside its file between openings. Every call
runs under the lock of `Derived`, inside a snapshot of the store.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from amgs.derived.block_reader import Numbers
from amgs.errors import ModelError, StoreCorruptError, StoreError
from amgs.graph import live
from amgs.index.arrays import Generation, IdMap, SnapshotStore, Stamp, difference, save_arrays
from amgs.index.keyword import KeywordIndex
from amgs.index.neighbours import Base
from amgs.index.vector import VectorIndex
from amgs.retrieval import sources
from amgs.text.words import plural
from amgs.types import BlockFilter, Fault, Progress, Vector
from amgs.types.block import untold

if TYPE_CHECKING:
    from amgs.derived.block_reader import Roll
    from amgs.graph.view import GraphView
    from amgs.index.lexical import LexicalIndex
    from amgs.retrieval.sources import SequenceIndex
    from amgs.storage.store import Storage
    from amgs.text.embedding import Embedder


WORTH_KEEPING = 2000
"""Number of blocks from which derived arrays are saved; below, deriving is faster than loading."""
_VECTORS = 1
"""Format version of saved vectors."""


class KeptArrays:
    """The saved arrays of an open store."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        formats = {"vectors": _VECTORS, "graph": live.FORMAT, "blocks": sources.FORMAT}
        self._snapshots = {name: self._open_snapshots(name, format) for name, format in formats.items()}

    def forget(self) -> None:
        """Delete all of them, after the store was bulk-loaded."""
        for snapshots in self._snapshots.values():
            snapshots.forget()

    def damage(self) -> list[Fault]:
        """Return saved files whose content is damaged; they are deleted and rebuilt at the next opening."""
        faults = []
        for name, snapshots in self._snapshots.items():
            bad = snapshots.damage(self._storage.meta.store_id())
            if bad:
                snapshots.forget()
                faults.append(Fault(f"saved {name}", bad, repairable=True))
        return faults

    # --- reading ------------------------------------------------------------------------------------------

    def latest(self, name: str) -> Generation | None:
        """Return the latest saved arrays of this store; arrays from ahead of the store belong to another copy and are
        ignored.
        """
        snapshots = self._snapshots[name]
        if snapshots.is_empty:
            return None
        generation = snapshots.latest(self._storage.meta.store_id())
        return None if generation is None or generation.stamp.revision > self._storage.structure_counter else generation

    def graph(self) -> live.StoredGraph | None:
        """Return the saved graph; None if there is none."""
        generation = self.latest("graph")
        return None if generation is None else live.read_graph(generation)

    def order(self) -> tuple[SequenceIndex, int] | None:
        """Return the saved order of blocks and its structure counter; None if there is none."""
        generation = self.latest("blocks")
        return None if generation is None else (sources.read_sequences(generation), generation.stamp.revision)

    def read_embedded(self) -> tuple[Numbers, int] | None:
        """Return the blocks with a saved vector and their structure counter; None without any."""
        generation = self.latest("vectors")
        return None if generation is None else (generation.array("numbers"), generation.stamp.revision)

    def ids(self) -> IdMap:
        """Return the saved ids of blocks; empty if they were not saved."""
        generation = self.latest("blocks")
        return IdMap.none() if generation is None else IdMap(generation.array("roll"), generation.array("ids"))

    # --- writing ------------------------------------------------------------------------------------------

    def lacks(self, name: str, revision: int) -> bool:
        """Return whether arrays can be saved and those on disk are of another revision."""
        if revision < 0 or not self._snapshots[name].writable:
            return False
        generation = self.latest(name)
        return generation is None or generation.stamp.revision != revision

    def put_graph(self, version: int, view: GraphView, highest: int) -> None:
        """Save a graph. highest: highest running number then."""
        header = live.describe_view(view, highest)
        with self._snapshots["graph"].writing(self._stamp(version), header) as folder:
            live.write_view(folder, view)

    def put_order(self, structure: int, sequences: SequenceIndex, ids: IdMap) -> None:
        """Save the order of blocks, and their ids."""
        header = sources.describe_names(sequences)
        with self._snapshots["blocks"].writing(self._stamp(structure), header) as folder:
            sources.write_sequences(folder, sequences)
            save_arrays(folder, {"roll": ids.numbers, "ids": ids.ids})

    def put_vectors(
        self, structure: int, vectors: VectorIndex, approximate_from: int, progress: Progress | None = None
    ) -> None:
        """Save the vectors, from `approximate_from` on with a neighbour graph. Raises Cancelled if progress is
        cancelled.
        """
        header = {"space": list(self._storage.meta.embedding_space() or ())}
        with self._snapshots["vectors"].writing(self._stamp(structure), header) as folder:
            vectors.write(folder, approximate_from=approximate_from, progress=progress)

    @property
    def keeps_vectors(self) -> bool:
        """Return whether vectors can be saved."""
        return self._snapshots["vectors"].writable

    # --- inside -------------------------------------------------------------------------------------------

    def _stamp(self, revision: int) -> Stamp:
        return Stamp(self._storage.meta.store_id(), revision)

    def _open_snapshots(self, name: str, format: int) -> SnapshotStore:
        file = self._storage.file
        folder = None if file is None else Path(f"{file}.index") / name
        return SnapshotStore(folder, format, read_only=self._storage.read_only)


MOST: Final = 4096
"""Most vectors cached while a consolidation runs."""


class RawVectors:
    """Cache of vectors by text. embed: embeds one text.

    A search embeds its best few raw blocks itself, to compare them to consolidated blocks. While a consolidation embeds
    all of them, its vectors are used instead, since both compete for the same cores.
    """

    def __init__(self, embed: Callable[[str], Vector]) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._running = 0
        self._computed: dict[str, Vector] = {}

    @contextmanager
    def consolidating(self) -> Iterator[None]:
        """Cache vectors while the block runs; they are dropped at its end."""
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if not self._running:
                    self._computed = {}

    def store(self, texts: Sequence[str], vectors: Vector) -> None:
        """Cache the vectors (n, d) of texts, if a consolidation runs."""
        with self._lock:
            if self._running:
                self._computed.update(zip(texts, vectors, strict=True))
                for text in list(self._computed)[: max(len(self._computed) - MOST, 0)]:
                    del self._computed[text]

    def of(self, text: str) -> Vector:
        """Return the vector (d,) of a text, embedding it if it is not cached."""
        with self._lock:
            vector = self._computed.get(text)
        if vector is None:
            vector = self._embed(text)
            self.store([text], vector[None])
        return vector


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
        """Return the keyword index at a structure counter; the returned index never changes.

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
        """Return the vectors at a structure counter; the returned index never changes."""
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
        """Delete the files of the keyword index and start an empty index."""
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
        off = np.setxor1d(numbers, self._storage.block_columns.read_embedded()).size
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
