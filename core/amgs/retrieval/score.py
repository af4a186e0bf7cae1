"""Layer 6: the composite score of five parts, each in [0, 1] (AMGS §7.2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from amgs.clock import microseconds_of
from amgs.retrieval.layers import saturate_share
from amgs.storage.block_columns import ScoringFacts
from amgs.types import COMPONENTS, Weights

SEARCH_WEIGHTS = Weights(recency=0.01, centrality=0.01, confidence=0.01, similarity=0.96, reinforcement=0.01)
"""A search asks what matches; the other parts only order what matches equally well: docs/results/search.md."""

ALONE_WEIGHTS = Weights(recency=0.0, centrality=0.0, confidence=0.0, similarity=1.0, reinforcement=0.0)
"""A layer that runs alone gives its own order."""

REINFORCEMENTS_FOR_HALF = 4.0
"""So many reinforcements read 0.5."""

_IDENTIFIER_PULL = 0.9
"""How far a block that holds all rare identifiers of the query is drawn from its similarity towards 1."""

_IDENTIFIER_PUSH = 0.5
"""How far, while some block holds them, every similarity is drawn towards 0 first."""

_SUPERSEDED_SHARE = 0.5
"""What of its similarity a block keeps that was superseded."""

_MICROSECONDS_PER_HOUR = 3_600_000_000.0


@dataclass(slots=True)
class Finding:
    """Evidence of the layers for one block so far; a query fills hundreds of them.

    share, exact: see LexicalHit. cosine is None without an embedding.

    layers: those that found it, in waterfall order.
    """

    share: float = 0.0
    exact: float = 0.0
    cosine: float | None = None
    flow: float = 0.0
    layers: tuple[str, ...] = ()


def similarity(finding: Finding, lexical_share: float) -> float:
    """Return how well a block matches the query by what one layer says, in [0, 1]: for the seeds of the graph, and
    where a layer runs alone.

    The lexical score and the cosine by their shares; a block without an embedding has the lexical score
    alone. What flowed in along edges is joined as an independent chance.
    """
    lexical = saturate_share(finding.share)
    matched = lexical
    if finding.cosine is not None:
        matched = lexical_share * lexical + (1.0 - lexical_share) * max(finding.cosine, 0.0)
    matched += (1.0 - matched) * _IDENTIFIER_PULL * finding.exact
    return min(1.0, 1.0 - (1.0 - matched) * (1.0 - finding.flow))


def pull_exact(similarities: NDArray[np.float64], exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return similarities (m,) with the exact identifiers' say (m,): who holds a rare one outweighs who does not."""
    spared = similarities * (1.0 - _IDENTIFIER_PUSH * float(exact.max(initial=0.0)))
    return np.clip(spared + (1.0 - spared) * _IDENTIFIER_PULL * exact, 0.0, 1.0)


def demote_superseded(similarities: NDArray[np.float64], superseded: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return similarities (m,) with those of what no longer holds (m,) at half: it is found behind what took its
    place.
    """
    return np.where(superseded, _SUPERSEDED_SHARE * similarities, similarities)


def reinforcement(count: float) -> float:
    """n / (n + 4): rises with every reinforcement, ever less."""
    return count / (count + REINFORCEMENTS_FOR_HALF)


def weight_row(weights: Weights) -> NDArray[np.float64]:
    """Return the weights (5,) in the order of COMPONENTS."""
    return np.array([getattr(weights, name) for name in COMPONENTS])


@dataclass(frozen=True, eq=False)
class CompositeScores:
    """The candidates' composite: parts (m, 5) in the order of COMPONENTS, totals (m,), and `order`: the rows
    in falling score, ties by block id, so that equal runs give equal lists.
    """

    facts: ScoringFacts
    parts: NDArray[np.float64]
    totals: NDArray[np.float64]
    order: NDArray[np.int64]


def score(
    facts: ScoringFacts,
    similarities: NDArray[np.float64],
    importance: NDArray[np.float64],
    now: datetime,
    weights: Weights,
) -> CompositeScores:
    """Compute the composite score of m candidates, rows as in the facts. importance: centrality in [0, 1]."""
    hours = np.maximum(microseconds_of(now) - facts.reinforced, 0) / _MICROSECONDS_PER_HOUR
    columns = {
        "recency": np.exp(-facts.decay_lambda * hours),
        "centrality": importance,
        "confidence": np.clip(facts.confidence, 0.0, 1.0),
        "similarity": similarities,
        "reinforcement": facts.reinforcements / (facts.reinforcements + REINFORCEMENTS_FOR_HALF),
    }
    parts = np.stack([columns[name] for name in COMPONENTS], axis=1)
    totals = np.clip((parts * weight_row(weights)).sum(axis=1), 0.0, 1.0)
    order = np.argsort(-totals)
    if (np.diff(totals[order]) == 0).any():  # ids as text are slow to sort, and seldom asked
        order = np.lexsort((facts.ids.astype(str), -totals))
    return CompositeScores(facts, parts, totals, order)
