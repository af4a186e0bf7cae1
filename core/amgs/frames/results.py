"""Results of `memory.frames`: cached frames, the history of assemblies, comparisons. Their fields are the JSON of
commands and of the service.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from amgs.types import Block, Frame, ScoreParts, Weights


@dataclass(frozen=True, slots=True)
class CachedFrame:
    """A frame from the cache, or the one assembled in its place.

    fresh: it came from the cache. because: why it could be used, or why it was assembled again. age_hours: of the cache
    entry; None where there was none. A frame from the cache has only its selected candidates.
    """

    frame: Frame
    fresh: bool
    because: str
    age_hours: float | None


@dataclass(frozen=True, slots=True)
class PastAssembly:
    """An assembly in the history. blocks: how many were selected. weights: None where they were not logged."""

    id: str
    name: str
    query: str
    as_of: datetime
    budget: int
    tokens: int
    entropy_bits: float
    blocks: int
    weights: Weights | None


@dataclass(frozen=True, slots=True)
class History:
    """Logged assemblies, the newest first; total counts all of them."""

    assemblies: tuple[PastAssembly, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Side:
    """Facts of one of the two frames compared. label: how the operator named it. blocks: how many are selected."""

    label: str
    id: str
    name: str
    query: str
    as_of: datetime
    budget: int
    tokens: int
    entropy_bits: float
    blocks: int
    weights: Weights


@dataclass(frozen=True, slots=True)
class RankChange:
    """A block whose rank differs between two frames.

    Ranks count the selected blocks from 1; None: not selected. parts: the weighted parts of the right score less those
    of the left; they sum to the change of the score. None where the block is a candidate of only one frame.
    """

    block: Block
    left_rank: int | None
    right_rank: int | None
    left_score: float | None
    right_score: float | None
    parts: ScoreParts | None
    because: str


@dataclass(frozen=True, slots=True)
class FrameComparison:
    """Comparison of two assemblies. jaccard: blocks in both over blocks in either; 1 where both are empty.

    shared: ids of the blocks in both. moved: blocks that came, then that left, then whose rank changed.
    """

    left: Side
    right: Side
    jaccard: float
    shared: tuple[str, ...]
    moved: tuple[RankChange, ...]
