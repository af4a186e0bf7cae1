"""Score a few texts in memory with textbook BM25 (Robertson and Zaragoza 2009); the index of a store is `keyword`."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

K1, B = 1.2, 0.75


class TextBm25:
    """BM25 index of n texts. texts: the words of each, cut and stemmed like those of the queries."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        lengths = np.array([len(words) for words in texts], dtype=np.float64)
        self._norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        self._holders: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, words in enumerate(texts):
            for word, count in Counter(words).items():
                self._holders[word].append((row, count))

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of each text (n,); a repeated query word counts once."""
        size = self._norm.size
        total = np.zeros(size)
        for word in dict.fromkeys(query):
            postings = self._holders.get(word, [])
            weight = math.log(1 + (size - len(postings) + 0.5) / (len(postings) + 0.5))
            for row, count in postings:
                total[row] += weight * count * (K1 + 1) / (count + self._norm[row])
        return total
