"""Fit linear weights to labelled questions, by a listwise softmax.

It is convex and small, so Newton's method finds the optimum in a few steps; no library is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEPS = 60
_ENOUGH = 1e-9
_HALVINGS = 30

Row = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """One labelled question. values: (m, k) features of its candidates. relevant: (m,) which answer it. weight: how
    much it counts beside others.
    """

    values: NDArray[np.float64]
    relevant: NDArray[np.bool_]
    weight: float = 1.0


def fit_ranking(questions: Sequence[LabelledRows], *, ridge: float = 1e-3, rising: Collection[int] = ()) -> Row:
    """The weights (k,) that make the relevant candidates likeliest under a softmax over all candidates, questions
    counted by their weights; those without a relevant candidate teach nothing and are passed over.

    rising: features whose weights may not be negative; the most negative one is set to 0 and the rest fitted anew
    until there is none.
    """
    taught = [q for q in questions if q.relevant.any()]
    if not taught:
        raise ValueError("no question has a relevant candidate")
    width = taught[0].values.shape[1]
    free = list(range(width))
    while True:
        found = np.zeros(width)
        found[free] = _fit([LabelledRows(q.values[:, free], q.relevant, q.weight) for q in taught], ridge)
        negative = [place for place in rising if found[place] < 0]
        if not negative:
            return found
        free.remove(min(negative, key=lambda place: float(found[place])))


def _fit(taught: Sequence[LabelledRows], ridge: float) -> Row:
    width = taught[0].values.shape[1]
    whole = sum(q.weight for q in taught)

    def loss(weights: Row) -> float:
        return ridge * float(weights @ weights) + sum(q.weight * _surprise(q, weights) for q in taught) / whole

    def slope(weights: Row) -> tuple[Row, NDArray[np.float64]]:
        gradient, curvature = 2 * ridge * weights, 2 * ridge * np.eye(width)
        for q in taught:
            share = q.weight / whole
            chance = _softmax(q.values @ weights)
            mean = chance @ q.values
            gradient = gradient + share * (mean - q.values[q.relevant].mean(axis=0))
            curvature = curvature + share * ((q.values * chance[:, None]).T @ q.values - np.outer(mean, mean))
        return gradient, curvature

    return _newton(np.zeros(width), loss, slope)


def _newton(weights: Row, loss: Callable[[Row], float], slope: Callable[[Row], tuple[Row, NDArray[np.float64]]]) -> Row:
    """The minimum of a convex function: full steps, halved where one would go uphill."""
    now = loss(weights)
    for _ in range(_STEPS):
        gradient, curvature = slope(weights)
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        size = 1.0
        for _ in range(_HALVINGS):
            tried = loss(weights - size * step)
            if tried <= now:
                break
            size /= 2
        weights, before, now = weights - size * step, now, tried
        if before - now < _ENOUGH:
            break
    return weights


def _softmax(scores: Row) -> Row:
    chance = np.exp(scores - scores.max())
    return np.asarray(chance / chance.sum())


def _surprise(question: LabelledRows, weights: Row) -> float:
    scores = question.values @ weights
    top = scores.max()
    return float(top + np.log(np.exp(scores - top).sum()) - scores[question.relevant].mean())
