"""The parts of a composite score and what each counts (AMGS §3.3, §7.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from amgs.errors import WeightsError

COMPONENTS = ("recency", "centrality", "confidence", "similarity", "reinforcement")


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """The five components of a composite score, each in [0, 1]."""

    recency: float = 0.0
    centrality: float = 0.0
    confidence: float = 0.0
    similarity: float = 0.0
    reinforcement: float = 0.0

    def weighted(self, weights: Weights) -> ScoreParts:
        """Each part times its weight: the stacked bar whose total is the score."""
        return ScoreParts(*(getattr(self, name) * getattr(weights, name) for name in COMPONENTS))

    def total(self) -> float:
        """The sum of the parts, clipped to [0, 1]: rounding must not lift a score over its range."""
        return min(1.0, max(0.0, sum(float(getattr(self, name)) for name in COMPONENTS)))


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each component counts in a frame; not negative, sum 1 (raises WeightsError otherwise)."""

    recency: float
    centrality: float
    confidence: float
    similarity: float
    reinforcement: float

    def __post_init__(self) -> None:
        values = [getattr(self, f.name) for f in fields(self)]
        if any(not math.isfinite(v) or v < 0 for v in values) or not math.isclose(
            sum(values), 1.0, abs_tol=1e-6
        ):
            given = ", ".join(f"{name} {value:g}" for name, value in zip(COMPONENTS, values, strict=True))
            raise WeightsError(
                f"Got {given} (sum {sum(values):g}).",
                way_out="Give five weights that are not negative and sum to 1.",
            )

    @classmethod
    def normalised(cls, **weights: float) -> Weights:
        """Weights from any not-negative numbers by dividing by their sum; missing ones are 0."""
        total = sum(weights.values())
        if not math.isfinite(total) or total <= 0:
            raise WeightsError("All weights are 0.", way_out="Give at least one a positive value.")
        return cls(**{name: weights.get(name, 0.0) / total for name in COMPONENTS})
