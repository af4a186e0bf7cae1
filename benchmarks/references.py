"""The reference methods that run beside ours: textbook BM25, with its neighbours, and rank fusion."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from amgs.index.bm25 import TextBm25
from amgs.index.terms import word_analyzer
from amgs.text.stop_words import COMMON_WORDS

NEIGHBOURS = 0.3
"""The weight of the turn before and after, as the protocol's reference has it."""

FUSION = 60
"""The constant of reciprocal rank fusion."""

Scores = NDArray[np.float64]


class Bm25:
    """BM25 over stemmed words without stop words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._analyzer = word_analyzer()
        self._common = {stem for word in COMMON_WORDS for stem in self._analyzer.analyze(word)}
        self._bm25 = TextBm25([self._words(text) for text in texts])

    def scores(self, query: str) -> Scores:
        """(n,) one score a text."""
        return self._bm25.scores(self._words(query))

    def _words(self, text: str) -> list[str]:
        return [word for word in self._analyzer.analyze(text) if word not in self._common]


def with_neighbours(scores: Scores, sessions: Sequence[str], share: float = NEIGHBOURS) -> Scores:
    """(n,) each score plus a share of those before and after it in the same session."""
    total = scores.copy()
    same = np.array([a == b for a, b in pairwise(sessions)], dtype=np.bool_)
    total[1:] += share * np.where(same, scores[:-1], 0.0)
    total[:-1] += share * np.where(same, scores[1:], 0.0)
    return total


def fused_ranks(*lists: Scores) -> Scores:
    """(n,) reciprocal rank fusion of several scorings; what a method did not find at all (0) it does not
    rank.
    """
    total = np.zeros(lists[0].size)
    for scores in lists:
        ranks = np.empty(scores.size)
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
        total += np.where(scores > 0, 1.0 / (FUSION + ranks), 0.0)
    return total
