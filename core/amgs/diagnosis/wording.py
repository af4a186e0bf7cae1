"""How much of a fact a text says: by its words, whatever their endings, their case and the signs between them."""

from __future__ import annotations

import re
from functools import cache

from tantivy import TextAnalyzer

from amgs.index.terms import clean, word_analyzer
from amgs.text.stop_words import COMMON_WORDS

MOST_WORDS = 0.75
"""From this share on of its words a text says a fact, if it holds all its numbers."""
_LESS = 0.15
"""A part of a text that holds so much less of a fact's words than the whole leaves the fact out."""
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?<=[\w,;:] )[^\W\d_a-z]\w+")


def says(text: str, fact: str) -> bool:
    """Whether a text says a fact in its words, or in most of them and all its numbers."""
    return exactly(text, fact) or share(text, fact) >= MOST_WORDS


def exactly(text: str, fact: str) -> bool:
    """Whether the words of a fact stand in a text one after the other."""
    wanted = _plain(fact)
    return bool(wanted.strip()) and wanted in _plain(text)


def share(text: str, fact: str) -> float:
    """The share of the fact's words that a text holds, in [0, 1]; 0 where it lacks one of the fact's numbers or names:
    what is said of another person or day is another fact.
    """
    wanted, held = stems(fact), stems(text)
    needed = numbers(fact) | names(fact)
    if not wanted or needed - held:
        return 0.0
    return len(wanted & held) / len(wanted)


def stems(text: str) -> frozenset[str]:
    """The stems of a text's words, the commonest words left out unless there are no others."""
    found = frozenset(_analyzer().analyze(clean(text)))
    return found - _common() or found


def numbers(text: str) -> frozenset[str]:
    """The words of a text that hold a digit."""
    return frozenset(word for word in stems(text) if any(c.isdigit() for c in word))


def names(text: str) -> frozenset[str]:
    """The stems of words that are written like names: with a capital, and not at the beginning of a sentence."""
    return frozenset(_analyzer().analyze(clean(" ".join(_NAME.findall(text))))) - _common()


def says_less(part: str, whole: str, fact: str) -> bool:
    """Whether a part of a text leaves out what the whole says of a fact: one of its numbers or names, or so many of its
    words that the rest says something else.
    """
    wanted, kept = stems(fact), stems(part)
    held = wanted & stems(whole)
    needed = (numbers(fact) | names(fact)) & held
    return bool(needed - kept) or len(wanted & kept) < len(held) - _LESS * len(wanted)


def place(text: str, fact: str) -> tuple[float, float]:
    """Where a text says most of a fact, as [start, end) in shares of the text: its sentence with most of the words."""
    wanted = stems(fact)
    start, end = max(
        sentences(text), key=lambda at: len(wanted & stems(text[at[0] : at[1]])), default=(0, len(text))
    )
    length = max(len(text), 1)
    return start / length, end / length


def sentences(text: str) -> list[tuple[int, int]]:
    """Where each sentence of a text stands: characters [start, end)."""
    found, at = [], 0
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        if _WORD.search(sentence):
            found.append((start, at))
    return found


def _plain(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


@cache
def _analyzer() -> TextAnalyzer:
    return word_analyzer()


@cache
def _common() -> frozenset[str]:
    return frozenset(_analyzer().analyze(" ".join(COMMON_WORDS)))
