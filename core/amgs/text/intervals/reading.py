"""A text as words with places, what numbers stand in it, and the words of dates, which are part of the table
of English: what every rule of the grammar reads from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from amgs.text.intervals.calendar import DayInterval, Fields, Grain, Modality, complete_date
from amgs.text.language import ENGLISH, words_of_language

DATES = words_of_language(ENGLISH)["dates"]


def _number_words(kind: str, first: int = 0, step: int = 1) -> dict[str, int]:
    return {word: first + step * place for place, word in enumerate(DATES[kind].split())}


MONTHS = _number_words("months", 1)
MONTHS |= {name[:3]: i for name, i in MONTHS.items()} | {"sept": 9}
WEEKDAYS = _number_words("weekdays")
SHORT_WEEKDAYS = {name[:3]: i for name, i in WEEKDAYS.items()} | {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
UNITS: Mapping[str, str] = DATES["units"] | {f"{name}s": unit for name, unit in DATES["units"].items()}
UNITS = {**UNITS, "centuries": "century"}
SEASONS: Mapping[str, int] = DATES["seasons"]
ONES, TENS = _number_words("ones"), _number_words("tens", 20, 10)
ORDINALS = _number_words("ordinals", 1) | {"thirtieth": 30}
DECADES = {f"{word[:-1]}ies": tens for word, tens in TENS.items()}
LAST, NEXT, THIS = (frozenset(DATES[kind].split()) for kind in ("last", "next", "this"))
FEW, SEVERAL = (2, 5), (3, 7)
"""How many "a few" and "several" may be."""


_TOKEN = re.compile(r"[A-Za-z]+|[0-9]+|['’]s\b|[^\sA-Za-z0-9]")
_DEEPEST = 6
_SUFFIXES = {"st", "nd", "rd", "th"}


class Found(NamedTuple):
    """Result of a rule: the token where it ends, its meaning, and whether it is a date in any running text.

    sure: False for what is a date only where the writer is known to speak of a date ("may", "2008", "the day").
    """

    end: int
    means: Fields | DayInterval
    sure: bool = True


class Settled(NamedTuple):
    """A Found whose meaning is days."""

    end: int
    means: DayInterval
    sure: bool


@dataclass(frozen=True, slots=True)
class Count:
    """Number of units as a range [low, high]; both are equal where it is exact."""

    low: int
    high: int

    @property
    def exact(self) -> bool:
        return self.low == self.high


Rule = Callable[["Reading", int], Found | None]


class Reading:
    """The tokens of a text, read from a day.

    today: the day of writing. side: -1 where the verb is in the past, 1 in the future, 0 where it does not say.
    """

    def __init__(self, text: str, today: date, rules: Mapping[str, tuple[Rule, ...]], side: int = 0) -> None:
        self.text, self.today, self.rules, self.side = text, today, rules, side
        matches = list(_TOKEN.finditer(text))
        self.raw = [m[0] for m in matches]
        self.words = [m[0].lower() for m in matches]
        self.starts = [m.start() for m in matches]
        self.ends = [m.end() for m in matches]
        self._known: dict[tuple[str, int], Found | None] = {}
        self._turned: dict[int, Reading] = {side: self}
        self._depth = 0

    def __len__(self) -> int:
        return len(self.words)

    def at(self, i: int) -> str:
        """Return the token in lower case; empty beyond the text."""
        return self.words[i] if 0 <= i < len(self.words) else ""

    def is_glued(self, i: int) -> bool:
        """Return whether nothing stands between token i and the previous token."""
        return 0 < i < len(self.words) and self.starts[i] == self.ends[i - 1]

    def after(self, i: int, *phrases: str) -> int | None:
        """Return the place behind the first of the phrases that stands at i; None where none does."""
        first = self.at(i)
        for phrase in phrases:
            if phrase.startswith(first) and self.words[i : i + len(words := phrase.split())] == words:
                return i + len(words)
        return None

    def skip(self, i: int, *words: str) -> int:
        """Return the place behind any of these words, or i itself."""
        return i + 1 if self.at(i) in words else i

    def turn_to(self, side: int) -> Reading:
        """Return the same tokens for a verb of another tense."""
        if side not in self._turned:
            self._turned[side] = copy(self)
            self._turned[side].side, self._turned[side]._known = side, {}
        return self._turned[side]

    def parse(self, kind: str, i: int) -> Found | None:
        """Return the longest that a kind of rules reads at i; of two as long, that of the earlier rule."""
        if (kind, i) in self._known:
            return self._known[kind, i]
        if self._depth >= _DEEPEST:
            return None
        self._depth += 1
        best: Found | None = None
        for rule in self.rules[kind]:
            try:
                candidate = rule(self, i)
            except (ValueError, OverflowError):
                continue  # 31 February, or a span that leaves the calendar, is no date
            if candidate is not None and (best is None or candidate.end > best.end):
                best = candidate
        self._depth -= 1
        self._known[kind, i] = best
        return best

    def days(self, kind: str, i: int) -> Settled | None:
        """Return the same with the parts that are left out settled."""
        hit = self.parse(kind, i)
        if hit is None:
            return None
        meaning = hit.means
        means = complete_date(meaning, self.today, self.side) if isinstance(meaning, Fields) else meaning
        return Settled(hit.end, means, hit.sure) if means is not None else None

    def number(self, i: int) -> tuple[int, int] | None:
        """Return (end, value) of a whole number in digits or words below a hundred."""
        word = self.at(i)
        if word.isdigit():
            if len(word) > 4 or (self.at(i + 1) in _SUFFIXES and self.is_glued(i + 1)):
                return None
            return i + 1, int(word)
        if word in TENS:
            j = self.skip(i + 1, "-")
            if 0 < ONES.get(self.at(j), 0) < 10:
                return j + 1, TENS[word] + ONES[self.at(j)]
            return i + 1, TENS[word]
        return (i + 1, ONES[word]) if word in ONES else None

    def ordinal(self, i: int) -> tuple[int, int] | None:
        """Return (end, value) of "3rd", "third", "twenty-third"."""
        word = self.at(i)
        if word.isdigit() and len(word) <= 2 and self.at(i + 1) in _SUFFIXES and self.is_glued(i + 1):
            return i + 2, int(word)
        if word in TENS:
            j = self.skip(i + 1, "-")
            return (j + 1, TENS[word] + ORDINALS[self.at(j)]) if ORDINALS.get(self.at(j), 10) < 10 else None
        return (i + 1, ORDINALS[word]) if word in ORDINALS else None

    def count(self, i: int) -> tuple[int, Count] | None:
        """Return (end, how many) before a unit: "3", "a", "a couple of", "the few", "several"."""
        for j in (i, self.skip(i, "a", "the", "only")):
            if self.at(j) == "couple":
                return self.skip(j + 1, "of"), Count(2, 2)
            if self.at(j) == "few":
                return j + 1, Count(*FEW)
        if self.at(i) == "several":
            return i + 1, Count(*SEVERAL)
        number = self.number(i)
        if number is not None:
            return number[0], Count(number[1], number[1])
        return (i + 1, Count(1, 1)) if self.at(i) in ("a", "an") else None

    def month(self, i: int) -> tuple[int, int] | None:
        """Return (end, month) of a month's name or its short form."""
        number = MONTHS.get(self.at(i))
        if number is None:
            return None
        short = len(self.at(i)) <= 4 and self.at(i) not in ("june", "july", "may")
        return (self.skip(i + 1, ".") if short else i + 1), number

    def year(self, i: int) -> tuple[int, int] | None:
        """Return (end, year) of four digits, or of a year in words."""
        word = self.at(i)
        if len(word) == 4 and word.isdigit() and 1000 <= int(word) <= 2999:
            return i + 1, int(word)
        return self._year_in_words(i)

    def _year_in_words(self, i: int) -> tuple[int, int] | None:
        head = self.number(i) if not self.at(i).isdigit() else None
        if head is None:
            return None
        j, begin = head
        if self.at(j) == "thousand" and begin == 2:
            j = self.skip(j + 1, "and")
            rest = self.number(j) if not self.at(j).isdigit() else None
            return (rest[0], 2000 + rest[1]) if rest else (j, 2000)
        if not 10 <= begin <= 29:
            return None
        hundred = self.at(j) == "hundred"
        j = self.skip(self.skip(j + 1, "and"), "-") if hundred else self.skip(j, "-")
        rest = self.number(j) if not self.at(j).isdigit() else None
        if rest is not None and (hundred or rest[1] >= 10):
            return rest[0], begin * 100 + rest[1]
        return (j, begin * 100) if hundred else None


def interval(days: tuple[date, date], grain: str, confidence: float, modality: Modality = Modality.ON) -> DayInterval:
    return DayInterval(*days, Grain(grain), modality, confidence)
