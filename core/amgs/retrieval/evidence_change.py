"""The change of the evidence's weights that would admit a block: the remedy over what is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amgs.retrieval.features import FEATURES, Features
from amgs.retrieval.similarity import WEIGHTS, fused
from amgs.types import COMPONENTS, EvidenceChange, Weights

if TYPE_CHECKING:
    from amgs.retrieval.score import CompositeScores

_HALVINGS = 20
_LENGTHS = 32
_SAME = 1e-9
_SIMILARITY = COMPONENTS.index("similarity")

Row = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Pool:
    """The candidates of a query, scored anew under other weights of the evidence."""

    evidence: Features
    scored: CompositeScores
    share: float

    def rank(self, row: int, weights: Row) -> int:
        """Where a row stands under the weights (k,), ties by id: 1 is the best."""
        moved = fused(self.evidence.values @ weights) - self.scored.parts[:, _SIMILARITY]
        totals = self.scored.totals + self.share * moved
        ids = self.scored.facts.ids
        ahead = (totals > totals[row]) | ((totals == totals[row]) & (ids.astype(str) < str(ids[row])))
        return 1 + int(ahead.sum())


def evidence_change(
    evidence: Features, scored: CompositeScores, row: int, places: int, weights: Weights
) -> EvidenceChange | None:
    """The shortest step that brings candidate `row` among the first `places`, along what sets it apart from the last
    one admitted, or from all that are, whichever is shorter; None where neither does.

    None, too, where the similarity is not of the evidence alone: a rare identifier outweighs every feature.
    """
    fitted = np.array([WEIGHTS[name] for name in FEATURES])
    similar = fused(evidence.values @ fitted)
    if places <= 0 or float(np.abs(similar - scored.parts[:, _SIMILARITY]).max(initial=0.0)) > _SAME:
        return None
    pool = _Pool(evidence, scored, weights.similarity)
    ahead = [int(other) for other in scored.order[:places] if other != row]
    if not ahead:
        return None
    apart = evidence.values[row] - evidence.values[ahead]
    found = [
        step
        for direction in (apart[-1], apart.mean(axis=0))
        if (step := _shortest(pool, row, places, fitted, direction)) is not None
    ]
    if not found:
        return None
    best = min(found, key=lambda step: float(np.linalg.norm(step)))
    changed = {
        name: (float(old), float(old + by))
        for name, old, by in zip(FEATURES, fitted, best, strict=True)
        if by
    }
    return EvidenceChange(changed, float(np.linalg.norm(best)), pool.rank(row, fitted + best))


def _shortest(pool: _Pool, row: int, places: int, fitted: Row, direction: Row) -> Row | None:
    """The shortest step (k,) along a direction that admits the row, at most as long as the weights; else None."""
    length = float(np.linalg.norm(direction))
    if length <= _SAME:
        return None
    unit = direction / length
    # A step too far lifts others over the row: the first length that admits it is looked for from below.
    lengths = np.linspace(0.0, float(np.linalg.norm(fitted)), _LENGTHS + 1)
    at = next(
        (i for i in range(1, _LENGTHS + 1) if pool.rank(row, fitted + lengths[i] * unit) <= places), None
    )
    if at is None:
        return None
    low, high = float(lengths[at - 1]), float(lengths[at])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if pool.rank(row, fitted + middle * unit) > places:
            low = middle
        else:
            high = middle
    return np.asarray(high * unit)
