"""Estimate whether the memory holds an answer: the nearness in meaning of the nearest block to the question.

Where a question names somebody and others speak too, a block may match as well that somebody else said: there it also
counts how far the best of that person's turns stands above the best of the others'.
"""

from __future__ import annotations

import math

import numpy as np

from amgs.retrieval.features import FEATURES, Features
from amgs.retrieval.similarity import contributions
from amgs.retrieval.text_forms import FORMS, PART, TURN
from amgs.text.language import foreign_question, foreign_text

EVEN, SLOPE = 0.41, 12.2
"""The greatest cosine that reads one half, and how fast the estimate rises: it is UNLIKELY at .32 and LIKELY at .5. Of
five forms (dialogues, chats, meetings, parts of documents, paragraphs), each beside questions of the others, hardly a
question with its answer among ten hits lies below, and hardly one without an answer above: docs/results/search.md.
"""

PERSON = 0.3
"""How fast the estimate falls as others come nearer than the person asked about. It alone never says that there is no
sign of an answer."""

UNLIKELY, LIKELY = 0.25, 0.75
"""Where an estimate is put into words."""

TOLD = frozenset({TURN, PART})
"""The forms of text, of the best block, of which an estimate is told."""


def answerable(evidence: Features) -> float:
    """Return the chance in [0, 1] that what was found answers the query, as if every other question had an answer."""
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


def why_untold(evidence: Features | None, question: str, best: str) -> str:
    """Return why the estimate must not be told, empty where it may be: where it was not measured. What was written on a
    day that the question names answers it without any of its words. best: the text of the best hit.
    """
    if evidence is None or (evidence.numbers.size and not evidence.cosine.any()):
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
    """Return what an estimate says; empty where it does not know."""
    if chance < UNLIKELY:
        return "no sign of an answer"
    return "an answer is likely" if chance >= LIKELY else ""


def _logistic(linear: float) -> float:
    return 1.0 / (1.0 + math.exp(min(-linear, 700.0)))
