"""Complete a date of which parts are left out: it means the nearest day with the given parts, in the past or the future
by the verb's tense.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from amgs.text.intervals.calendar import Days, around, shifted
from amgs.text.intervals.interval import DayInterval, Grain, Modality


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
"""Days within which a day of a month is meant whatever the tense, since the other one is a year away."""


def settled(
    fields: Fields, today: date, side: int = 0, *, after: date | None = None, pointed: bool = False
) -> DayInterval | None:
    """Return the days that the parts mean; None where no day has them.

    side: -1 for the nearest in the past, 1 in the future, 0 on either side. after: the first possible day, for the end
    of a range. pointed: a word points away from today ("next 5/19"). A month or weekday that includes today means
    today's on either side, and so does a day of a month near today unless `pointed`.
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
    """Yield the days nearest to today with these parts, on both sides of it where no year is given."""
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
            near_month = shifted(this, k, "month")
            if _exists(near_month.year, near_month.month, day):
                candidate = near_month.replace(day=day)
                if weekday is None or candidate.weekday() == weekday:
                    yield candidate, candidate
    elif weekday is not None:
        ahead = today + timedelta(days=(weekday - today.weekday()) % 7)
        for near_day in (ahead, ahead - timedelta(weeks=1)):
            yield near_day, near_day


def near_century(two_digits: int, near: int) -> int:
    """Return the full year for two digits: the one nearest to the year `near`."""
    year = near - near % 100 + two_digits
    return year - 100 if year > near + 50 else year + 100 if year <= near - 50 else year


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def joined(first: Fields, last: Fields) -> tuple[Fields, Fields]:
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
