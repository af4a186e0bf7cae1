"""The rules for single days by name: weekdays, holidays, today and its neighbours, the nth day of a period."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from amgs.text.intervals.calendar import HOLIDAYS, stem
from amgs.text.intervals.fields import BY_TENSE, NEAREST, Fields, settled
from amgs.text.intervals.reading import Found, Reading, interval
from amgs.text.intervals.vocabulary import DATES, LAST, NEXT, THIS
from amgs.text.intervals.written import date_fields, weekday_at

_BEGINNINGS = {words[0] for words in HOLIDAYS}
NAMED_DAYS: Mapping[str, int] = DATES["named"]
_TOLD_DAYS: Mapping[str, int] = DATES["told"]
"""Words that mean a day only where the context expects one."""


def holiday(r: Reading, i: int) -> Found | None:
    """Read a holiday, of a certain year where one is given: "Christmas 2019"."""
    return _holiday(r, i, r.side)


def _holiday(r: Reading, i: int, side: int) -> Found | None:
    """Read a holiday; without a year the nearest on this side of today."""
    if not _BEGINNINGS.issuperset(stem([r.at(i)])):
        return None
    for length in range(min(7, len(r) - i), 0, -1):
        day = HOLIDAYS.get(stem(r.words[i : i + length]))
        if day is None or r.at(i + length - 1) in ("'", "’"):
            continue
        end = i + length
        j = r.skip(r.skip(end, ",", "of"), "in", "of")
        year = r.year(j) if r.at(j).isdigit() else None
        if year is not None:
            on = day(year[1])
            return Found(year[0], interval((on, on), "day", 1.0))
        near = [day(y) for y in range(max(r.today.year - 1, 1), min(r.today.year + 2, 9999))]
        on = min(near, key=lambda d: (side != 0 and d != r.today and (d > r.today) != (side > 0), abs(d - r.today)))
        named = r.raw[i][0].isupper() or len(r.at(i)) > 7
        return Found(end, interval((on, on), "day", BY_TENSE if side else NEAREST), named)
    return None


def read_named_day(r: Reading, i: int) -> Found | None:
    """Read "today", "yesterday", "the day after tomorrow"."""
    for days, sure in ((NAMED_DAYS, True), (_TOLD_DAYS, False)):
        for phrase, shift in days.items():
            end = r.after(i, phrase)
            if end is None:
                continue
            on = r.today + timedelta(days=shift)
            return Found(end, interval((on, on), "day", 0.95 if sure else 0.5), sure)
    return None


def read_pointed_weekday(r: Reading, i: int) -> Found | None:
    """Read "last Friday", "next Mon", "this coming Sunday", "Tuesday of next week", "a week from Friday"."""
    j = r.skip(i, "the", "on")
    word = r.at(j)
    if word in LAST | NEXT | THIS:
        strictly = word in THIS and r.at(j + 1) in NEXT
        k = j + 1 + strictly
        inner = r.at(k) in ("week", "weeks")
        weekday = weekday_at(r, r.skip(k + inner, "'s", "on"))
        if weekday is not None:
            return _weekday_by(r, weekday, "coming" if strictly else word, of_week=inner)
        return None
    weekday = weekday_at(r, j)
    if weekday is None:
        return None
    k = r.skip(r.skip(weekday[0], ",", "of", "in"), "the")
    if r.at(k) in LAST | NEXT | THIS and r.at(k + 1) == "week":
        return _weekday_by(r, (k + 2, weekday[1]), r.at(k), of_week=True)
    return None


def _weekday_by(r: Reading, weekday: tuple[int, int], word: str, *, of_week: bool) -> Found:
    """Return the weekday that a word such as "last" selects.

    "Last": the nearest before today. "Next": that of the coming week, since the nearer one is "this". "Coming": the
    nearest after today. "Previous": that of the week before.
    """
    end, wanted = weekday
    monday = r.today - timedelta(days=r.today.weekday())
    if word in ("last", "past") and not of_week:
        on = r.today - timedelta(days=(r.today.weekday() - wanted) % 7 or 7)
    elif word in ("coming", "upcoming") and not of_week:
        on = r.today + timedelta(days=(wanted - r.today.weekday()) % 7 or 7)
    else:
        step = -1 if word in LAST else 1 if word in NEXT else 0
        on = monday + timedelta(weeks=step, days=wanted)
    return Found(end, interval((on, on), "day", 0.85))


def read_pointed_date(r: Reading, i: int) -> Found | None:
    """Read "next 6th of April", "this Friday 5/12", "last Christmas"."""
    word = r.at(i)
    if word not in LAST | NEXT | THIS:
        return None
    side = -1 if word in LAST else 1
    hit = date_fields(r, i + 1)
    if hit is not None and isinstance(hit.means, Fields):
        fields = hit.means
        if fields.month is None or fields.day is None or fields.year is not None:
            return None
        if word in THIS or weekday_at(r, i + 1) is not None:
            fields, side = replace(fields, year=r.today.year, weekday=None), 0
        on = settled(fields, r.today, side, pointed=True)
        return Found(hit.end, on, hit.sure) if on else None
    return _holiday(r, i + 1, 0 if word in THIS else side)


DAYS = (read_named_day, read_pointed_weekday, read_pointed_date, holiday)
