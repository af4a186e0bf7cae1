"""Compare two assemblies: which blocks are in both, which moved, and which part of the score moved them.

`frame diff` and the frame pane show it. The other results of `memory.frames` are defined here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from amgs.types import COMPONENTS, Block, Candidate, Frame, ScoreParts, Weights


@dataclass(frozen=True, slots=True)
class CachedFrame:
    """A frame from the cache, or the frame assembled in its place.

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
    """Facts of either of the two compared frames. label: how the operator named it. blocks: how many are selected."""

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
    of the left; they sum to the change of the score. None where the block is a candidate in a single frame.
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


WeightsOf = Mapping[str, Weights]
"""The weights that scored each atomic frame, by its name."""


def weights_of(frame: Frame) -> WeightsOf:
    """Return the weights that scored the candidates of each part of a frame."""
    return {part.name: part.weights for part in frame.parts}


def compare(left: Frame, right: Frame, *, labels: tuple[str, str]) -> FrameComparison:
    """Compare two frames, block by block. labels: how the operator named each."""
    ranks = [{candidate.block.id: rank for rank, candidate in enumerate(frame.selected, 1)} for frame in (left, right)]
    known = [_best(left), _best(right)]
    weights = [weights_of(left), weights_of(right)]
    shared = [block_id for block_id in ranks[0] if block_id in ranks[1]]
    either = len(ranks[0].keys() | ranks[1].keys())
    moved = [
        _compare_ranks(
            known[0].get(block_id), known[1].get(block_id), ranks[0].get(block_id), ranks[1].get(block_id), *weights
        )
        for block_id in sorted(ranks[0].keys() | ranks[1].keys())
        if ranks[0].get(block_id) != ranks[1].get(block_id)
    ]
    return FrameComparison(
        _side(labels[0], left),
        _side(labels[1], right),
        jaccard=len(shared) / either if either else 1.0,
        shared=tuple(shared),
        moved=tuple(sorted(moved, key=_order)),
    )


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the size of the intersection over that of the union; 1 for two empty sets."""
    return len(first & second) / len(first | second) if first or second else 1.0


def _best(frame: Frame) -> dict[str, Candidate]:
    """Return each block once: where it was selected, else where it scored highest."""
    candidates: dict[str, Candidate] = {}
    for candidate in frame.candidates:
        before = candidates.get(candidate.block.id)
        if before is None or (candidate.fate == "selected", candidate.score) > (
            before.fate == "selected",
            before.score,
        ):
            candidates[candidate.block.id] = candidate
    return candidates


def _side(label: str, frame: Frame) -> Side:
    return Side(
        label,
        frame.id,
        frame.name,
        frame.query,
        frame.as_of,
        frame.budget,
        frame.tokens,
        frame.entropy_bits,
        len(frame.selected),
        frame.weights,
    )


def _compare_ranks(
    left: Candidate | None,
    right: Candidate | None,
    left_rank: int | None,
    right_rank: int | None,
    left_weights: WeightsOf,
    right_weights: WeightsOf,
) -> RankChange:
    """Return how a block's rank and score differ; parts: the right side's weighted parts less the left's."""
    candidate = right or left
    if candidate is None:
        raise ValueError("a block that moved is a candidate on one side at least")
    parts = None
    if left is not None and right is not None:
        first = left.parts.weigh_parts(left_weights[left.child])
        second = right.parts.weigh_parts(right_weights[right.child])
        parts = ScoreParts(*(getattr(second, n) - getattr(first, n) for n in COMPONENTS))
    return RankChange(
        candidate.block,
        left_rank,
        right_rank,
        None if left is None else left.score,
        None if right is None else right.score,
        parts,
        _because(left, right, parts),
    )


def _because(left: Candidate | None, right: Candidate | None, parts: ScoreParts | None) -> str:
    """Return why a block moved, in words: what refused it, and the part of the score that changed most."""
    if left is None:
        return "not a candidate on the left"
    if right is None:
        return "not a candidate on the right"
    reasons = [c.because for c in (left, right) if c.fate != "selected" and c.because]
    if parts is not None:
        name = max(COMPONENTS, key=lambda n: abs(getattr(parts, n)))
        change = getattr(parts, name)
        if abs(change) >= 0.0005:
            reasons.append(f"{name} {change:+.3f}")
        elif left.fate == right.fate == "selected":
            reasons.append("others moved around it")
    return "; ".join(reasons)


def _order(change: RankChange) -> tuple[int, int, str]:
    """Return a sort key: blocks that came, by rank; that left, by rank; that moved, the furthest first."""
    if change.left_rank is None:
        return 0, change.right_rank or 0, change.block.id
    if change.right_rank is None:
        return 1, change.left_rank, change.block.id
    return 2, -abs(change.left_rank - change.right_rank), change.block.id
