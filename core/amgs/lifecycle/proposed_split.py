"""Where a language model says that a note turns to another subject. The parts stay word for word; the rules say whether
the note may be cut there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from amgs.errors import ModelError
from amgs.lifecycle.merge_split import cut_at, cuts_of, paragraphs_of
from amgs.text.text_model import TextModel
from amgs.types import Vector

MOST_COSINE: Final = 0.45
"""Halves that are more alike are one subject whatever a model says. It may split where the rules alone do not."""

ASKED: Final = 20
"""So many notes are shown to a model in one plan, the longest first."""

_SHOWN = 400
"""Characters of a paragraph that it reads."""
_TOKENS = 16
_NUMBER = re.compile(r"\d+")
_PROMPT = """Here is a note in numbered paragraphs. Does it turn from one subject to another, unrelated one? Answer \
with the number of the paragraph with which the other subject begins, or with 0 if the note has one subject. Answer \
with the number alone.

{paragraphs}"""


def proposed_break(text: str, vectors: Vector, least_words: int, model: TextModel) -> tuple[tuple[str, ...], float]:
    """The text cut where a model says that another subject begins, and the cosine across that cut. One part, and 1.0,
    where it names no place, or one that leaves fewer words than `least_words` on a side, at which the halves are more
    alike than MOST_COSINE, or beside which another cut would leave them less alike.

    vectors: (k, d) embeddings of `paragraphs_of(text)`.
    """
    cuts = cuts_of(text, vectors, least_words)
    place = _asked(paragraphs_of(text), model) if cuts else 0
    cosine = cuts.get(place, 1.0)
    if cosine > MOST_COSINE or cosine > min(cuts.values()):
        return (text,), 1.0
    return cut_at(text, place), cosine


def _asked(paragraphs: Sequence[str], model: TextModel) -> int:
    """How many paragraphs stand before the one that the model names; 0 where it names none."""
    shown = "\n\n".join(f"{n}. {' '.join(one.split())[:_SHOWN]}" for n, one in enumerate(paragraphs, 1))
    try:
        found = _NUMBER.search(model.write(_PROMPT.format(paragraphs=shown), _TOKENS))
    except ModelError:
        return 0
    number = int(found[0][:9]) if found else 0
    return number - 1 if 1 < number <= len(paragraphs) else 0
