"""Weigh the features of a candidate into a single similarity in [0, 1], and estimate the chance of an answer.

The weights come from `python -m benchmarks.fit` on labelled questions; change none by hand without measuring
it there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from amgs.retrieval.features import FEATURES, Features
from amgs.retrieval.sources import FORMS, PART, TURN
from amgs.text.language import foreign_question, foreign_text

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
"""Linear score at which the similarity is 1/2: about that of the twentieth hit of a question with an answer."""

SCALE = 2.2
"""Width of the logistic curve. With it the best hit is at about 0.87 and the hundredth at 0.27, so that a frame can ask
for "at least half as similar as the best", and the other parts of a score do not override the order.
"""

FEW = 10.0
"""Number of candidates at which differences between them count half."""

USUAL_BEST, MANY = 8.6, 20.0
"""Linear score of a usual best hit (similarity 0.87), and the number of candidates from which a better candidate is not
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


EVEN, SLOPE = 0.41, 12.2
"""Greatest cosine at which the estimate is 1/2, and the slope: it is UNLIKELY at .32 and LIKELY at .5. In five forms of
text (dialogues, chats, meetings, parts of documents, paragraphs) few questions with an answer among ten hits lie below
.32, and few questions without an answer above .5: docs/results/search.md.
"""

PERSON = 0.3
"""How fast the estimate falls as others score higher than the person asked about; never below UNLIKELY by itself."""

UNLIKELY, LIKELY = 0.25, 0.75
"""Below and from where `describe_chance` puts an estimate into words."""

ESTIMATED = frozenset({TURN, PART})
"""Forms of the best block's text for which the estimate was measured, and is shown."""


def answerable(evidence: Features) -> float:
    """Return the chance in [0, 1] that a candidate answers the query, assuming that half of all questions have an
    answer.

    Where the question names a person and others speak too, the best match may be somebody else's turn: there the chance
    also depends on how far that person's best turn scores above the others' best. EVEN and SLOPE come from `python -m
    benchmarks.answerable`.
    """
    if not evidence.numbers.size:
        return 0.0
    chance = _logistic(SLOPE * (float(evidence.cosine.max()) - EVEN))
    own = evidence.named
    if own.all() or not own.any():
        return chance
    parts = contributions(evidence)
    scores = parts.sum(axis=1) - parts[:, list(FEATURES).index("asked_of")]
    margin = float(scores[own].max() - scores[~own].max())
    return min(chance, UNLIKELY + (1.0 - UNLIKELY) * _logistic(PERSON * margin))


def form_of(evidence: Features) -> int:
    """Return the form of text of the best candidate, of `sources.FORMS`; the evidence is not empty."""
    return int(evidence.form[int(np.argmax(contributions(evidence).sum(axis=1)))])


def why_unestimated(evidence: Features | None, question: str, best: str) -> str:
    """Return why the estimate must not be shown, for cases where it was not measured; "" where it may be.

    A question that names a day is such a case: a block written on that day answers it without sharing its words. best:
    the text of the best hit.
    """
    if evidence is None or (evidence.numbers.size and not evidence.cosine.any()):
        return "it takes words and meaning together"
    if not evidence.numbers.size:
        return "nothing was found"
    form = form_of(evidence)
    if form not in ESTIMATED:
        return f"the best hit is a {FORMS[form]}"
    if evidence.values[:, list(FEATURES).index("written_then")].any():
        return "the question names a day"
    if foreign_question(question):
        return "the question is not in English"
    return "the best hit is not in English" if foreign_text(best) else ""


def describe_chance(chance: float) -> str:
    """Return what an estimate says in words; "" between UNLIKELY and LIKELY."""
    if chance < UNLIKELY:
        return "no sign of an answer"
    return "an answer is likely" if chance >= LIKELY else ""


def _logistic(linear: float) -> float:
    return 1.0 / (1.0 + math.exp(min(-linear, 700.0)))
