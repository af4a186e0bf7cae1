"""What the layers ask of the rooms around them: the store's readers, the two indexes, the graph, the
embedder.

Between the layers a block is its `number`, the store's running number of arrival: an int travels and masks a
hundred thousand times faster than a hash. Only what survives is read as a Block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from amgs.clock import Clock
from amgs.graph.live import LiveGraph
from amgs.index.keyword import KeywordIndex
from amgs.index.vector import VectorIndex
from amgs.retrieval.sequence_index import SequenceIndex
from amgs.types import Block, BlockFilter, Vector

Numbers = NDArray[np.int64]
"""(n,) int64: numbers of blocks."""


class StoredBlock(Protocol):
    """A block as the store has it: its number, its content and metadata, and how often it was reinforced."""

    @property
    def number(self) -> int: ...
    @property
    def block(self) -> Block: ...
    @property
    def reinforcements(self) -> int: ...


class BlockFacts(Protocol):
    """What scoring needs of n blocks, rows in rising number; instants are microseconds since 1970."""

    @property
    def numbers(self) -> Numbers: ...
    @property
    def ids(self) -> NDArray[np.object_]: ...
    @property
    def reinforced(self) -> NDArray[np.int64]: ...
    @property
    def decay_lambda(self) -> NDArray[np.float64]: ...
    @property
    def confidence(self) -> NDArray[np.float64]: ...
    @property
    def reinforcements(self) -> NDArray[np.int64]: ...


class BlockReader(Protocol):
    """The store's reading side."""

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None) -> Numbers:
        """Numbers of the blocks that pass, ascending; with a limit, the most recently reinforced of them."""
        ...

    def stored(self, numbers: Sequence[int]) -> Sequence[StoredBlock]:
        """The blocks with these numbers, in any order; unknown numbers are left out."""
        ...

    def facts(self, numbers: Sequence[int]) -> BlockFacts:
        """The scoring columns of the blocks with these numbers; unknown numbers are left out."""
        ...

    def numbers_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        """The number of each id that exists."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything retrieval reads."""

    blocks: BlockReader
    keyword: KeywordIndex
    vectors: VectorIndex
    graph: LiveGraph
    embed: Callable[[str], Vector]
    clock: Clock
    sequences: Callable[[], SequenceIndex]
