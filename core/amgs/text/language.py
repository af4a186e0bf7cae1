"""Recognise the language of a text by its function words, since rules fitted on English do not apply to other
texts, and choose the table of its words for speakers and times.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import Any, cast

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from amgs.incoming import make_storable
from amgs.text.words import COMMON_WORDS, other_script, spaceless_language

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
    return _count_function_words(_read(text))


@lru_cache(maxsize=256)
def _count_function_words(read: str) -> FunctionWords:
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
    """Return whether a question is in another language than English; for a long enough question, few English function
    words suffice.
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


TABLES = frozenset({ENGLISH, "chinese", "french", "german", "japanese", "spanish"})
_SLOT = re.compile(r"\{([a-z]+|0)\}")
_LONE = "(?<![\u3400-\u9fff])[\u3400-\u9fff](?![\u3400-\u9fff])"
_DIGITS = {"day": {r"3[01]|[12]\d|0?[1-9]": ""}, "mm": {"1[0-2]|0?[1-9]": ""}, "year": {r"(?:19|20)\d\d": ""}}


@dataclass(frozen=True)
class LanguageTable:
    """request, asks, subject, own: of who is meant (`retrieval.sources`). asking: says that a question asks what was
    asked. open, talking: of days that a question names (`retrieval.text_features`). phrases: dates, each with its
    English. holding: says that it asks what holds. particles: what parts words in a script without spaces.

    A date in another language than English is a phrase of its table, read as the English that stands beside it: a
    single grammar reads the dates of all.
    """

    request: re.Pattern[str]
    asks: re.Pattern[str]
    subject: re.Pattern[str]
    own: re.Pattern[str]
    asking: re.Pattern[str]
    open: re.Pattern[str]
    talking: re.Pattern[str]
    holding: re.Pattern[str]
    phrases: tuple[tuple[re.Pattern[str], str], ...]
    slots: Mapping[str, tuple[tuple[re.Pattern[str], str], ...]]
    particles: re.Pattern[str] = re.compile("(?!)")

    def dates(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield each date phrase of a text: [start, end), and its English. Of two that overlap the earlier in the
        table.
        """
        taken = bytearray(len(text))
        for phrase, english in self.phrases:
            for match in phrase.finditer(text):
                start, end = match.span()
                if 1 not in taken[start:end]:
                    taken[start:end] = b"\1" * (end - start)
                    yield start, end, _SLOT.sub(partial(self._word, match), english)

    def _word(self, match: re.Match[str], slot: re.Match[str]) -> str:
        written = match[0] if slot[1] == "0" else match[slot[1]] or ""
        for pattern, english in self.slots.get(slot[1], ()):
            if pattern.fullmatch(written):
                return english or written
        return written


_FEW_WORDS = 20
"""Words of a text up to which its day words, if it has any, tell its language before its function words do."""
_DAY_WORDS = {
    "german": re.compile(
        r"\b(?:vor)?gestern\b|\bheute\b|\bübermorgen\b|\b(?:letzte|vergangene) nacht\b|\A\W*morgen (?=(?-i:[a-zäöü]))"
        r"|\b(?:silvester|weihnachten|heiligabend)\b",
        re.IGNORECASE,
    ),
    "spanish": re.compile(
        r"\b(?:ante)?ayer\b|\banoche\b|\bhoy\b|\besta (?:mañana|tarde|noche)\b|\A\W*mañana\b"
        r"|\bpasado mañana\b|\b(?:navidad|nochevieja|nochebuena)\b",
        re.IGNORECASE,
    ),
    "french": re.compile(
        r"\bavant-hier\b|\bhier (?:soir|matin|après-midi)\b|\baujourd['’]hui\b|\bdemain\b|\bce (?:matin|soir)\b"
        r"|\bla nuit dernière\b",
        re.IGNORECASE,
    ),
}
_ENGLISH_DAYS = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this) \w+|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|january|march|july|october|december)\b",
    re.IGNORECASE,
)
"""Words that show that a text is English, although it has a name such as Chris Hoy."""


def table_of(text: str) -> LanguageTable:
    """Return the table of a text's language; of a language without a table, the English table."""
    counts = function_words(text)
    name = counts.language if counts.other > max(counts.english, 1) else ENGLISH
    few = counts.words <= _FEW_WORDS and len(text) <= LONGEST_READ
    if few and counts.english <= counts.other and not _ENGLISH_DAYS.search(text):
        languages = sorted(_DAY_WORDS, key=lambda language: language != name)
        name = next((language for language in languages if _names_day(language, text)), name)
    name = "spanish" if "¿" in text else spaceless_language(text) or name
    if name not in TABLES or name == ENGLISH:
        english = counts.english > counts.other or _ENGLISH_DAYS.search(_read(text))
        return _plain_english() if english else language_table(ENGLISH)
    return language_table(name)


@cache
def _plain_english() -> LanguageTable:
    """Return the English table without the days in other languages: in an English text they are names."""
    return replace(language_table(ENGLISH), phrases=())


def _names_day(language: str, text: str) -> bool:
    """Return whether a text has a day word or a relative date ("letzten Freitag", "hace tres días") of a language."""
    return bool(_DAY_WORDS[language].search(text)) or any(
        phrase.search(text)
        for phrase, english in language_table(language).phrases
        if "{point}" in english or "{number}" in english
    )


def lone_characters(text: str) -> str:
    """Return the Han characters of a question that stand alone between particles or kana: they are words."""
    if not spaceless_language(text):
        return ""
    return " ".join(re.findall(_LONE, table_of(text).particles.sub(" ", text)))


@cache
def words_of_language(name: str) -> dict[str, Any]:
    """Return what the table of a language of TABLES says, as it is written."""
    return tomllib.loads((files(__package__) / f"languages/{name}.toml").read_text("utf-8"))


@cache
def language_table(name: str) -> LanguageTable:
    """Return the table of a language of TABLES."""
    sections = words_of_language(name)
    words = _DIGITS | sections
    slots = {
        slot: tuple((_compile_form(form), english) for form, english in table.items())
        for slot, table in words.items()
        if slot not in ("roles", "days", "words", "phrases", "dates")
    }

    phrases = tuple(
        (_compile_form(_SLOT.sub(lambda slot: f"(?P<{slot[1]}>{'|'.join(words[slot[1]])})", form)), english)
        for form, english in sections.get("phrases", {}).items()
    )
    rules = {
        key: _compile_form(form)
        for key, form in (sections["roles"] | sections["days"] | sections.get("words", {})).items()
    }
    return LanguageTable(**rules, phrases=phrases, slots=slots)


def _compile_form(form: str) -> re.Pattern[str]:
    return re.compile(form, re.IGNORECASE)
