"""Ask a language model about notes where one is set: their kinds and names, whether two are one, and the places of a
change of subject. Rules check every answer, and an invalid one changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from amgs.errors import ModelError
from amgs.lifecycle.categories import NOTE, PROFILE_OF
from amgs.text import names
from amgs.text.text_model import TextModel

ASKED: Final = 20
"""So many notes, or pairs of notes, are shown to a model for each purpose in one plan, the longest first."""

_SHOWN = 1_200
_SHOWN_PARAGRAPH = 400
"""Characters of a note and of a paragraph that it reads."""
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


def describe(note: str, model: TextModel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Kinds of knowledge that a note holds, and names in it that stand there word for word."""
    answer = _asked(_DESCRIBE.format(kinds=", ".join(_KINDS), note=note[:_SHOWN]), 80, model)
    first, _, second = answer.strip().partition("\n")
    kinds = tuple(dict.fromkeys(kind for kind in _WORD.findall(first.lower()) if kind in _KINDS))
    mentions = (names.clean_name(name) for name in second.split(";"))
    return kinds, tuple(dict.fromkeys(name for name in mentions if name and name in note))


def say_the_same(first: str, second: str, model: TextModel) -> bool | None:
    """Return whether two notes say the same; None where the model does not say."""
    answer = _asked(_SAME.format(first=first[:_SHOWN], second=second[:_SHOWN]), 4, model)
    word = next(iter(_WORD.findall(answer.lower())), "")
    return {"yes": True, "no": False}.get(word)


def find_turn(paragraphs: Sequence[str], model: TextModel) -> int:
    """Return how many paragraphs stand before the one with which another subject begins; 0 where the model names
    none.
    """
    shown = "\n\n".join(f"{n}. {' '.join(text.split())[:_SHOWN_PARAGRAPH]}" for n, text in enumerate(paragraphs, 1))
    match = _NUMBER.search(_asked(_TURN.format(paragraphs=shown), 16, model))
    number = int(match[0][:9]) if match else 0
    return number - 1 if 1 < number <= len(paragraphs) else 0


def _asked(prompt: str, most_tokens: int, model: TextModel) -> str:
    try:
        return model.write(prompt, most_tokens)
    except ModelError:
        return ""
