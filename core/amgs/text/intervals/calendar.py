"""Arithmetic of days: units around a day, shifts by units, the nth weekday. Weeks begin on Monday (ISO 8601).

Holidays are those whose day follows from the year alone. Those set by an observed moon are left out: they are not
certain. Where countries differ, the day is that of the United States.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from datetime import date, timedelta

from amgs.text.language import ENGLISH
from amgs.text.language_tables import words_of_language

Days = tuple[date, date]

_MONTHS_IN = {"month": 1, "quarter": 3, "season": 3, "half": 6, "year": 12}
_YEARS_IN = {"decade": 10, "century": 100}


def around(day: date, unit: str) -> Days:
    """Return first and last day of the calendar unit that holds the day; a weekend is that of the day's week.

    A season has the meteorological three months: spring begins in March, winter in December.
    Raises OverflowError or ValueError at the edge of the calendar.
    """
    if unit == "day":
        return day, day
    if unit in ("week", "workweek", "weekend"):
        monday = day - timedelta(days=day.weekday())
        begin, end = {"week": (0, 6), "workweek": (0, 4), "weekend": (5, 6)}[unit]
        return monday + timedelta(days=begin), monday + timedelta(days=end)
    if unit in _MONTHS_IN:
        months = _MONTHS_IN[unit]
        past = day.month % 12 % 3 if unit == "season" else (day.month - 1) % months
        first = shifted(day.replace(day=1), -past, "month")
        return first, shifted(first, months, "month") - timedelta(days=1)
    years = _YEARS_IN[unit]
    begin = day.year - day.year % years
    return date(max(begin, 1), 1, 1), date(begin + years - 1, 12, 31)


def shifted(day: date, count: int, unit: str) -> date:
    """Return the day that many units later; a day that the month lacks becomes its last.

    Raises OverflowError or ValueError outside the calendar.
    """
    if unit == "day":
        return day + timedelta(days=count)
    if unit in ("week", "weekend", "workweek"):
        return day + timedelta(weeks=count)
    if unit == "fortnight":
        return day + timedelta(weeks=2 * count)
    if unit == "workday":
        return _over_workdays(day, count)
    months = day.year * 12 + day.month - 1 + count * (_MONTHS_IN.get(unit) or 12 * _YEARS_IN.get(unit, 1))
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(f"{count} {unit} from {day} is outside the calendar")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """Return the nth such weekday of a month; -1 is the last one. Raises ValueError where the month has none."""
    if nth < 0:
        end = date(year, month, monthrange(year, month)[1])
        return end - timedelta(days=(end.weekday() - weekday) % 7)
    first = date(year, month, 1)
    return first.replace(day=1 + (weekday - first.weekday()) % 7 + 7 * (nth - 1))


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (the anonymous algorithm, Meeus 1991)."""
    a, (b, c) = year % 19, divmod(year, 100)
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    k = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * k) // 451
    month, day = divmod(h + k - 7 * m + 114, 31)
    return date(year, month, day + 1)


def week_of_year(year: int, week: int) -> Days:
    """Monday to Sunday of an ISO week. Raises ValueError where the year has no such week."""
    monday = date.fromisocalendar(year, week, 1)
    return monday, monday + timedelta(days=6)


def week_of_month(year: int, month: int, nth: int) -> Days:
    """Return the nth week of a month, counted by its Thursdays as ISO 8601 counts those of a year; -1 is the last one.

    Raises ValueError where the month has none.
    """
    thursday = nth_weekday(year, month, 3, nth)
    return thursday - timedelta(days=3), thursday + timedelta(days=3)


def _over_workdays(day: date, count: int) -> date:
    """Return the day so many workdays (Monday to Friday) later, or earlier for a negative count."""
    step = 1 if count > 0 else -1
    weeks, rest = divmod(abs(count), 5)
    day += timedelta(weeks=step * weeks)
    while rest:
        day += timedelta(days=step)
        rest -= day.weekday() < 5
    return day


Holiday = Callable[[int], date]


def stem(words: Iterable[str]) -> tuple[str, ...]:
    """Words as holidays are looked up by: in lower case, without apostrophes and without the s of a plural."""
    return tuple(re.sub(r"(?<=..)s$", "", word.lower()) for word in words if word not in ("'", "'s", "’", "’s", "."))


def _make_fixed_holiday(at: str) -> Holiday:
    return lambda year: date.fromisoformat(f"{year:04}-{at}")


def _nth(at: str) -> Holiday:
    month, weekday, nth, days = map(int, at.split())
    return lambda year: nth_weekday(year, month, weekday, nth) + timedelta(days=days)


def _easter(days: str) -> Holiday:
    return lambda year: easter(year) + timedelta(days=int(days))


HOLIDAYS: dict[tuple[str, ...], Holiday] = {
    stem(name.split()): day(at)
    for kind, day in (("fixed", _make_fixed_holiday), ("nth", _nth), ("easter", _easter))
    for at, names in words_of_language(ENGLISH)["dates"][kind].items()
    for name in names.split(", ")
}
"""The stemmed words of the name → the day in a year."""
