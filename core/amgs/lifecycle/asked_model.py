"""Ask the configured language model about notes: their categories and names, whether two say the same, and where to
split a note. Rules check every answer; an invalid answer, or a failing model, changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from amgs.errors import ModelError
from amgs.lifecycle.categories import NOTE, PROFILE_OF
from amgs.lifecycle.merge_split import cut_at, cuts_of, paragraphs_of
from amgs.text import names
from amgs.text.language_model import TextModel
from amgs.types import Vector

ASKED: Final = 20
"""Notes, or pairs of notes, that a model is asked about in a plan for each purpose, the longest first."""

_SHOWN = 1_200
_SHOWN_PARAGRAPH = 400
"""Characters of a note, and of a paragraph, in the prompt."""
_KINDS = tuple(kind for kind in PROFILE_OF if kind not in (NOTE, "dialogue"))
_WORD = re.compile(r"[a-z]+")
_NUMBER = re.compile(r"\d+")

_DESCRIBE = """Here is a note. Answer with two lines and nothing else. First line: which of these kinds of knowledge \
it holds, separated by commas, or none: {kinds}. Second line: the names of people, places and things in it, as they \
are written there, separated by semicolons, or none.

{note}"""

_SAME = """Do these two notes say the same, so that one could stand for both? Answer yes or no.

1. {first}

2. {second}"""

_TURN = """Here is a note in numbered paragraphs. Does it turn from one subject to another, unrelated one? Answer \
with the number of the paragraph with which the other subject begins, or with 0 if the note has one subject. Answer \
with the number alone.

{paragraphs}"""


def describe_note(note: str, model: TextModel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the categories that a model gives a note, and the names it finds that are in the text word for word."""
    answer = _ask(_DESCRIBE.format(kinds=", ".join(_KINDS), note=note[:_SHOWN]), 80, model)
    first, _, second = answer.strip().partition("\n")
    kinds = tuple(dict.fromkeys(kind for kind in _WORD.findall(first.lower()) if kind in _KINDS))
    mentions = (names.clean_name(name) for name in second.split(";"))
    return kinds, tuple(dict.fromkeys(name for name in mentions if name and name in note))


def say_the_same(first: str, second: str, model: TextModel) -> bool | None:
    """Return whether a model says that two notes say the same; None where it answers neither yes nor no."""
    answer = _ask(_SAME.format(first=first[:_SHOWN], second=second[:_SHOWN]), 4, model)
    word = next(iter(_WORD.findall(answer.lower())), "")
    return {"yes": True, "no": False}.get(word)


def find_turn(paragraphs: Sequence[str], model: TextModel) -> int:
    """Return the number of paragraphs before the paragraph where a model says another subject begins; 0 where it names
    none.
    """
    shown = "\n\n".join(f"{n}. {' '.join(text.split())[:_SHOWN_PARAGRAPH]}" for n, text in enumerate(paragraphs, 1))
    match = _NUMBER.search(_ask(_TURN.format(paragraphs=shown), 16, model))
    number = int(match[0][:9]) if match else 0
    return number - 1 if 1 < number <= len(paragraphs) else 0


def _ask(prompt: str, most_tokens: int, model: TextModel) -> str:
    """Return a model's answer; "" where it fails."""
    try:
        return model.write(prompt, most_tokens)
    except ModelError:
        return ""


MOST_COSINE: Final = 0.45
"""Cosine of the halves above which they are a single subject whatever a model says; the rules alone split below a lower
subject.
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
