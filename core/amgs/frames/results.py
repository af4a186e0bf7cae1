"""Results of `memory.frames`: cached frames, comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from amgs.types import Block, Frame, ScoreParts, Weights


@dataclass(frozen=True, slots=True)
class CachedFrame:
    """The frame that a cache gave, or the one that took its place.

    fresh: it came from the cache. because: why it served, or why it was assembled anew. age_hours: of what the
    cache held; None where it held nothing. A frame from the cache has only its selected candidates.
    """

    frame: Frame
    fresh: bool
    because: str
    age_hours: float | None


@dataclass(frozen=True, slots=True)
class PastAssembly:
    """A line of the history of assemblies."""

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
    """One side of a comparison. label: what the operator asked for. tokens, entropy_bits: of its frame."""

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
    """A block that is not in the same place on both sides.

    A rank counts the selected blocks from 1; None: not selected. parts: the weighted parts of the right side less those
    of the left, whose sum is the change of the score.
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
    """Two assemblies beside each other. jaccard: blocks of both over blocks of either, 1 where both are empty.

    moved: those that came, those that left, then those whose rank changed, each in falling importance.
    """

    left: Side
    right: Side
    jaccard: float
    shared: tuple[str, ...]
    moved: tuple[RankChange, ...]
