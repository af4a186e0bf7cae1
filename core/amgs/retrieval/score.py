"""Compute the composite score of a search's candidates from five parts, each in [0, 1] (AMGS §7.2): layer 6.

Searches, frames and `why` score with it; because the sum is linear, `admit` can say which weights would admit a block.
"""

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
"""Number of reinforcements at which the part `reinforcement` is 0.5."""

_IDENTIFIER_PULL = 0.9
"""How far the similarity of a block with all rare identifiers of the query moves towards 1."""

_IDENTIFIER_PUSH = 0.5
"""How far all similarities first move towards 0 where some block has those identifiers."""

_SUPERSEDED_SHARE = 0.5
"""Share of its similarity that a superseded block keeps."""

_MICROSECONDS_PER_HOUR = 3_600_000_000.0


@dataclass(slots=True)
class Finding:
    """What the layers say so far about one candidate; mutable, because each layer of a query adds to hundreds.

    share, exact: see LexicalHit. cosine: None without an embedding. flow: similarity that came along edges, in [0, 1].
    layers: names of those that found the block, in the order of the waterfall.
    """

    share: float = 0.0
    exact: float = 0.0
    cosine: float | None = None
    flow: float = 0.0
    layers: tuple[str, ...] = ()


def similarity(finding: Finding, lexical_share: float) -> float:
    """Return how well a block matches the query, in [0, 1], without features: for the graph's seeds, and where only one
    kind of layer runs.

    Weighs the lexical score by `lexical_share` and the cosine by the rest; without an embedding the lexical score
    counts alone. The flow along edges is joined as an independent chance.
    """
    lexical = saturate_share(finding.share)
    matched = lexical
    if finding.cosine is not None:
        matched = lexical_share * lexical + (1.0 - lexical_share) * max(finding.cosine, 0.0)
    matched += (1.0 - matched) * _IDENTIFIER_PULL * finding.exact
    return min(1.0, 1.0 - (1.0 - matched) * (1.0 - finding.flow))


def pull_exact(similarities: NDArray[np.float64], exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return similarities (m,) raised by the share of exact identifiers (m,), so that a block with a rare identifier of
    the query ranks above those without.
    """
    lowered = similarities * (1.0 - _IDENTIFIER_PUSH * float(exact.max(initial=0.0)))
    return np.clip(lowered + (1.0 - lowered) * _IDENTIFIER_PULL * exact, 0.0, 1.0)


def demote_superseded(similarities: NDArray[np.float64], superseded: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return similarities (m,), halved where a block is superseded (m,), so that it ranks behind its successor."""
    return np.where(superseded, _SUPERSEDED_SHARE * similarities, similarities)


def reinforcement(count: float) -> float:
    """Return n / (n + 4) for n reinforcements: each one adds less than the one before."""
    return count / (count + REINFORCEMENTS_FOR_HALF)


def weight_row(weights: Weights) -> NDArray[np.float64]:
    """Return the weights (5,) in the order of COMPONENTS."""
    return np.array([getattr(weights, name) for name in COMPONENTS])


@dataclass(frozen=True, eq=False)
class CompositeScores:
    """Composite scores of m candidates. parts: (m, 5) in the order of COMPONENTS. totals: (m,).

    order: rows from best to worst, ties by block id, so that equal runs give equal lists.
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
    if (np.diff(totals[order]) == 0).any():  # sorting by id is slow, and only ties need it
        order = np.lexsort((facts.ids.astype(str), -totals))
    return CompositeScores(facts, parts, totals, order)
