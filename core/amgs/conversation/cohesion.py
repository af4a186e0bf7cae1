"""Measure the cohesion of the messages before a gap with those after it, by their meaning and their words."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.index.terms import idf, word_analyzer
from amgs.storable import make_storable
from amgs.text.stop_words import COMMON_WORDS
from amgs.types import Vector

Floats = NDArray[np.float64]

_CENTRED = 0.9
"""Share of the conversation's mean vector that is subtracted from each message."""
_WORDS = 0.3
"""The share of the words; the rest is meaning."""
_WINDOWS = (0.25, 0.5)
"""Of the length that a topic is expected to have: the windows on either side of a gap, two messages at least."""
_HASHED = 1024
_WORD = re.compile(r"\w+")
_LONGEST = 100_000
"""Characters of a message whose words are counted."""


@dataclass(frozen=True, eq=False, slots=True)
class Cohesion:
    """One value a gap between neighbours, (n - 1,). cohesion: cosine of both sides. far: the mean of it between
    sides that are a whole topic apart. depth: how far below the peaks around it a gap lies (TextTiling, Hearst 1997).
    """

    cohesion: Floats
    far: float
    depth: Floats


def cohesion(texts: Sequence[str], vectors: Vector, expected: float) -> Cohesion:
    """Return the cohesion at each gap between n messages. vectors: (n, d), of unit length. expected: messages of a
    topic.
    """
    meanings = centre(texts, vectors)
    words = word_vectors(texts)
    apart = max(4, round(expected))
    widths = [max(2, round(share * expected)) for share in _WINDOWS]
    meaning = [_between(meanings, width, apart) for width in widths]
    lexical, lexical_far = _between(words, widths[-1], apart)
    adjacent = (1 - _WORDS) * np.mean([near for near, _ in meaning], axis=0) + _WORDS * lexical
    far = (1 - _WORDS) * float(np.mean([far for _, far in meaning])) + _WORDS * lexical_far
    return Cohesion(adjacent, far, depths(adjacent))


def depths(values: Floats) -> Floats:
    """Return how far each value lies below the nearest peak on its left and on its right, together: (m,)."""
    return _falls(values) + _falls(values[::-1])[::-1]


def word_vectors(texts: Sequence[str]) -> Vector:
    """Return (n, 1024): stemmed words hashed with a sign, weighted by how few of the messages have them."""
    counted = [stems(text[:_LONGEST]) for text in texts]
    frequency = Counter(word for words in counted for word in words)
    vectors = np.zeros((len(texts), _HASHED), dtype=np.float32)
    for row, words in enumerate(counted):
        for word, count in words.items():
            code = zlib.crc32(word.encode())
            weight = (1 + np.log(count)) * idf(len(texts), frequency[word])
            vectors[row, code % _HASHED] += weight if code >> 31 else -weight
    return vectors


def stems(text: str) -> Counter[str]:
    """Return the stemmed words of a text that say what it is about, counted."""
    common = _common()
    return Counter(word for word in _analyzer().analyze(make_storable(text)) if len(word) > 1 and word not in common)


def centre(texts: Sequence[str], vectors: Vector) -> Vector:
    """Return each message's vector less the conversation's mean (n, d), with length √(1 + words)."""
    if not len(texts):
        return vectors
    lengths = np.sqrt([1.0 + len(text[:_LONGEST].split()) for text in texts])
    common = _CENTRED * np.average(vectors, axis=0, weights=lengths)
    return np.asarray(_unit(vectors - common) * lengths[:, None])


def _between(vectors: Vector, width: int, apart: int) -> tuple[Floats, float]:
    """Return the cosine of the `width` messages before each gap and those after it, and its mean over windows that are
    `apart` or more from each other.
    """
    n = len(vectors)
    sums = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)])
    gaps = np.arange(1, n)
    before = _unit(sums[gaps] - sums[np.maximum(0, gaps - width)])
    after = _unit(sums[np.minimum(n, gaps + width)] - sums[gaps])
    adjacent = np.einsum("ij,ij->i", before, after)
    if n - 1 <= apart:
        return adjacent, float(adjacent.min())
    ahead = np.cumsum(before, axis=0)[: n - 1 - apart]  # of all windows that lie far before each
    pairs = (n - 1 - apart) * (n - apart) / 2
    return adjacent, float(np.einsum("ij,ij->", ahead, after[apart:])) / pairs


def _falls(values: Floats) -> Floats:
    """By how much each value lies below the peak that is reached from it by climbing to the left."""
    fallen = np.zeros(len(values))
    for place in range(1, len(values)):
        if values[place - 1] >= values[place]:
            fallen[place] = fallen[place - 1] + values[place - 1] - values[place]
    return fallen


def _unit(vectors: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))


def spell_stem(text: str, stem: str) -> str:
    """Return the commonest word of a text with this stem, as it stands there in lower case."""
    words = Counter(word.lower() for word in _WORD.findall(text[:_LONGEST]))
    return next((word for word, _ in words.most_common() if _analyzer().analyze(make_storable(word)) == [stem]), stem)


@lru_cache(maxsize=1)
def _analyzer() -> Any:
    return word_analyzer()


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    return frozenset(_analyzer().analyze(" ".join(COMMON_WORDS))) | frozenset(COMMON_WORDS)
