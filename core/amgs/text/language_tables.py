"""Tables of each language for speakers and times: `languages/NAME.toml`; and the choice of a text's table.

A date in another language than English is a phrase of its table, read as the English that stands beside it: one
grammar reads the dates of all.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

from amgs.text.language import ENGLISH, function_words
from amgs.text.scripts import spaceless_language

TABLES = frozenset({ENGLISH, "chinese", "french", "german", "japanese", "spanish"})
_SLOT = re.compile(r"\{([a-z]+|0)\}")
_LONE = "(?<![\u3400-\u9fff])[\u3400-\u9fff](?![\u3400-\u9fff])"
_DIGITS = {"day": {r"3[01]|[12]\d|0?[1-9]": ""}, "mm": {"1[0-2]|0?[1-9]": ""}, "year": {r"(?:19|20)\d\d": ""}}


@dataclass(frozen=True)
class LanguageTable:
    """request, asks, subject, own: of who is meant (`retrieval.asked_role`). asking: says that a question asks what was
    asked. open, talking: of days that a question names (`retrieval.asked_days`). phrases: dates, each with its English.
    holding: says that it asks what holds. particles: what parts words in a script without spaces.
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
        taken: list[tuple[int, int]] = []
        for phrase, english in self.phrases:
            for match in phrase.finditer(text):
                start, end = match.span()
                if all(end <= first or last <= start for first, last in taken):
                    taken.append((start, end))
                    yield start, end, _SLOT.sub(partial(self._word, match), english)

    def _word(self, match: re.Match[str], slot: re.Match[str]) -> str:
        written = match[0] if slot[1] == "0" else match[slot[1]] or ""
        for pattern, english in self.slots.get(slot[1], ()):
            if pattern.fullmatch(written):
                return english or written
        return written


_DAY_WORDS = {
    "german": re.compile(
        r"\b(?:vor)?gestern\b|\bheute\b|\bübermorgen\b|\b(?:letzte|vergangene) nacht\b", re.IGNORECASE
    ),
    "spanish": re.compile(r"\b(?:ante)?ayer\b|\banoche\b|\bhoy\b|\besta (?:mañana|tarde|noche)\b", re.IGNORECASE),
    "french": re.compile(
        r"\bavant-hier\b|\bhier (?:soir|matin|après-midi)\b|\baujourd['’]hui\b|\bdemain\b|\bce (?:matin|soir)\b"
        r"|\bla nuit dernière\b",
        re.IGNORECASE,
    ),
}
"""Words that tell the language of a text too short for its function words to tell it."""
_ENGLISH_DAYS = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this) \w+|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|january|march|july|october|december)\b",
    re.IGNORECASE,
)
"""Words that show that a text is English, although it has a name such as Chris Hoy."""


def table_of(text: str) -> LanguageTable:
    """Return the table of a text's language; of one without a table, the English one."""
    counts = function_words(text)
    name = counts.language if counts.other > max(counts.english, 1) else ENGLISH
    if name == ENGLISH and counts.english <= counts.other and not _ENGLISH_DAYS.search(text):
        name = next((language for language, words in _DAY_WORDS.items() if words.search(text)), ENGLISH)
    name = "spanish" if "¿" in text else spaceless_language(text) or name
    return language_table(name if name in TABLES else ENGLISH)


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
