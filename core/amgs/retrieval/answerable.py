"""Estimate the chance that the memory holds an answer to a question, from the greatest cosine among the candidates.

Where a question names a person and others speak too, the best match may be somebody else's turn: there the estimate
also depends on how far that person's best turn scores above the others' best. Searches, frames, packs and diagnosis
show the estimate; EVEN and SLOPE come from `python -m benchmarks.answerable`.
"""

from __future__ import annotations

import math

import numpy as np

from amgs.retrieval.features import FEATURES, Features
from amgs.retrieval.similarity import contributions
from amgs.retrieval.text_forms import FORMS, PART, TURN
from amgs.text.language import foreign_question, foreign_text

EVEN, SLOPE = 0.41, 12.2
"""Greatest cosine at which the estimate is one half, and the slope: it is UNLIKELY at .32 and LIKELY at .5. In five
forms of text (dialogues, chats, meetings, parts of documents, paragraphs) few questions with an answer among ten hits
lie below .32, and few questions without one above .5: docs/results/search.md.
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
    """Return the form of text of the best candidate, of `text_forms.FORMS`; the evidence holds at least one."""
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
