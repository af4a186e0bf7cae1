"""The four signs that a block is expendable: faded, peripheral, unused, doubted (AMGS §8.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from amgs.settings import PruningSettings
from amgs.storage.block_columns import BlockFacts
from amgs.types.calibration import Usefulness

SIGNS = ("relevance", "centrality", "reinforcement", "confidence")

EVEN = 0.5
"""A block that is useful more often than not stays."""

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Signals:
    """What speaks for and against n blocks, as arrays (n,). exempt: parts of the self, and pins. usefulness: by
    verdicts, NaN for a block without one. It counts in place of the confidence, which says only how sure the category
    is.
    """

    relevance: Values
    centrality: Values
    reinforcement: Values
    confidence: Values
    exempt: Mask
    usefulness: Values

    @property
    def size(self) -> int:
        return int(self.relevance.size)


def signals(
    facts: BlockFacts, centrality: Mapping[int, float], judged: Mapping[str, tuple[int, int]], now: datetime
) -> Signals:
    """The signals of the blocks at an instant. centrality: by running number, in [0, 1]. judged: (times useful,
    verdicts) of blocks, by id.
    """
    useful = [Usefulness(*judged[i]).mean if i in judged else np.nan for i in map(str, facts.ids)]
    hours = np.maximum(int(now.timestamp() * 1e6) - facts.reinforced, 0) / 3.6e9
    return Signals(
        relevance=np.exp(-facts.decay_lambda * hours),
        centrality=np.array([centrality.get(int(n), 0.0) for n in facts.numbers], dtype=np.float64),
        reinforcement=facts.reinforcements.astype(np.float64),
        confidence=facts.confidence,
        exempt=facts.self_component | (facts.decay_lambda <= 0),
        usefulness=np.array(useful, dtype=np.float64),
    )


def limits(seen: Signals, settings: PruningSettings, lowest: float = 0.0) -> dict[str, float]:
    """The greatest value of each sign that still is low.

    lowest: that share of the blocks is low in centrality and in confidence, where the fixed limit is stricter.
    """
    found = {
        "relevance": settings.relevance,
        "centrality": settings.centrality,
        "reinforcement": float(settings.reinforcements),
        "confidence": settings.confidence,
    }
    if lowest > 0 and seen.size:
        for name in ("centrality", "confidence"):
            share = float(np.quantile(getattr(seen, name), lowest, method="lower"))
            found[name] = max(found[name], share)
    return found


def low(seen: Signals, bounds: Mapping[str, float]) -> dict[str, Mask]:
    """Which blocks show each sign; relevance must lie under its limit, the others may reach it."""
    found = {
        name: getattr(seen, name) < bounds[name] if name == "relevance" else getattr(seen, name) <= bounds[name]
        for name in SIGNS
    }
    known = ~np.isnan(seen.usefulness)
    found["confidence"] = np.where(known, seen.usefulness <= EVEN, found["confidence"])
    return found


def expendable(seen: Signals, bounds: Mapping[str, float], others: int = 3) -> Mask:
    """(n,) faded blocks that show at least `others` of the three other signs and are not exempt."""
    signs = low(seen, bounds)
    count = sum(signs[name].astype(np.int64) for name in SIGNS[1:])
    return np.asarray(signs["relevance"] & ~seen.exempt & (count >= others))


def least(seen: Signals, among: NDArray[np.int64]) -> NDArray[np.int64]:
    """The blocks `among`, in rising order of their mean rank over the four signs; ties by place."""
    ranks = np.zeros(seen.size)
    for name in SIGNS:
        _, place, counts = np.unique(getattr(seen, name), return_inverse=True, return_counts=True)
        # Equals share the mean of their places.
        ranks += (np.cumsum(counts) - (counts + 1) / 2)[place]
    return among[np.lexsort((among, ranks[among]))]
