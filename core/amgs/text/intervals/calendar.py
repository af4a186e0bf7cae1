"""Define `DayInterval`, the days that a text names; arithmetic of days (weeks begin on Monday, ISO 8601); and
complete a date of which parts are left out.

Holidays are those whose day follows from the year alone, none by an observed moon: that is not certain. Where
countries differ, the day is that of the United States.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum

from amgs.text.language import ENGLISH, words_of_language

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
        first = shift_day(day.replace(day=1), -past, "month")
        return first, shift_day(first, months, "month") - timedelta(days=1)
    years = _YEARS_IN[unit]
    begin = day.year - day.year % years
    return date(max(begin, 1), 1, 1), date(begin + years - 1, 12, 31)


def shift_day(day: date, count: int, unit: str) -> date:
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
    """Return the nth such weekday of a month; -1 is the last. Raises ValueError where the month has none."""
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
    """Return the nth week of a month, counted by its Thursdays as ISO 8601 counts those of a year; -1 is the last.

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


class Grain(StrEnum):
    """The calendar unit in which a date is stated."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    HALF = "half"
    YEAR = "year"
    DECADE = "decade"
    CENTURY = "century"


class Modality(StrEnum):
    """Relation of the days to the wording: exactly those days, about them, an open end, or hardly any hint."""

    ON = "on"
    ABOUT = "about"
    BEFORE = "before"
    AFTER = "after"
    VAGUE = "vague"


@dataclass(frozen=True, slots=True)
class DayInterval:
    """Days from first to last, inclusive; None for an open end ("before 2019", "since May").

    grain: the unit in which they are stated. "Two months ago" is a single day by the calendar, but stated in months:
    `whole` is what it may mean. confidence: in [0, 1], how often such a reading is right; low for vague words
    ("recently"), which give a wide interval.

    Raises ValueError where last is before first, or both ends are open.
    """

    first: date | None
    last: date | None
    grain: Grain
    modality: Modality = Modality.ON
    confidence: float = 1.0

    def __post_init__(self) -> None:
        if self.first is None and self.last is None:
            raise ValueError("an interval with both ends open says nothing")
        if self.first is not None and self.last is not None and self.last < self.first:
            raise ValueError(f"the interval ends on {self.last}, before it begins on {self.first}")

    @property
    def whole(self) -> tuple[date, date]:
        """First and last day of the calendar units that it touches; an open end equals the other."""
        first, last = self.first or self.last, self.last or self.first
        assert first is not None and last is not None
        return around(first, self.grain)[0], around(last, self.grain)[1]

    def close_ends(self, written: date) -> tuple[date, date]:
        """Return first and last day, with an open end closed by the day of writing: "since May" ends then."""
        if self.first is None:
            assert self.last is not None
            return min(self.last, written), self.last
        if self.last is None:
            return self.first, max(self.first, written)
        return self.whole


@dataclass(frozen=True, slots=True)
class Fields:
    """The parts of a date that are written; the rest follows from where it stands.

    confidence: how sure the reading of the parts is.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    confidence: float = 1.0


WRITTEN, BY_TENSE, NEAREST = 1.0, 0.9, 0.75
"""Confidence of a date that is written in full, chosen by the tense, or only the nearest."""


_NEAR = 7
"""Days within which a day of a month is meant whatever the tense, since the other is a year away."""


def complete_date(
    fields: Fields, today: date, side: int = 0, *, after: date | None = None, pointed: bool = False
) -> DayInterval | None:
    """Return the days that the parts mean; None where no day has them.

    side: -1 for the nearest in the past, 1 in the future, 0 on either side. after: the first possible day, for the end
    of a range. pointed: a word points away from today ("next 5/19"). A month or weekday that includes today means
    today's on either side, and so does a day of a month near today unless `pointed`.

    The nearest day with the stated parts is meant, in the past or the future by the verb's tense.
    """
    if fields.year is None and after is not None:
        return _first_after(fields, after)
    sure = fields.confidence * (WRITTEN if fields.year is not None else BY_TENSE if side else NEAREST)
    near = _NEAR if fields.month is not None and not pointed else 0
    try:
        days = min(_candidates(fields, today), key=lambda d: _distance(d, today, side, near=near), default=None)
    except (ValueError, OverflowError):
        return None
    return DayInterval(*days, _grain(fields), Modality.ON, sure) if days else None


