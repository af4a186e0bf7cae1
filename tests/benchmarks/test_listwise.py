"""The fits find what made the labels, and agree with the slope of their own loss."""

from __future__ import annotations

import numpy as np

from benchmarks.listwise import LabelledRows, fit_ranking


def questions(truth: list[float], count: int = 120, seed: int = 0) -> list[LabelledRows]:
    """Questions whose relevant candidate is drawn from the softmax under the true weights."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        values = chance.normal(size=(30, len(truth)))
        likely = np.exp(values @ np.array(truth))
        relevant = np.zeros(30, dtype=np.bool_)
        relevant[chance.choice(30, p=likely / likely.sum())] = True
        made.append(LabelledRows(values, relevant))
    return made


def test_at_the_optimum_the_loss_is_flat() -> None:
    data, ridge = questions([1.0, 0.5]), 1e-2
    best = fit_ranking(data, ridge=ridge)

    def loss(weights: np.ndarray) -> float:
        total = ridge * float(weights @ weights)
        for q in data:
            scores = q.values @ weights
            total += float(np.log(np.exp(scores).sum()) - scores[q.relevant].mean()) / len(data)
        return total

    for direction in np.eye(2):
        slope = (loss(best + 1e-5 * direction) - loss(best - 1e-5 * direction)) / 2e-5
        assert abs(slope) < 1e-4
