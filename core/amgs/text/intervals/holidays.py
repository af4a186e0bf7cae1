"""Holidays whose day follows from the year alone. Those set by an observed moon are left out: they are not certain.

Where countries differ, the day is that of the United States.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta

from amgs.text.intervals.calendar import easter, nth_weekday

Holiday = Callable[[int], date]

_FIXED = {
    (1, 1): "new year, new year day",
    (12, 31): "new year eve",
    (1, 6): "epiphany",
    (2, 2): "groundhog day, ground hog day",
    (2, 14): "valentine, valentine day, saint valentine day, st valentine day",
    (3, 8): "women day, international women day",
    (3, 17): "saint patrick, st patrick, saint patrick day, st patrick day",
    (4, 1): "april fool, april fool day",
    (4, 22): "earth day",
    (5, 1): "may day, worker day, international worker day",
    (5, 5): "cinco de mayo",
    (6, 19): "juneteenth",
    (7, 4): "independence day, us independence day",
    (7, 14): "bastille day",
    (10, 31): "halloween, halloween day, all hallow eve",
    (11, 1): "all saint day, all hallow day",
    (11, 2): "all soul day",
    (11, 5): "guy fawkes, guy fawkes day, bonfire night",
    (11, 11): "veteran day, armistice day, remembrance day",
    (12, 24): "christmas eve, xmas eve",
    (12, 25): "christmas, christmas day, xmas, xmas day",
    (12, 26): "boxing day",
}
_NTH = {  # (month, weekday, nth, days later)
    (1, 0, 3, 0): "martin luther king day, martin luther king jr day, mlk day",
    (2, 0, 3, 0): "president day, washington birthday",
    (5, 6, 2, 0): "mother day",
    (5, 0, -1, 0): "memorial day",
    (6, 6, 3, 0): "father day",
    (9, 0, 1, 0): "labor day, labour day",
    (10, 0, 2, 0): "columbus day, indigenous people day",
    (11, 0, 1, 1): "election day",
    (11, 3, 4, 0): "thanksgiving, thanksgiving day",
    (11, 3, 4, 1): "black friday",
    (11, 3, 4, 4): "cyber monday",
}
_FROM_EASTER = {
    -47: "shrove tuesday, mardi gras, fat tuesday, pancake day",
    -46: "ash wednesday",
    -7: "palm sunday",
    -3: "maundy thursday, holy thursday",
    -2: "good friday",
    0: "easter, easter day, easter sunday",
    1: "easter monday",
    39: "ascension day",
    49: "pentecost, whit sunday",
    50: "whit monday",
}


def stem(words: Iterable[str]) -> tuple[str, ...]:
    """Words as holidays are looked up by: in lower case, without apostrophes and without the s of a plural."""
    return tuple(
        re.sub(r"(?<=..)s$", "", word.lower()) for word in words if word not in ("'", "'s", "’", "’s", ".")
    )


def _fixed(month: int, day: int) -> Holiday:
    return lambda year: date(year, month, day)


def _nth(month: int, weekday: int, nth: int, days: int) -> Holiday:
    return lambda year: nth_weekday(year, month, weekday, nth) + timedelta(days=days)


def _easter(days: int) -> Holiday:
    return lambda year: easter(year) + timedelta(days=days)


HOLIDAYS: dict[tuple[str, ...], Holiday] = {
    stem(name.split()): day
    for names, day in (
        *((names, _fixed(*at)) for at, names in _FIXED.items()),
        *((names, _nth(*at)) for at, names in _NTH.items()),
        *((names, _easter(days)) for days, names in _FROM_EASTER.items()),
    )
    for name in names.split(", ")
}
"""The stemmed words of the name → the day in a year."""
