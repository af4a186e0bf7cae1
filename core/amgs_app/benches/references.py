"""The reference methods that run beside ours: textbook BM25, with its neighbours, and rank fusion."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from amgs.index.terms import word_analyzer
from amgs.text.stop_words import COMMON_WORDS

K1, B = 1.2, 0.75
NEIGHBOURS = 0.3
"""The weight of the turn before and after, as the protocol's reference has it."""

FUSION = 60
"""The constant of reciprocal rank fusion."""

Scores = NDArray[np.float64]


class Bm25:
    """BM25 over stemmed words without stop words, as it stands in the textbook."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._analyzer = word_analyzer()
        self._common = {stem for word in COMMON_WORDS for stem in self._analyzer.analyze(word)}
        counted = [Counter(self._words(text)) for text in texts]
        lengths = np.array([sum(words.values()) for words in counted], dtype=np.float64)
        self._norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        self._holders: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, words in enumerate(counted):
            for word, count in words.items():
                self._holders[word].append((row, count))

    def scores(self, query: str) -> Scores:
        """(n,) one score a text."""
        size = self._norm.size
        total = np.zeros(size)
        for word in dict.fromkeys(self._words(query)):
            held = self._holders.get(word, [])
            weight = math.log(1 + (size - len(held) + 0.5) / (len(held) + 0.5))
            for row, count in held:
                total[row] += weight * count * (K1 + 1) / (count + self._norm[row])
        return total

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
