"""The search tier of a store: datasets outside the process that are built from it, opened and joined with what the
store holds since.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amgs.errors import StoreError
from amgs.index.ascending import joined, without
from amgs.index.joined_words import JoinedWords
from amgs.index.keyword import KeywordIndex
from amgs.index.snapshot_store import Stamp
from amgs.types import BlockFilter, Fault, IndexBuild, IndexStatus, Progress
from amgs.types.block import untold

if TYPE_CHECKING:
    from amgs.clock import Clock
    from amgs.index.lance.build import BlockRows
    from amgs.index.lance.dataset import SearchDataset
    from amgs.index.lance.words import LanceWords
    from amgs.index.lexical import LexicalIndex
    from amgs.index.vector_base import Base
    from amgs.settings import RetrievalSettings
    from amgs.storage.store import Storage
    from amgs.text.embedding import Embedder

SEARCHABLE = BlockFilter(statuses=("raw", "consolidated", "archived"))
"""What words find."""

_BATCH = 2000
_ANEW = 0.5
"""Where more of the rows than this share changed, all are written anew."""

Numbers = NDArray[np.int64]


def texts(storage: Storage, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
    """What of each block is indexed by words: its text, under the headings that the text does not tell."""
    for start in range(0, len(numbers), _BATCH):
        for number, content, meta in storage.blocks.texts(numbers[start : start + _BATCH]):
            yield number, "\n".join((*untold(content, meta), content))


class SearchTier:
    """The datasets of one store at a place; None of them is there before the first build."""

    def __init__(
        self, storage: Storage, where: str, embedder: Embedder, clock: Clock, settings: RetrievalSettings
    ) -> None:
        from amgs.index.lance.dataset import place

        self._storage, self._embedder, self._clock, self._settings = storage, embedder, clock, settings
        self._lock = threading.RLock()
        self.where = place(where)
        self._dataset: SearchDataset | None = None
        self._words: LanceWords | None = None
        self._base: tuple[Base, int] | None = None
        self._since = KeywordIndex.open(None)
        self._looked_at = -1

    @property
    def folder(self) -> str:
        """Where this store's datasets lie."""
        return f"{self.where}/{self._storage.meta.store_id()}"

    def dataset(self, structure: int) -> SearchDataset | None:
        """The version to read a state of the store with: looked up again when the state is another. One of a later
        state is of a copy that went on, and is not used.
        """
        from amgs.index.lance.dataset import SearchDataset, built_version, told

        with self._lock:
            if structure != self._looked_at:
                with told(self.where):
                    latest = built_version(self.folder)
                if latest is None:
                    self._dataset = self._words = self._base = None
                elif self._dataset is None or latest.version != self._dataset.version:
                    found = SearchDataset.opened(self.folder)
                    self._dataset = found if found is None or found.built.structure <= structure else None
                    self._words = self._base = None
                self._looked_at = structure
            return self._dataset

    def words(self, searchable: Numbers, structure: int) -> LexicalIndex:
        """The words of a state whose `searchable` blocks (ascending) words find: those of the version, and beside them
        those of every block that it lacks.
        """
        built = self._built_words(structure)
        held = np.zeros(0, np.int64) if built is None else built.numbers
        stamp = Stamp(self._storage.meta.store_id(), structure)
        self._since.catch_up(without(searchable, held), lambda some: texts(self._storage, some), stamp)
        if built is None:
            return self._since.view()
        gone = without(held, searchable)
        if not gone.size and not self._since.documents:
            return built
        return JoinedWords(built, self._since.view(), gone)

    def words_alone(self, structure: int) -> LexicalIndex:
        """The words of the version without what came since; nothing where nothing was built."""
        return self._built_words(structure) or KeywordIndex.open(None)

    def vectors(self, structure: int) -> tuple[Base, int] | None:
        """The vectors of the version, and the structure they are of; None where they are of another embedder, or
        nothing was built.
        """
        from amgs.index.lance.vectors import base_of

        with self._lock:
            dataset = self.dataset(structure)
            if dataset is None or dataset.built.space != self._storage.meta.embedding_space():
                return None
            if self._base is None:
                self._base = base_of(dataset), dataset.built.structure
            return self._base

    def build(
        self,
        *,
        anew: bool = False,
        compact: bool = False,
        erase: bool = False,
        progress: Progress | None = None,
    ) -> IndexBuild:
        """Build the state that this thread reads; call it inside a snapshot of the store. anew: all rows; compact:
        fewer and larger files; erase: leave no older version, whoever reads it.

        Raises StoreError for a place that cannot be written, or where another build has begun meanwhile.
        """
        from amgs.index.lance.build import DatasetBuild, clean_up
        from amgs.index.lance.dataset import SearchDataset, told

        began, at = self._clock.perf(), self._clock.now().isoformat()
        storage = self._storage
        structure, space = storage.structure_counter, storage.meta.embedding_space()
        searchable = storage.block_columns.numbers(SEARCHABLE)
        embedded = storage.block_columns.embedded()
        wanted = joined(searchable, embedded)
        with told(self.where):
            before = None if anew else SearchDataset.opened(self.folder)
            if before is not None and (before.built.space != space or before.built.structure > structure):
                before = None
            put, gone = wanted, np.zeros(0, np.int64)
            if before is not None:
                changed = np.sort(storage.block_columns.statuses(since=before.built.structure).numbers)
                put = joined(np.intersect1d(changed, wanted), without(wanted, before.numbers))
                gone = without(before.numbers, wanted)
                if put.size + gone.size > _ANEW * before.numbers.size:
                    before, put, gone = None, wanted, gone[:0]
                elif before.built.structure == structure and not put.size and not gone.size and not compact:
                    return self._told(before, 0, self._clock.perf() - began)
            dimension = self._embedder.dimension if space is None else space[1]
            build = DatasetBuild(self.folder, dimension, self._settings.approximate_from)
            rows = self._rows(put, searchable, dimension, progress)
            made = (
                build.anew(rows)
                if before is None
                else build.from_before(before, rows, put, gone, compact=compact)
            )
            if progress is not None:
                progress(put.size, put.size, "indexing")
            of = {"store": storage.meta.store_id(), "structure": structure, "space": space, "at": at}
            dataset = build.finish(made, of)
            clean_up(self.folder, at_once=erase)
            with self._lock:
                self._looked_at = -1
            return self._told(dataset, int(put.size + gone.size), self._clock.perf() - began)

    def status(self, structure: int) -> IndexStatus:
        """How the version stands to the state of the store that this thread reads."""
        searchable = self._storage.block_columns.numbers(SEARCHABLE)
        dataset = self.dataset(structure)
        if dataset is None:
            return IndexStatus(self.folder, 0, 0, structure, int(searchable.size), 0, 0)
        changed = self._storage.block_columns.statuses(since=dataset.built.structure).numbers
        left = without(dataset.numbers[dataset.searchable], searchable)
        lag = joined(joined(np.sort(changed), without(searchable, dataset.numbers)), left)
        return IndexStatus(
            place=self.folder,
            version=dataset.version,
            built_at=dataset.built.structure,
            store_at=structure,
            lag=int(lag.size),
            rows=int(dataset.numbers.size),
            size=dataset.size(),
        )

    def faults(self, structure: int) -> list[Fault]:
        """Why the version cannot be read, where it cannot."""
        try:
            dataset = self.dataset(structure)
            held = 0 if dataset is None else dataset.blocks.count_rows()
        except StoreError as error:
            return [Fault("search index", error.message, repairable=True)]
        lost = 0 if dataset is None else int(dataset.numbers.size) - held
        return [Fault("search index", f"{lost} rows are gone", repairable=True)] if lost else []

    def forget(self) -> None:
        """Nothing is known any more of what was opened."""
        self._dataset = self._words = self._base = None
        self._since = KeywordIndex.open(None)
        self._looked_at = -1

    # --- inside -----------------------------------------------------------------------------------------

    def _built_words(self, structure: int) -> LanceWords | None:
        from amgs.index.lance.words import LanceWords

        with self._lock:
            dataset = self.dataset(structure)
            if dataset is not None and self._words is None:
                self._words = LanceWords(dataset)
            return self._words

    def _rows(
        self, numbers: Numbers, searchable: Numbers, dimension: int, progress: Progress | None
    ) -> Iterator[BlockRows]:
        from amgs.index.ascending import contains, places
        from amgs.index.lance.build import BlockRows, chunks

        done = 0
        for some in chunks(numbers):
            if progress is not None:
                progress(done, int(numbers.size), "building the search index")
            told = dict(texts(self._storage, some[contains(searchable, some)].tolist()))
            found = self._storage.block_columns.embeddings(above=int(some[0]) - 1, upto=int(some[-1]))
            vectors = np.zeros((some.size, dimension), dtype=np.float32)
            embedded = np.zeros(some.size, dtype=np.bool_)
            if found.numbers.size:
                at = places(some, found.numbers)
                vectors[at[at >= 0]] = found.matrix[at >= 0]
                embedded[at[at >= 0]] = True
            yield BlockRows(some, [told.get(number) for number in some.tolist()], vectors, embedded)
            done += some.size

    def _told(self, dataset: SearchDataset, changed: int, seconds: float) -> IndexBuild:
        return IndexBuild(
            place=self.folder,
            version=dataset.version,
            built_at=dataset.built.structure,
            rows=int(dataset.numbers.size),
            changed=changed,
            seconds=seconds,
        )
