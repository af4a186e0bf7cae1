"""Words of causes in news, by a linear map over the token states of all-MiniLM-L6-v2.

Each word is given how much it is of a signal, of a cause, of an effect; the clauses of a sentence are the runs of words
that have most. It is measured and does not ship: what it is fitted on, CausalNewsCorpus, counts purposes and demands
("went out to protest") as causes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from amgs.text.bert import BertEncoder
from amgs.text.minilm import MiniLM
from amgs.types import Vector

Scores = NDArray[np.float64]
"""(n, 3): how much each of n words is of a signal, of a cause, of an effect."""
SIGNAL, CAUSE, EFFECT = 0, 1, 2
THRESHOLD = 0.4
"""Half of the F1 that is reached is the threshold that reaches it (Lipton et al. 2014)."""

_LAYERS = slice(1, None)
_MOST = 254
"""Word pieces that the encoder takes."""
_FLOOR = 1 / 3
"""A word below this takes from a clause, above it adds."""
_WORD = re.compile(r"\S+")


def encoder() -> BertEncoder:
    """What reads the words. Raises ModelError where all-MiniLM-L6-v2 is not there."""
    return MiniLM().encoder()


def word_states(sentence: str, reader: BertEncoder) -> tuple[Vector, list[tuple[int, int]]]:
    """The states of the words of a sentence, (n, 5 · 384), each the mean over its pieces, and where the words stand."""
    ids, offsets = reader.pieces(sentence)
    layers, _ = reader.layers(ids[:_MOST])
    words = [found.span() for found in _WORD.finditer(sentence)]
    states = np.zeros((len(words), len(layers[_LAYERS]) * layers.shape[2]), dtype=np.float32)
    place = 0
    for number, (start, end) in enumerate(words):
        while place < len(ids[:_MOST]) and offsets[place][1] <= start:
            place += 1
        last = place
        while last < len(ids[:_MOST]) and offsets[last][0] < end:
            last += 1
        if last > place:
            states[number] = layers[_LAYERS, place:last].mean(axis=1).reshape(-1)
    return states, words


def pooled(scores: Scores) -> NDArray[np.float64]:
    """What the words of a sentence have together, (15,): the best, the mean of the best three, of the best eight and of
    all, for each of signal, cause and effect; how well one split parts causes from effects; signals squared; length.
    """
    ranked = np.sort(scores, axis=0)[::-1]
    along = np.cumsum(scores[:, CAUSE] - scores[:, EFFECT])
    split = np.abs(2 * along - along[-1]).max() / np.sqrt(len(scores))
    energy = (scores[:, SIGNAL].clip(0) ** 2).sum()
    means = [ranked[0], ranked[:3].mean(axis=0), ranked[:8].mean(axis=0), scores.mean(axis=0)]
    return np.concatenate([*means, [split, energy, np.log(len(scores))]])


def clauses(scores: Scores) -> Mapping[int, tuple[int, int]]:
    """The runs of words [first, last) of the cause and of the effect that have most together and share no word; either
    may be empty.
    """
    best: tuple[float, Mapping[int, tuple[int, int]]] = (0.0, {CAUSE: (0, 0), EFFECT: (0, 0)})
    for first, second in ((CAUSE, EFFECT), (EFFECT, CAUSE)):
        left = _best_runs(scores[:, first] - _FLOOR)
        right = [
            (value, (len(scores) - end, len(scores) - start))
            for value, (start, end) in reversed(_best_runs((scores[:, second] - _FLOOR)[::-1]))
        ]
        for one, other in zip(left, right, strict=True):
            if one[0] + other[0] > best[0]:
                best = one[0] + other[0], {first: one[1], second: other[1]}
    return best[1]


def _best_runs(values: NDArray[np.float64]) -> list[tuple[float, tuple[int, int]]]:
    """For each beginning of the values, from none of them to all, the run in it that sums to most (Kadane)."""
    found = [(0.0, (0, 0))]
    start, here = 0, 0.0
    for place, value in enumerate(values.tolist()):
        if here <= 0:
            start, here = place, 0.0
        here += value
        found.append(max(found[-1], (here, (start, place + 1)), key=lambda one: one[0]))
    return found
