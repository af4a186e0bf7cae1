"""The words of dates, in lower case: months, weekdays, units, numbers, and the words that point from the day; they are
part of the table of English.
"""

from __future__ import annotations

from collections.abc import Mapping

from amgs.text.language import ENGLISH
from amgs.text.language_tables import words_of_language

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
