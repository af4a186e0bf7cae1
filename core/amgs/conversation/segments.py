"""Divide a conversation into topics, by cohesion, cues and lengths at each gap between messages (fitted weights)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from amgs.conversation.cohesion import Cohesion, Floats, cohesion, spell_stem, stems
from amgs.types import Vector

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
"""Of the cuts that are expected so many are made, and so far apart at least, in topics: chosen on a sample of three
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
