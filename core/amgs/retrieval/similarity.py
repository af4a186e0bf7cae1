"""Weigh the features of a candidate into one similarity in [0, 1].

The weights come from `python -m benchmarks.fit` on labelled questions; change none by hand without measuring it there.
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
"""Fitted on written dialogues, real chats, paragraphs, split documents and notes together, with these exceptions:
`opening` and `shared_names` were fitted afterwards, with the others fixed; `meaning` has the weight of the feature it
replaced; `other_role`, `no_answer`, `written_then`, `told_day` and `latest` were chosen on chats with an assistant, on
dialogues and on pairs of notes. docs/results/search.md shows each corpus, and each form of text, with weights fitted
without it.
"""

MIDDLE = 4.4
"""Linear score at which the similarity is one half: about that of the twentieth hit of a question with an answer."""

SCALE = 2.2
"""Width of the logistic curve. With it the best hit is at about 0.87 and the hundredth at 0.27, so that a frame can ask
for "at least half as similar as the best", and the other parts of a score do not override the order.
"""

FEW = 10.0
"""Number of candidates at which differences between them count half."""

USUAL_BEST, MANY = 8.6, 20.0
"""Linear score of a usual best hit (similarity 0.87), and the number of candidates from which a better one is not
lowered.
"""


def contributions(evidence: Features) -> NDArray[np.float64]:
    """Return (m, k): each feature times its weight; a row sums to the linear score."""
    return np.asarray(evidence.values * np.array([WEIGHTS[name] for name in FEATURES]))


def to_similarities(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn the linear scores (m,) of all candidates of a query into similarities in (0, 1); their order stays.

    Features are relative to the best candidate, which says little where candidates are few: so the distance to the best
    shrinks to m / (m + FEW) of itself, and a best above USUAL_BEST moves towards it. Hundreds are hardly changed.
    """
    best = float(linear.max(initial=-np.inf))
    near = best - (best - linear) * linear.size / (linear.size + FEW)
    # Similarities that are all near 1 would leave the order to the other parts of a score.
    near -= max(1.0 - linear.size / MANY, 0.0) * max(best - USUAL_BEST, 0.0)
    return np.asarray(1.0 / (1.0 + np.exp(-(near - MIDDLE) / SCALE)))
