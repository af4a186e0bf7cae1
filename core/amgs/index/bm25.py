"""BM25 over a few texts in memory, as it stands in the textbook (Robertson and Zaragoza 2009)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

K1, B = 1.2, 0.75


class TextBm25:
    """texts: the words of each, as whoever asks reads them."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        lengths = np.array([len(words) for words in texts], dtype=np.float64)
        self._norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        self._holders: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, words in enumerate(texts):
            for word, count in Counter(words).items():
                self._holders[word].append((row, count))

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Return (n,) one score a text; a word that the query repeats counts once."""
        size = self._norm.size
        total = np.zeros(size)
        for word in dict.fromkeys(query):
            postings = self._holders.get(word, [])
            weight = math.log(1 + (size - len(postings) + 0.5) / (len(postings) + 0.5))
            for row, count in postings:
                total[row] += weight * count * (K1 + 1) / (count + self._norm[row])
        return total
