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
"""Halves that are more alike are one subject whatever a model says. It may split where the rules alone do not."""


def propose_break(text: str, vectors: Vector, least_words: int, model: TextModel) -> tuple[tuple[str, ...], float]:
    """Return the text cut where a model says that another subject begins, and the cosine across that cut. One part, and
    1.0, where it names no place, or one that leaves fewer words than `least_words` on a side, at which the halves are
    more alike than MOST_COSINE, or beside which another cut would leave them less alike.

    vectors: (k, d) embeddings of `paragraphs_of(text)`.
    """
    cuts = cuts_of(text, vectors, least_words)
    place = find_turn(paragraphs_of(text), model) if cuts else 0
    cosine = cuts.get(place, 1.0)
    if cosine > MOST_COSINE or cosine > min(cuts.values()):
        return (text,), 1.0
    return cut_at(text, place), cosine
