"""Name what a search reads from the packages below: the store's readers, the two indexes, the graph, the embedder.

Between the layers a block is its `number`, which the store counts up as blocks arrive: arrays of integers are filtered
far faster than ids. Only the best candidates are read as a Block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from amgs.clock import Clock
from amgs.graph.live import LiveGraph
from amgs.index.lexical import LexicalIndex
from amgs.index.vector import VectorIndex
from amgs.retrieval.sequence_index import SequenceIndex
from amgs.storage.block_columns import ScoringFacts
from amgs.storage.blocks import NumberedBlock
from amgs.types import BlockFilter, Vector

Numbers = NDArray[np.int64]
"""(n,) int64: numbers of blocks."""


class BlockReader(Protocol):
    """What a search needs from the store; `derived.block_reader` implements it."""

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None) -> Numbers:
        """Return numbers of the blocks that pass, ascending; with a limit, the most recently reinforced of them."""
        ...

    def stored(self, numbers: Sequence[int]) -> Sequence[NumberedBlock]:
        """Return the blocks with these numbers, in any order; unknown numbers are left out."""
        ...

    def facts(self, numbers: Sequence[int]) -> ScoringFacts:
        """Return the scoring columns of the blocks with these numbers; unknown numbers are left out."""
        ...

    def numbers_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        """Return numbers by id, without ids that do not exist."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything a search reads.

    embed: the vector of a query. embed_raw: the vector of a raw block's text, cached where it was asked for before.
    sequences: the order of blocks, built on first use. knows_script: whether the embedder knows a text's script.
    meaning_weight: how much the embedder's cosines count; 1 for the packaged one.
    """

    blocks: BlockReader
    keyword: LexicalIndex
    vectors: VectorIndex
    graph: LiveGraph
    embed: Callable[[str], Vector]
    embed_raw: Callable[[str], Vector]
    clock: Clock
    sequences: Callable[[], SequenceIndex]
    knows_script: Callable[[str], bool]
    meaning_weight: float = 1.0
