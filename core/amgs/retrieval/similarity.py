"""From evidence to one number: how well a block matches a query, in [0, 1].

The weights are fitted, not felt: `python -m benchmarks.fit` makes them from labelled questions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from amgs.retrieval.features import FEATURES, Features

WEIGHTS: Mapping[str, float] = {
    "words": 1.398,
    "opening": 0.75,
    "coverage": 1.161,
    "window": 1.77,
    "neighbour_words": 0.224,
    "speaker_words": 1.0,
    "meaning": 0.743,
    "asked_of": 1.13,
    "other_role": -4.0,
    "no_answer": -8.0,
    "written_then": 6.0,
    "told_day": 2.0,
    "latest": 3.0,
    "episode_words": 0.94,
    "asking": -0.775,
    "after_question": 0.594,
    "turn_length": 0.786,
    "part_length": 0.684,
    "flow": 0.234,
    "shared_names": 5.0,
}
"""Fitted on written dialogues, real chats, paragraphs, split documents and notes together, but for `opening` and
`shared_names`, which were laid over the others, for `meaning`, which has the weight of what it took the place of, and
for `other_role`, `no_answer`, `written_then`, `told_day` and `latest`, which were chosen on chats with an assistant,
on dialogues and on pairs of notes. What a corpus gets from weights fitted on the others, and a form from weights that
saw none of it, stands in docs/results/search.md.
"""

MIDDLE = 4.4
"""The linear score that reads one half: about that of the twentieth hit of a question with an answer."""

SCALE = 2.2
"""How slowly similarities fall from there: the best hit reads about 0.87, the hundredth 0.27, so that a frame
can say "at least half as similar as the best" and the other parts of a score do not drown the order.
"""

FEW = 10.0
"""In a pool of so many candidates the differences between them count half."""

USUAL_BEST, MANY = 8.6, 20.0
"""The linear score of 0.87, and the size of a pool from which on a better one is not held back."""


def contributions(evidence: Features) -> NDArray[np.float64]:
    """Return (m, k): each feature times its weight; a row sums to the linear score."""
    return np.asarray(evidence.values * np.array([WEIGHTS[name] for name in FEATURES]))


def fused(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Linear scores (m,) of all candidates of a query as similarities in (0, 1), strictly rising.

    Features are relative to the best of the pool, and among few that says little: the distance to the best is
    shrunk to m / (m + FEW) of itself, and the best is drawn to the usual one. In a pool of hundreds it stays as it is.
    """
    best = float(linear.max(initial=-np.inf))
    near = best - (best - linear) * linear.size / (linear.size + FEW)
    # Where all are near one, the other parts of a score would decide.
    near -= max(1.0 - linear.size / MANY, 0.0) * max(best - USUAL_BEST, 0.0)
    return np.asarray(1.0 / (1.0 + np.exp(-(near - MIDDLE) / SCALE)))
