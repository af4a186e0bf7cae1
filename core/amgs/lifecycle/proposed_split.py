"""Split a note where a language model sees a change of subject.

The parts stay word for word; the rules decide whether the note may be cut there.
"""

from __future__ import annotations

from typing import Final

from amgs.lifecycle.asked_model import find_turn
from amgs.lifecycle.merge_split import cut_at, cuts_of, paragraphs_of
from amgs.text.text_model import TextModel
from amgs.types import Vector

MOST_COSINE: Final = 0.45
"""Cosine of the halves above which they are a single subject whatever a model says; the rules alone split below a lower
one.
"""


def propose_break(text: str, vectors: Vector, least_words: int, model: TextModel) -> tuple[tuple[str, ...], float]:
    """Return the text cut where a model says that another subject begins, and the cosine of the halves.

    Returns a single part, and 1.0, where the model names no place, where a half would have fewer than `least_words`
    words or the cosine exceeds MOST_COSINE, or where another cut has a lower cosine.

    vectors: (k, d) embeddings of `paragraphs_of(text)`.
    """
    cuts = cuts_of(text, vectors, least_words)
    place = find_turn(paragraphs_of(text), model) if cuts else 0
    cosine = cuts.get(place, 1.0)
    if cosine > MOST_COSINE or cosine > min(cuts.values()):
        return (text,), 1.0
    return cut_at(text, place), cosine