def _first_after(fields: Fields, after: date) -> DayInterval | None:
    try:
        later = [d for d in _candidates(fields, after) if d[0] >= after]
    except (ValueError, OverflowError):
        return None
    return DayInterval(*min(later), _grain(fields), Modality.ON, fields.confidence * BY_TENSE) if later else None


def _grain(fields: Fields) -> Grain:
    if fields.day is not None or fields.weekday is not None:
        return Grain.DAY
    return Grain.YEAR if fields.month is None else Grain.MONTH


def _distance(days: Days, today: date, side: int, *, near: int) -> tuple[bool, int]:
    first, last = days
    if first <= today <= last:
        return False, 0
    away = (first - today).days if first > today else (today - last).days
    far = away > near or first != last
    return side != 0 and far and (first > today) != (side > 0), away


def _candidates(fields: Fields, today: date) -> Iterator[Days]:
    """Yield the days nearest to today with these parts, on both sides of it where no year is stated."""
    year, month, day, weekday = fields.year, fields.month, fields.day, fields.weekday
    if year is not None:
        if month is None:
            yield date(year, 1, 1), date(year, 12, 31)
        else:
            yield around(date(year, month, day or 1), "day" if day else "month")
    elif month is not None:
        beside = range(max(today.year - 1, 1), min(today.year + 2, 9999))
        agreeing = [y for y in beside if day and _exists(y, month, day) and date(y, month, day).weekday() == weekday]
        begin = max(today.year - 8, 1)  # a leap day may be eight years off
        for near in range(begin, min(begin + 17, 9999)):
            if day is None:
                yield around(date(near, month, 1), "month")
            elif _exists(near, month, day):
                on = date(near, month, day)
                if weekday is None or on.weekday() == weekday or not agreeing:
                    yield on, on
    elif day is not None:
        months = 60 if weekday is not None else 2
        this = today.replace(day=1)
        for k in range(-months, months + 1):
            near_month = shift_day(this, k, "month")
            if _exists(near_month.year, near_month.month, day):
                candidate = near_month.replace(day=day)
                if weekday is None or candidate.weekday() == weekday:
                    yield candidate, candidate
    elif weekday is not None:
        ahead = today + timedelta(days=(weekday - today.weekday()) % 7)
        for near_day in (ahead, ahead - timedelta(weeks=1)):
            yield near_day, near_day


def near_century(two_digits: int, near: int) -> int:
    """Return the full year for two digits: the year nearest to `near`."""
    year = near - near % 100 + two_digits
    return year - 100 if year > near + 50 else year + 100 if year <= near - 50 else year


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def complete_range(first: Fields, last: Fields) -> tuple[Fields, Fields]:
    """Return both ends of a range, each completed from the other ("9 to 12 June", "May 5 to 7, 2020")."""
    begin, end = first.day, last.day
    if begin is not None and end is not None and first.weekday is None and last.weekday is None:
        if last.month is None and first.month is not None:
            last = replace(last, month=first.month)
        elif first.month is None and last.month is not None:
            month = (last.month - 2) % 12 + 1 if begin > end else last.month
            first = replace(first, month=month)
    if first.year is None and last.year is not None and first.month is not None:
        wraps = (first.month, first.day or 1) > (last.month or 12, last.day or 31)
        first = replace(first, year=last.year - wraps)
    elif last.year is None and first.year is not None and last.month is not None:
        wraps = (first.month or 1, first.day or 1) > (last.month, last.day or 31)
        last = replace(last, year=first.year + wraps)
    return first, last
