"""Recognise the language of a text by its function words, since rules fitted on English do not apply to other texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import cast

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from amgs.storable import make_storable
from amgs.text.scripts import other_script
from amgs.text.stop_words import COMMON_WORDS

ENGLISH = "english"
OTHER_LANGUAGES = (
    "danish",
    "dutch",
    "finnish",
    "french",
    "german",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "russian",
    "spanish",
    "swedish",
)
"""Languages besides English whose function words tantivy knows."""

LONGEST_READ = 2000
"""Characters of a text that are read to recognise its language."""

FEWEST_WORDS = 5
LEAST_ENGLISH = 0.15
"""Least share of English function words in a long enough English question; of 2,018 such questions the
lowest is .18.
"""

_BEGINNING = 600
"""Characters by which the language of an indexed text is recognised, in a tenth of a millisecond."""

_ENOUGH_WORDS = 30
"""Words from which a few that are spelt alike in two languages do not matter."""

LEAST_FOREIGN = 0.1
"""Least share of another language's function words; in code a few look so by accident."""


@dataclass(frozen=True, slots=True)
class FunctionWords:
    """Counts of a text's function words: English ones, and those of the other language with most."""

    words: int
    english: int
    other: int
    language: str


def function_words(text: str) -> FunctionWords:
    """Count the function words in the first LONGEST_READ characters of a text."""
    return _counted(_read(text))


@lru_cache(maxsize=256)
def _counted(read: str) -> FunctionWords:
    """Return the counts for a text already cut; cached, since a search asks for its question several times."""
    words = _plain().analyze(read)
    known = _languages_of(words)
    english = sum(word in _COMMON or ENGLISH in known[word] for word in words)
    counts = Counter(name for word in words for name in known[word])
    most = max(OTHER_LANGUAGES, key=lambda name: counts[name])
    return FunctionWords(len(words), english, counts[most], most)


def language_of(text: str) -> str:
    """Return a text's language among OTHER_LANGUAGES by the function words at its beginning, else "english".

    In doubt it is English: of code and short turns three in a thousand are misread.
    """
    read = _read(text[:_BEGINNING])
    words = _plain().analyze(read)
    known = _languages_of(words)
    english = sum(ENGLISH in known[word] for word in words)
    if len(words) >= _ENOUGH_WORDS and english >= LEAST_ENGLISH * len(words):
        return ENGLISH
    counts = function_words(read)
    sure = counts.other >= max(2, 2 * counts.english) and counts.other >= LEAST_ENGLISH * counts.words
    return counts.language if sure else ENGLISH


def foreign_text(text: str) -> bool:
    """Return whether a text is in another language than English; False where it is too short to say."""
    if other_script(text[:LONGEST_READ]):
        return True
    counts = function_words(text)
    return counts.other > counts.english and counts.other >= LEAST_FOREIGN * counts.words


def foreign_question(text: str) -> bool:
    """Return whether a question is in another language than English; for a long enough one, few English function words
    suffice.
    """
    if foreign_text(text):
        return True
    counts = function_words(text)
    return counts.words >= FEWEST_WORDS and counts.english < LEAST_ENGLISH * counts.words


def foreign_function_words(question: str) -> frozenset[str]:
    """Return a question's function words, in lower case, where it is in another language that tantivy
    knows; else none.
    """
    counts = function_words(question)
    if counts.other <= counts.english:
        return frozenset()
    read = _read(question)
    return frozenset(_plain().analyze(read)) - frozenset(_content(counts.language).analyze(read))


def _read(text: str) -> str:
    return make_storable(text[:LONGEST_READ])


_COMMON = frozenset(COMMON_WORDS)

_MOST_REMEMBERED = 1 << 16
_remembered: dict[str, frozenset[str]] = {}


def _languages_of(words: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the languages in which each word is a function word. Cached: asking tantivy for thirteen languages takes
    longer than the rest of indexing a text.
    """
    known = {word: _remembered.get(word) for word in words}
    unknown = [word for word, languages in known.items() if languages is None]
    if unknown:
        joined = " ".join(unknown)
        left = {name: frozenset(_content(name).analyze(joined)) for name in (ENGLISH, *OTHER_LANGUAGES)}
        additions = {
            word: frozenset(name for name, content_words in left.items() if word not in content_words)
            for word in unknown
        }
        if len(_remembered) > _MOST_REMEMBERED:
            _remembered.clear()
        _remembered.update(additions)
        known |= additions
    return cast("dict[str, frozenset[str]]", known)


@cache
def _plain() -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase()).build()


@cache
def _content(language: str) -> TextAnalyzer:
    """Return an analyzer that drops the function words of a language."""
    words = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase())
    return words.filter(Filter.stopword(language)).build()
