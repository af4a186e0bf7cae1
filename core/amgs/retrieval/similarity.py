"""From evidence to one number: how well a block matches a query, in [0, 1].

The weights are fitted, not felt: `python -m amgs_app.benches.fit` makes them from labelled questions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from amgs.retrieval.features import FEATURES, Features

WEIGHTS: Mapping[str, float] = {
    "words": 3.125,
    "words_before": 1.25,
    "words_after": 0.63,
    "words_2_before": 1.26,
    "words_2_after": 0.782,
    "meaning": 0.742,
    "asked_of": 2.032,
    "in_reply": -1.126,
    "episode_words": 2.593,
    "episode_meaning": 0.28,
    "asking": -1.642,
    "after_question": 0.71,
    "length": 1.192,
    "flow": 0.093,
}
"""Fitted on five LoCoMo conversations and the questions of the sample corpus together; what each corpus gets
from weights fitted on the others stands in docs/results/benchmarks.md. `flow` earns nothing there and stays for
graphs with more to say.
"""

MIDDLE = 11.5
"""The linear score that reads one half: about that of the twentieth hit of a question with an answer."""

SCALE = 2.5
"""How slowly similarities fall from there: the best hit reads about 0.87, the hundredth 0.27, so that a frame
can say "at least half as similar as the best" and the other parts of a score do not drown the order.
"""

FEW = 10.0
"""In a pool of so many candidates the differences between them count half."""


def contributions(evidence: Features) -> NDArray[np.float64]:
    """(m, k): each feature times its weight; a row sums to the linear score."""
    return np.asarray(evidence.values * np.array([WEIGHTS[name] for name in FEATURES]))


def fused(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Linear scores (m,) of all candidates of a query as similarities in (0, 1), strictly rising.

    Features are relative to the best of the pool, and among few that says little: the distance to the best is
    shrunk to m / (m + FEW) of itself. In a pool of hundreds it stays as it is.
    """
    best = float(linear.max(initial=-np.inf))
    near = best - (best - linear) * linear.size / (linear.size + FEW)
    return np.asarray(1.0 / (1.0 + np.exp(-(near - MIDDLE) / SCALE)))
