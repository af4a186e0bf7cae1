"""Layer 6: the composite score of five parts, each in [0, 1] (AMGS §7.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from amgs.decay import relevance_at
from amgs.model import Candidate, ScoreParts, Weights
from amgs.retrieval.keyword import saturated
from amgs.retrieval.ports import StoredBlock

SEARCH_WEIGHTS = Weights(recency=0.04, centrality=0.03, confidence=0.04, similarity=0.85, reinforcement=0.04)
"""A search asks what matches; the other parts only order what matches equally well."""

REINFORCEMENTS_FOR_HALF = 4.0
"""So many reinforcements read 0.5."""

_IDENTIFIER_PULL = 0.9
"""How far a block that holds all rare identifiers of the query is drawn from its similarity towards 1."""


@dataclass(slots=True)
class Evidence:
    """What the layers found out about one block so far; a query fills hundreds of them. share, exact: see
    LexicalHit. cosine is None without an embedding.

    layers: those that found it, in waterfall order.
    """

    share: float = 0.0
    exact: float = 0.0
    cosine: float | None = None
    flow: float = 0.0
    layers: tuple[str, ...] = ()


def similarity(evidence: Evidence, lexical_share: float) -> float:
    """How well a block matches the query, in [0, 1].

    The lexical score and the cosine by their shares; a block without an embedding has the lexical score
    alone. An exact rare identifier outweighs any cosine, and what flowed in along edges is joined as an
    independent chance.
    """
    lexical = saturated(evidence.share)
    matched = lexical
    if evidence.cosine is not None:
        matched = lexical_share * lexical + (1.0 - lexical_share) * max(evidence.cosine, 0.0)
    matched += (1.0 - matched) * _IDENTIFIER_PULL * evidence.exact
    return min(1.0, 1.0 - (1.0 - matched) * (1.0 - evidence.flow))


def reinforcement(count: int) -> float:
    """n / (n + 4): rises with every reinforcement, ever less."""
    return count / (count + REINFORCEMENTS_FOR_HALF)


def score(
    blocks: Iterable[StoredBlock],
    evidence: Mapping[int, Evidence],
    importance: Mapping[int, float],
    now: datetime,
    weights: Weights,
    lexical_share: float,
) -> tuple[Candidate, ...]:
    """Candidates in falling score, ties by block id. evidence and importance (centrality in [0, 1]) are by
    number.
    """
    scored = []
    for stored in blocks:
        block = stored.block
        found = evidence.get(stored.number, Evidence())
        parts = ScoreParts(
            recency=relevance_at(block.decay_lambda, block.last_reinforced_at, now),
            centrality=importance.get(stored.number, 0.0),
            confidence=min(1.0, max(0.0, block.confidence)),
            similarity=similarity(found, lexical_share),
            reinforcement=reinforcement(stored.reinforcements),
        )
        scored.append(
            Candidate(
                block=block,
                parts=parts,
                score=parts.weighted(weights).total(),
                layers=found.layers,
                lexical=saturated(found.share),
                vector=max(found.cosine or 0.0, 0.0),
                graph=found.flow,
            )
        )
    scored.sort(key=rank)
    return tuple(scored)


def rank(candidate: Candidate) -> tuple[float, str]:
    """The order of candidates: falling score, ties by block id, so that equal runs give equal lists."""
    return (-candidate.score, candidate.block.id)
