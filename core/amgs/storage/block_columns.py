"""Blocks as columns: what indexes, scoring and verification read of many at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from amgs.types import BlockFilter, Vector


@dataclass(frozen=True, eq=False)
class ScoringColumns:
    """The numbers that a score is made from, one row a block in rising number: arrays of length n.

    reinforced: microseconds since 1970. reinforcements: how often. superseded: no longer holds.
    """

    numbers: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]
    confidence: NDArray[np.float64]
    reinforcements: NDArray[np.int64]
    superseded: NDArray[np.bool_]

    def of(self, wanted: Sequence[int]) -> Self:
        """The rows of these numbers, rising; unknown numbers are left out."""
        given = np.unique(np.asarray(wanted, dtype=np.int64))
        at = np.searchsorted(self.numbers, given)
        inside = at < self.numbers.size
        rows = at[inside][self.numbers[at[inside]] == given[inside]]
        return type(self)(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})


@dataclass(frozen=True, eq=False)
class ScoringFacts(ScoringColumns):
    """The same with the ids: what retrieval scores and ranks by."""

    ids: NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class BlockFacts(ScoringFacts):
    """The same with when each block was created (microseconds since 1970) and whether it is part of the self."""

    created: NDArray[np.int64]
    self_component: NDArray[np.bool_]


@dataclass(frozen=True)
class FadingColumns:
    """What forgetting needs of n blocks in rising number. names: the categories, by name; category: (n,) places in
    them. Instants are microseconds since 1970. uses: how often each was reinforced.
    """

    numbers: NDArray[np.int64]
    created: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    uses: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]
    category: NDArray[np.int64]
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ClockColumns:
    """Clocks of n blocks in rising number. reinforced: microseconds since 1970; reinforcements: how often."""

    numbers: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    reinforcements: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StatusColumns:
    """What decides which index holds a block, of n blocks in rising number: status: (n,) places in STATUSES; embedded:
    (n,) whether it has an embedding.
    """

    numbers: NDArray[np.int64]
    status: NDArray[np.int8]
    embedded: NDArray[np.bool_]


@dataclass(frozen=True)
class EmbeddingColumns:
    """Embeddings of n blocks: numbers (n,), ids (n,), matrix (n, d) float32."""

    numbers: NDArray[np.int64]
    ids: NDArray[np.object_]
    matrix: Vector


@dataclass(frozen=True)
class FeatureColumns:
    """What retrieval wants to know of n blocks without reading them, rows in rising number.

    episode: equal for the pieces of one dialogue or file, 0 without a source. name: who speaks or wrote it, in lower
    case, empty when nobody is known. characters: its length. questions, sentences: how many of its marks end a
    question, how many end anything. asks: the last mark is a question's.
    """

    numbers: NDArray[np.int64]
    episode: NDArray[np.uint64]
    name: tuple[str, ...]
    characters: NDArray[np.int64]
    questions: NDArray[np.int64]
    sentences: NDArray[np.int64]
    asks: NDArray[np.bool_]


class BlockColumnStorage(Protocol):
    """Columns of many blocks as arrays, without an object a row."""

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None, since: int = -1) -> NDArray[np.int64]:
        """Running numbers of the blocks that pass, rising: (n,); a limit keeps the last reinforced. since: only of
        rows changed after that revision.
        """
        ...

    def brief(self, size: int) -> NDArray[np.int64]:
        """Running numbers of the blocks whose text is shorter than `size` bytes in UTF-8, rising: (n,)."""
        ...

    def count(self) -> int:
        """How many blocks there are."""
        ...

    def statuses(self, *, since: int = -1) -> StatusColumns:
        """The statuses of the blocks changed after revision `since`."""
        ...

    def facts(self, wanted: BlockFilter) -> BlockFacts:
        """The scoring columns of the blocks that pass the filter."""
        ...

    def scoring(self, *, since: int = -1) -> ScoringColumns:
        """The scoring columns of every block changed after revision `since`."""
        ...

    def fading(self, wanted: BlockFilter) -> FadingColumns:
        """The clocks, decay constants and categories of the blocks that pass the filter."""
        ...

    def clocks(self, *, since: int = -1) -> ClockColumns:
        """When each block was last reinforced and how often, of those reinforced after change `since` and maybe of
        others. What of the scoring columns changes without a change of structure.
        """
        ...

    def ids_after(self, number: int) -> tuple[NDArray[np.int64], list[str]]:
        """Numbers, rising, and ids of the blocks with a higher number than this."""
        ...

    def embeddings(
        self,
        *,
        since: int = -1,
        wanted: BlockFilter | None = None,
        above: int = 0,
        upto: int | None = None,
    ) -> EmbeddingColumns:
        """All embeddings of rows changed after revision `since`, in rising number.

        above, upto: only of numbers above the one and up to the other. Rows without one are left out.
        """
        ...

    def embedding_batches(self, *, since: int = -1, batch: int = 50_000) -> Iterator[EmbeddingColumns]:
        """The same in rising number, so many numbers at a time: a large store is never held twice."""
        ...

    def traits(self, *, since: int = -1) -> FeatureColumns:
        """The traits of the blocks changed after revision `since`; a scan of the columns, no block is read."""
        ...

    def embedded(self) -> NDArray[np.int64]:
        """Running numbers of the blocks that have an embedding, rising: (n,)."""
        ...

    def contents(self, batch: int = 4000) -> Iterator[list[tuple[str, str, Vector | None]]]:
        """Every (id, content, embedding) in batches, for verification."""
        ...

    def repeated(self) -> tuple[str, ...]:
        """Numbers given to more than one block, as text; empty in a sound store."""
        ...

    def out_of_range(self, statuses: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Blocks with metadata that no block may have, each with what is wrong; empty in a sound store."""
        ...

    def newest_revision(self) -> int:
        """The highest revision of a block, 0 for an empty store."""
        ...

    def nearest(self, query: Vector, limit: int) -> list[tuple[int, float]]:
        """The best `limit` (number, cosine) of all blocks with an embedding, every vector looked at: what the vector
        index is held against. query: (d,), not zero; ties by number.
        """
        ...
