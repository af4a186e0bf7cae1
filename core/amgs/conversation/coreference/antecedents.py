"""Which earlier mention a pronoun means: what a scorer is, and the one by rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from amgs.conversation.coreference.pairs import FEATURES, pair_features
from amgs.conversation.coreference.passage import CorefPassage
from amgs.types import Vector


class AntecedentScorer(Protocol):
    """Tells how probably a mention means what each of some others means."""

    @property
    def name(self) -> str: ...

    @property
    def reliability(self) -> float:
        """How often it is right for what it promises: confidence is probability times this."""
        ...

    def probabilities(self, passage: CorefPassage, anaphor: int, candidates: Sequence[int]) -> Vector:
        """One value for each candidate, (n,); what is left to 1 is that none of them is meant."""
        ...


RULES: Mapping[str, float] = {
    "1 sentence": -0.4,
    "2 sentences": -0.9,
    "3 or 4 sentences": -1.5,
    "5 or more sentences": -2.4,
    "words apart": -0.35,
    "follows": -1.5,
    "candidate is label": -1.6,
    "candidate is noun": -0.4,
    "candidate is person": 0.5,
    "candidate: subject": 0.5,
    "candidate: possessive": -0.2,
    "same role": 0.7,
    "genders agree": 1.0,
    "genders clash": -8.0,
    "numbers clash": -6.0,
    "contains the anaphor": -8.0,
    "candidates between": -0.5,
    "how often said": 0.3,
    "quoted as the anaphor is": 0.3,
}
"""Weights set by hand after what is known of English: recency, subjects, parallel roles, agreement."""
_CLAUSE = -4.0  # "he saw him" is two people, "he saw himself" is one
_NONE = -1.5  # the score of nothing


class RuleScorer:
    """A weighted sum of the features of a pair, with weights set by hand."""

    name = "rules"
    reliability = 0.57
    """On the he and she of eight episodes of Friends."""

    def __init__(self, weights: Mapping[str, float] = RULES) -> None:
        self._weights = np.array([weights.get(name, 0.0) for name in FEATURES], dtype=np.float32)

    def probabilities(self, passage: CorefPassage, anaphor: int, candidates: Sequence[int]) -> Vector:
        rows = pair_features(passage, anaphor, candidates)
        return softmax_with_none(rows @ self._weights + _CLAUSE * clause_mates(rows), _NONE)


def clause_mates(rows: Vector) -> Vector:
    """Which rows of `pair_features` are of two that depend on one verb and so are not the same, unless reflexive."""
    same, reflexive, possessive, theirs = (
        rows[:, FEATURES.index(name)]
        for name in ("same clause", "reflexive", "anaphor: possessive", "candidate: possessive")
    )
    return np.asarray(same * (1 - reflexive) * (1 - possessive) * (1 - theirs))


def softmax_with_none(scores: Vector, none: float) -> Vector:
    """Probabilities of the scores beside one more, which is left out: (n,) -> (n,)."""
    if not len(scores):
        return np.zeros(0, dtype=np.float32)
    top = max(float(scores.max()), none)
    weights = np.exp(scores - top)
    return np.asarray(weights / (weights.sum() + np.exp(none - top)), dtype=np.float32)
