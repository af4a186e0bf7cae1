"""Fitting the head that reads causes in news, and what it says of sentences that it was not fitted on."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from amgs.types import Progress, Vector
from benchmarks.listwise import fit_logistic
from benchmarks.packs import cause_tagger
from benchmarks.packs.causal_data import NewsSentence
from benchmarks.packs.cause_tagger import Scores, pooled, word_states
from benchmarks.packs.clause_features import clause_features

FOLDS = 5
_RIDGE = 5_000.0
"""Of the words' map, on states of unit variance; the middle of three that did equally well."""
_SENTENCES_RIDGE, _OF_STATES, _OF_SCORES = 2.0, 0.1, 0.3
"""Of twelve settings that were tried on the same folds, between .814 and .820 F1, one in the middle."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TaggerExample:
    """A sentence as the tagger reads it. states: (n, d). labels: (n, 3), None where its clauses are not annotated.
    features: of `clause_features`.
    """

    states: Vector
    labels: Matrix | None
    causal: bool
    fold: int
    features: frozenset[str] = frozenset()


def examples(sentences: Sequence[NewsSentence], progress: Progress | None = None) -> list[TaggerExample]:
    """The sentences as examples; a document stands in one fold."""
    reader = cause_tagger.encoder()
    chance = random.Random(0)
    folds = {name: chance.randrange(FOLDS) for name in sorted({one.document for one in sentences})}
    parsed = clause_features([one.text for one in sentences])
    made = []
    for number, one in enumerate(sentences):
        if progress is not None and number % 50 == 0:
            progress(number, len(sentences), "reading sentences")
        states, words = word_states(one.text, reader)
        labels = None
        if one.relations is not None:
            labels = np.zeros((len(words), 3))
            for relation in one.relations:
                for kind, places in enumerate((relation.signal, relation.cause, relation.effect)):
                    labels[[p for p in places if p < len(words)], kind] = 1.0
        made.append(TaggerExample(states, labels, one.causal, folds[one.document], parsed[number]))
    return made


@dataclass(frozen=True, eq=False)
class _Gram:
    """Sums over words: squares of the states (d + 1, d + 1), products with the labels (d + 1, 3)."""

    squares: Matrix
    products: Matrix

    def __add__(self, other: _Gram) -> _Gram:
        return _Gram(self.squares + other.squares, self.products + other.products)


class CauseTaggerFit:
    """What fitting knows of its examples. Make one, then ask `across`."""

    def __init__(self, given: Sequence[TaggerExample]) -> None:
        self.examples = given
        width = given[0].states.shape[1]
        count = sum(len(one.states) for one in given)
        total = np.sum([one.states.sum(axis=0, dtype=float) for one in given], axis=0)
        squared = np.sum([(one.states.astype(float) ** 2).sum(axis=0) for one in given], axis=0)
        self._mean = total / count
        self._spread = np.sqrt(np.maximum(squared / count - self._mean**2, 0)) + 1e-3
        self._grams = [
            _Gram(np.zeros((width + 1, width + 1)), np.zeros((width + 1, 3))) for _ in range(FOLDS)
        ]
        for fold in range(FOLDS):
            own = [one for one in given if one.fold == fold and one.labels is not None]
            if own:
                rows = np.concatenate([one.states for one in own])
                rows = np.hstack([(rows - self._mean) / self._spread, np.ones((len(rows), 1))]).astype(
                    np.float32
                )
                labels = np.concatenate([one.labels for one in own if one.labels is not None])
                self._grams[fold] = _Gram(
                    (rows.T @ rows).astype(float), (rows.T @ labels.astype(np.float32)).astype(float)
                )

    def across(self) -> tuple[list[Scores], Matrix]:
        """The scores of the words of every sentence, and its chance, (n,), by what saw none of its fold.

        Sentences are told apart by a ridge over how alike they are, made a chance by a logistic over what it says of
        those that it leaves out one at a time.
        """
        maps = {
            frozenset(left): self._words([f for f in range(FOLDS) if f not in left])
            for left in (*combinations(range(FOLDS), 2), *((f,) for f in range(FOLDS)))
        }
        found: list[Scores] = [np.zeros((0, 3))] * len(self.examples)
        chances = np.zeros(len(self.examples))
        causal = np.array([one.causal for one in self.examples])
        of = np.array([one.fold for one in self.examples])
        fixed = _alike(self.examples, self._mean, self._spread)
        for fold in range(FOLDS):
            scores = [self._scores(one, maps[frozenset((fold, one.fold))]) for one in self.examples]
            values = np.array([pooled(one) for one in scores])
            values = (values - values.mean(axis=0)) / (values.std(axis=0) + 1e-9)
            alike = fixed + _OF_SCORES * (values @ values.T) / values.shape[1]
            seen, judged = np.flatnonzero(of != fold), np.flatnonzero(of == fold)
            share = causal[seen].mean()
            inverse = np.linalg.inv(alike[np.ix_(seen, seen)] + _SENTENCES_RIDGE * np.eye(len(seen)))
            weights = inverse @ (causal[seen] - share)
            left_out = causal[seen] - weights / np.diag(inverse)
            slope, bias = fit_logistic(left_out[:, None], causal[seen], ridge=1e-6, balanced=False)
            told = alike[np.ix_(judged, seen)] @ weights + share
            chances[judged] = 1 / (1 + np.exp(-(told * slope[0] + bias)))
            for number in judged:
                found[number] = scores[number]
        return found, chances

    def _words(self, folds: Sequence[int]) -> Matrix:
        """The map of words (d + 1, 3) fitted on some folds, over states as they are."""
        sums = self._grams[folds[0]]
        for fold in folds[1:]:
            sums = sums + self._grams[fold]
        ridge = _RIDGE * np.eye(len(sums.squares))
        ridge[-1, -1] = 0.0
        found = np.linalg.solve(sums.squares + ridge, sums.products)
        told = found[:-1] / self._spread[:, None]
        return np.vstack([told, found[-1] - self._mean @ told])

    def _scores(self, one: TaggerExample, words: Matrix) -> Scores:
        return np.asarray(one.states @ words[:-1] + words[-1], dtype=float)


def _alike(given: Sequence[TaggerExample], mean: Matrix, spread: Matrix) -> Matrix:
    """How alike sentences are by their features, the rarer the more, and by the mean of their words' states: (n, n)."""
    counts = Counter(name for one in given for name in one.features)
    column = {name: number for number, name in enumerate(sorted(n for n, c in counts.items() if c > 1))}
    rows = np.zeros((len(given), max(len(column), 1)), dtype=np.float32)
    for number, one in enumerate(given):
        for name in one.features & column.keys():
            rows[number, column[name]] = 1 + math.log((len(given) + 1) / (counts[name] + 1))
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    means = np.array([(one.states.mean(axis=0) - mean) / spread for one in given])
    means = (means - means.mean(axis=0)) / (means.std(axis=0) + 1e-3)
    return np.asarray((rows @ rows.T).astype(float) + _OF_STATES * (means @ means.T) / means.shape[1])


def shuffled(given: Sequence[TaggerExample]) -> list[TaggerExample]:
    """The control: the same sentences with the labels of their words, and of themselves, dealt out at random."""
    dealt = np.random.default_rng(0)
    causal = dealt.permutation([one.causal for one in given])
    words = np.concatenate([one.labels for one in given if one.labels is not None])
    words = dealt.permutation(words)
    made, at = [], 0
    for one, label in zip(given, causal, strict=True):
        labels = None
        if one.labels is not None:
            labels, at = words[at : at + len(one.states)], at + len(one.states)
        made.append(replace(one, labels=labels, causal=bool(label)))
    return made
