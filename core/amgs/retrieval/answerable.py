"""Whether the memory holds an answer at all: what a search found is told apart from what was asked.

Where a question names somebody and others speak too, a raw top score cannot tell: a question that mixes up two people
matches as well as a true one, and what matters is who is asked about and who said it. Elsewhere two signs that mean the
same in every memory are enough: how much of what is asked about one block mentions, and how near the nearest comes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from amgs.retrieval.features import FEATURES, Features
from amgs.retrieval.similarity import WEIGHTS
from amgs.retrieval.text_forms import FORMS, PART, TURN
from amgs.text.language import foreign_question, foreign_text

SIGNS: Mapping[str, str] = {
    "margin": "best of the person asked about over the best of the others, by what was said alone",
    "mass": "share of the softmax mass that is the person's",
    "top": "share of the best five that is the person's",
    "first": "the best is the person's",
    "coverage": "how much of what is asked about one block of the person mentions",
    "coverage_lost": "how much more one of the others' does",
    "meaning": "best cosine among the person's, in deviations",
    "meaning_lost": "how much better that of the others is",
    "nobody": "nobody is named, or all speak so: the signs are of all blocks",
    "score": "the best linear score",
    "spread": "entropy of the softmax, in nats",
}
"""Each sign and what it says, in the order of the columns."""

WEIGHTS_OF_SIGNS: Mapping[str, float] = {
    "margin": 0.465,
    "mass": 2.074,
    "top": 1.128,
    "first": -0.5871,
    "coverage": 1.386,
    "coverage_lost": -0.2243,
    "meaning": -0.002886,
    "meaning_lost": 0.3177,
    "nobody": 2.577,
    "score": 0.08509,
    "spread": 0.2535,
}
INTERCEPT = -3.811
"""Fitted with the similarity's weights, on the forms that have questions without an answer; both weighed alike."""

COVERAGE, NEAREST, LEVEL = 5.11, 9.52, -7.04
"""Weights of the share of the query's idf that one block covers, of the greatest cosine, and the intercept: a logistic
fitted on 657 questions of four forms (package manuals, notes, paragraphs, chats), each form and both answers weighed
alike; the questions without an answer are those asked of other memories. docs/retrieval.md has the figures."""

UNLIKELY, LIKELY = 0.25, 0.75
"""Where an estimate is put into words. Of questions of a form that was left out of the fit, 8 % of those below and 88 %
of those above had an answer, 61 % of those between."""

TOLD = frozenset({TURN, PART})
"""The forms of text, of the best block, in which nine of ten told answers were there and hardly one was where none was
told; of no other is anything said. docs/results/search.md has the figures."""

_TOP = 5


def signs(evidence: Features, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """The signs (s,) of one search; the evidence holds at least one candidate. weights: (k,) those of the
    similarity unless others are given, as while they are being fitted.
    """
    weights = np.array([WEIGHTS[name] for name in FEATURES]) if weights is None else weights
    whole = evidence.values @ weights
    asked_of = list(FEATURES).index("asked_of")
    said = whole - evidence.values[:, asked_of] * weights[asked_of]
    chance = np.exp(said - said.max())
    chance /= chance.sum()
    own = evidence.named
    told_apart = bool(own.any()) and not bool(own.all())
    meaning = evidence.values[:, list(FEATURES).index("meaning")]
    ours = own if told_apart else np.ones(own.size, dtype=np.bool_)
    found = {
        "coverage": float(evidence.coverage[ours].max()),
        "meaning": float(meaning[ours].max()),
        "nobody": float(not told_apart),
        "score": float(whole.max()),
        "spread": float(-(chance * np.log(chance + 1e-12)).sum()),
    }
    if told_apart:
        best = np.argsort(-said, kind="stable")[:_TOP]
        found |= {
            "margin": float(said[own].max() - said[~own].max()),
            "mass": float(chance[own].sum()),
            "top": float(own[best].mean()),
            "first": float(own[best[0]]),
            "coverage_lost": float(evidence.coverage[~own].max()) - found["coverage"],
            "meaning_lost": float(meaning[~own].max()) - found["meaning"],
        }
    return np.array([found.get(name, 0.0) for name in SIGNS])


def answerable(evidence: Features) -> float:
    """The chance in [0, 1] that what was found answers the query, as if every other question had an answer."""
    found = resemblance(evidence)
    if bool(evidence.named.any()) and not bool(evidence.named.all()):
        linear = INTERCEPT + float(signs(evidence) @ np.array([WEIGHTS_OF_SIGNS[name] for name in SIGNS]))
        return min(found, _logistic(linear))
    return found


def resemblance(evidence: Features) -> float:
    """The same by words and meaning alone, whoever is asked about; in [0, 1]."""
    if not evidence.numbers.size:
        return 0.0
    covered, nearest = float(evidence.coverage.max()), float(evidence.cosine.max())
    return _logistic(LEVEL + COVERAGE * covered + NEAREST * nearest)


def form_of(evidence: Features) -> int:
    """The form of text of the best candidate, of `text_forms.FORMS`; the evidence holds at least one."""
    weights = np.array([WEIGHTS[name] for name in FEATURES])
    return int(evidence.form[int(np.argmax(evidence.values @ weights))])


def why_untold(evidence: Features | None, question: str, best: str) -> str:
    """Why the estimate must not be told, empty where it may be: what it was fitted on is English, and it was right only
    where the best candidate was of a form in TOLD. What was written on a day that the question names answers it without
    any of its words. best: the text of the best hit.
    """
    if evidence is None:
        return "it takes words and meaning together"
    if not evidence.numbers.size:
        return "nothing was found"
    form = form_of(evidence)
    if form not in TOLD:
        return f"the best hit is a {FORMS[form]}"
    if evidence.values[:, list(FEATURES).index("written_then")].any():
        return "the question names a day"
    if foreign_question(question):
        return "the question is not in English"
    return "the best hit is not in English" if foreign_text(best) else ""


def in_words(chance: float) -> str:
    """What an estimate says; empty where it does not know."""
    if chance < UNLIKELY:
        return "no sign of an answer"
    return "an answer is likely" if chance >= LIKELY else ""


def _logistic(linear: float) -> float:
    return float(1.0 / (1.0 + np.exp(-linear)))
