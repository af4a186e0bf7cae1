"""Divide a conversation into topics, by cues, lengths and cohesion at each gap between messages (fitted
weights): what is said before it is compared with what is said after, by meaning and words.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.incoming import make_storable
from amgs.index.terms import idf, word_analyzer
from amgs.text.words import COMMON_WORDS
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


_TERMS = 5


def cut_topics(
    texts: Sequence[str], vectors: Vector, sessions: Sequence[tuple[int, int]]
) -> list[tuple[int, int, float]]:
    """Divide n messages into adjacent topics (start, end, chance); chance: how likely the topic changed before it, 1 at
    the beginning of a session.

    vectors: (n, d), unit length. sessions: (start, end) of each; a topic never continues in another session.
    """
    spans: list[tuple[int, int, float]] = []
    for start, end in sessions:
        chances = topic_changes(texts[start:end], vectors[start:end])
        cuts = [int(place) + 1 for place in np.flatnonzero(boundaries(chances))]
        for first, after in pairwise([0, *cuts, end - start]):
            spans.append((start + first, start + after, float(chances[first - 1]) if first else 1.0))
    return spans


def topic_changes(texts: Sequence[str], vectors: Vector) -> Floats:
    """Return (n - 1,): how likely the topic changes at each gap between n messages of a session."""
    if len(texts) < 2:
        return np.zeros(0)
    expected = len(texts) / estimate_topics(len(texts))
    evidence = weigh_gaps(texts, cohesion(texts, vectors, expected))
    log_odds = evidence @ np.asarray(WEIGHTS) + BIAS + prior_log_odds(len(texts))
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


def find_terms(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return for each text at most five words that distinguish it best from the others."""
    counted = [stems(text) for text in texts]
    among = Counter(stem for words in counted for stem in words)
    terms = []
    for text, words in zip(texts, counted, strict=True):
        weight = {
            stem: (1 + math.log(count)) * math.log((1 + len(texts)) / among[stem]) for stem, count in words.items()
        }
        best = sorted(weight, key=lambda stem: (-weight[stem], stem))[:_TERMS]
        terms.append(tuple(spell_stem(text, stem) for stem in best))
    return terms


FEATURES = ("depth", "apart", "opens", "closed", "asked", "length")
WEIGHTS: tuple[float, ...] = (2.49, 3.45, 0.99, 1.01, -0.72, 0.58)
BIAS = -0.34
"""Fitted by `python -m benchmarks conversation`, which prints them: each form of conversation counts the same there."""
_EXPECTED, _NEAR = 0.85, 0.25
"""Of the cuts that are expected so many are used, and so far apart at least, in topics: chosen on a sample of three
forms, where no cut at all is the better guess on small talk alone.
"""
_FEWEST = 4
_AHEAD = 3
"""Messages after a gap of which the longest counts, since who begins a topic says more than who agrees."""

_FILLER = r"^\W*(?:(?:and|so|well|oh|ok|okay|yes|yeah|right|great|thanks?|thank you)\W+)*"
_OPENS = re.compile(
    _FILLER + r"(?:hi|hello|hey|now|next|anyway|by the way|also|another|speaking of|let'?s|we(?:'|’)?(?:ll| will)|"
    r"moving|on to|turning|item|first|finally|i(?:'m| am) looking|i need|i want|can you|could you|do you|"
    r"what(?:'s| is| are)|have you|are you|where|when|how about|what about|the next|our next)\b",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    r"\b(?:thank(?:s| you)|welcome|bye|good ?night|see you|anything else|that(?:'|’)?s (?:all|it)|"
    r"have a (?:good|great|nice)|no problem|cheers|that concludes|you too)\b",
    re.IGNORECASE,
)
_CUE_LENGTH = 4_000
"""Characters at either end of a message that are searched for cues."""


def estimate_topics(messages: int) -> float:
    """Return the expected number of topics in a conversation of n messages, 1 + ln n.

    People divide a long conversation more coarsely: not a thousand turns into three hundred topics.
    """
    return 1.0 + math.log(max(1, messages))


def weigh_gaps(texts: Sequence[str], measures: Cohesion) -> Floats:
    """Return (n - 1, 6): the FEATURES of a boundary at each gap; cues and lengths relative to their mean."""
    before = [text.rstrip()[-_CUE_LENGTH:] for text in texts[:-1]]
    after = [text[:_CUE_LENGTH] for text in texts[1:]]
    lengths = np.log1p([len(text.split()) for text in texts])
    padded = np.concatenate([lengths[1:], np.full(_AHEAD - 1, -math.inf)])
    longest = np.lib.stride_tricks.sliding_window_view(padded, _AHEAD).max(axis=1)
    cues = np.array(
        [
            (_OPENS.search(new) is not None, _CLOSES.search(old) is not None, old.endswith("?"), length)
            for old, new, length in zip(before, after, longest, strict=True)
        ],
        dtype=np.float64,
    )
    return np.column_stack([measures.depth, measures.far - measures.cohesion, cues - cues.mean(axis=0)])


def prior_log_odds(messages: int) -> float:
    """Return the prior log odds of a boundary at a gap, by the expected number of topics."""
    share = min(0.9, math.log(messages) / (messages - 1))
    return math.log(share / (1.0 - share))


def boundaries(chances: Floats) -> NDArray[np.bool_]:
    """Return (n - 1,): which gaps to cut: the likeliest, slightly fewer than the chances expect, and apart from each
    other.
    """
    n = len(chances) + 1
    cuts = np.zeros(n - 1, dtype=np.bool_)
    expected = float(chances.sum())
    near = max(1, round(_NEAR * n / (1.0 + expected)))
    for place in np.argsort(-chances, kind="stable") if n >= _FEWEST else ():
        if cuts.sum() >= round(_EXPECTED * expected):
            break
        if not cuts[max(0, place - near) : place + near + 1].any():
            cuts[place] = True
    return cuts
