"""The rules for single days: dates written by their parts ("16 May", "Friday the 26th"), and days by name:
weekdays, holidays, today and its neighbours, the nth day of a period.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta

from amgs.text.intervals.calendar import BY_TENSE, HOLIDAYS, NEAREST, Fields, complete_date, near_century, stem
from amgs.text.intervals.reading import (
    DATES,
    LAST,
    MONTHS,
    NEXT,
    SHORT_WEEKDAYS,
    THIS,
    WEEKDAYS,
    Found,
    Reading,
    interval,
)

_SEPARATORS = ("-", "/", ".")
_BEHIND_A_DAY = {
    "after",
    "and",
    "at",
    "before",
    "but",
    "for",
    "from",
    "in",
    "or",
    "so",
    "to",
    "when",
    "with",
    "we",
    "i",
}


def date_fields(r: Reading, i: int) -> Found | None:
    """Return a date by its parts, a year or a weekday or a day of the month left out or not."""
    weekday = weekday_at(r, i)
    j = i if weekday is None else r.skip(r.skip(weekday[0], ","), "the")
    best: Found | None = None
    for rule in (_numeric, _month_first, _day_first, _day_of_month):
        candidate = rule(r, j)
        if candidate is not None and (best is None or candidate.end > best.end):
            best = candidate
    if weekday is None:
        return best
    if best is None:
        ordinary = r.at(i) in WEEKDAYS
        return Found(weekday[0], Fields(weekday=weekday[1]), ordinary)
    assert isinstance(best.means, Fields)
    return best._replace(means=replace(best.means, weekday=weekday[1]), sure=True)


def weekday_at(r: Reading, i: int) -> tuple[int, int] | None:
    word = r.at(i)
    if word in WEEKDAYS:
        return i + 1, WEEKDAYS[word]
    return (r.skip(i + 1, "."), SHORT_WEEKDAYS[word]) if word in SHORT_WEEKDAYS else None


def _numeric(r: Reading, i: int) -> Found | None:
    """2019-05-16, 16.5.2019, 5/16/19, 5/16, 20190516, 2019/aug/01, 23-2020-September."""
    if not r.at(i).isdigit():
        return None
    if len(r.at(i)) == 8:
        word = r.at(i)
        return _full(i + 1, int(word[:4]), int(word[4:6]), int(word[6:]))
    parts, j, sep = [r.at(i)], i + 1, r.at(i + 1)
    spaced = len(r.at(i)) == 4 and sep.isdigit()  # 2016 10 16
    if spaced:
        if r.at(i + 2).isdigit() and len(sep) == 2 and len(r.at(i + 2)) == 2:
            return _full(i + 3, int(r.at(i)), int(sep), int(r.at(i + 2)))
        return None
    if sep not in _SEPARATORS or not r.is_glued(j):
        return None
    while len(parts) < 3 and r.at(j) == sep and r.is_glued(j + 1) and (r.at(j + 1).isdigit() or r.month(j + 1)):
        parts.append(r.at(j + 1))
        j += 2
    hit = _from_parts(r, j, parts, sep)
    if hit is not None and isinstance(hit.means, Fields) and hit.means.year is None and r.at(hit.end) == ",":
        year = r.year(hit.end + 1) if len(r.at(hit.end + 1)) == 4 else None  # 5/7, 2020
        if year is not None:
            return Found(year[0], replace(hit.means, year=year[1]))
    return hit


def _from_parts(r: Reading, end: int, parts: list[str], sep: str) -> Found | None:
    """Read a date of two or three numbers or month names joined by a sign: "2018-03-04", "4/3/18", "Mar-18"."""
    named = [k for k, part in enumerate(parts) if not part.isdigit()]
    if len(named) > 1 or any(len(part) not in (1, 2, 4) for part in parts if part.isdigit()):
        return None
    long = [k for k, part in enumerate(parts) if len(part) == 4 and part.isdigit()]
    numbers = [int(part) if part.isdigit() else MONTHS[part] for part in parts]
    if len(parts) == 2:
        return _two_parts(end, numbers, named, long, sep)
    if len(parts) != 3:
        return None
    if named:
        year_at = long[0] if long else 2
        if year_at == named[0]:
            return None
        day_at = ({0, 1, 2} - {year_at, named[0]}).pop()
        return _full(end, _near_year(r, parts[year_at]), numbers[named[0]], numbers[day_at])
    if long == [0]:
        return _full(end, *numbers) or _full(end, numbers[0], numbers[2], numbers[1])
    if long not in ([], [2]):
        return None
    year = _near_year(r, parts[2])
    european = _full(end, year, numbers[1], numbers[0])
    american = _full(end, year, numbers[0], numbers[1])
    first, second = (european, american) if sep == "." else (american, european)
    hit = first or second
    return hit._replace(sure=hit.sure and len(parts[0]) <= 2) if hit else None


def _two_parts(end: int, numbers: list[int], named: list[int], long: list[int], sep: str) -> Found | None:
    """Read a date of two parts: day and month, or month and year."""
    if named:
        month, other = numbers[named[0]], 1 - named[0]
        if long:
            return Found(end, Fields(numbers[other], month))
        return _check_fields(end, Fields(month=month, day=numbers[other]))
    if long:
        year, month = (numbers[0], numbers[1]) if long[0] == 0 else (numbers[1], numbers[0])
        return Found(end, Fields(year, month), sep != ".") if 1 <= month <= 12 and year >= 1500 else None
    first = _check_fields(end, Fields(month=numbers[0], day=numbers[1]))
    hit = first or _check_fields(end, Fields(month=numbers[1], day=numbers[0]))
    return hit._replace(sure=False) if hit else None


def _near_year(r: Reading, written: str) -> int:
    return int(written) if len(written) > 2 else near_century(int(written), r.today.year)


def _full(end: int, year: int, month: int, day: int) -> Found | None:
    return _check_fields(end, Fields(year, month, day)) if 1000 <= year <= 2999 else None


def _check_fields(end: int, fields: Fields, *, sure: bool = True) -> Found | None:
    try:
        date(fields.year or 2000, fields.month or 1, fields.day or 1)
    except ValueError:
        return None
    return Found(end, fields, sure)


def _month_first(r: Reading, i: int) -> Found | None:
    """May 16[th][, 2025], May the 16th, may twenty nine, Dec31, Oct/2, September-2020-23."""
    month = r.month(i)
    if month is None:
        return None
    j = month[0]
    if r.at(j) in _SEPARATORS and r.is_glued(j) and r.is_glued(j + 1) and r.at(j + 1).isdigit():
        sep = r.at(j)
        parts = [r.at(i), r.at(j + 1)]
        end = j + 2
        if r.at(end) == sep and r.is_glued(end) and r.at(end + 1).isdigit() and r.is_glued(end + 1):
            hit = _from_parts(r, end + 2, [*parts, r.at(end + 1)], sep)
            if hit is not None:
                return hit
        return _from_parts(r, end, parts, sep)
    j = r.skip(j, "the", ",")
    day = r.ordinal(j) or _small(r, j)
    if day is None:
        return None
    return _with_year(r, day[0], month[1], day[1])


def _day_first(r: Reading, i: int) -> Found | None:
    """16 May[ 2025], the 16th of May, twenty five January, the third day of April."""
    j = r.skip(i, "the")
    day = r.ordinal(j) or _small(r, j)
    if day is None:
        return None
    j = r.skip(day[0], "day", "-", "/", ".")
    j = r.skip(j, "of", ",")
    month = r.month(j)
    return _with_year(r, month[0], month[1], day[1]) if month else None


def _small(r: Reading, i: int) -> tuple[int, int] | None:
    number = r.number(i)
    return number if number and 1 <= number[1] <= 31 and len(r.at(i)) != 4 else _words_only(r, i, number)


def _words_only(r: Reading, i: int, number: tuple[int, int] | None) -> tuple[int, int] | None:
    return number if number and 1 <= number[1] <= 31 and not r.at(i).isdigit() else None


def _with_year(r: Reading, end: int, month: int, day: int) -> Found | None:
    """Read the rest of a date that begins with a month and day: its year, if any."""
    after_clock = _clock(r, end)
    for j in (end, after_clock):
        k = r.skip(j, ",", "-", "/", ".")
        k = r.skip(k, "of", "in")
        year = r.year(k) or _short_year(r, k, joined=k > j and r.at(k - 1) == "of")
        if year is not None and (k > j or r.at(j).isdigit() or year[1] >= 1500):
            return _check_fields(year[0], Fields(year[1], month, day))
    return _check_fields(end, Fields(month=month, day=day))


def _short_year(r: Reading, i: int, *, joined: bool) -> tuple[int, int] | None:
    """'87, or 87 behind "of"."""
    quoted = r.at(i) in ("'", "’") and r.is_glued(i + 1)
    word = r.at(i + quoted)
    if (quoted or joined) and len(word) == 2 and word.isdigit():
        return i + quoted + 1, _near_year(r, word)
    return None


def _clock(r: Reading, i: int) -> int:
    """Return the place behind a time of day, or i."""
    if not (r.at(i).isdigit() and r.at(i + 1) == ":" and r.at(i + 2).isdigit()):
        return i
    j = i + 3
    if r.at(j) == ":" and r.at(j + 1).isdigit():
        j += 2
    return r.skip(j, "am", "pm")


def _day_of_month(r: Reading, i: int) -> Found | None:
    """Return the 18th; behind a weekday also 31 or "the eleventh"."""
    j = r.skip(i, "the")
    day = r.ordinal(j)
    if day is None and weekday_at(r, i - 1) is not None and r.at(i).isdigit():
        number = r.number(i)
        clock = number is not None and r.at(number[0]) in (":", "-", "am", "pm", "a", "p", ".", "o")
        day = None if clock else number
    if day is None or not 1 <= day[1] <= 31 or r.at(day[0]) == "day":
        return None
    has_cue = r.at(j).isdigit() and r.at(i - 1) in ("on", "by", "until", "till", "since", "before")
    free = not r.at(day[0]).isalpha() or r.at(day[0]) in _BEHIND_A_DAY
    return Found(day[0], Fields(day=day[1]), has_cue and j > i and free)


_BEGINNINGS = {words[0] for words in HOLIDAYS}
NAMED_DAYS: Mapping[str, int] = DATES["named"]
_TOLD_DAYS: Mapping[str, int] = DATES["told"]
"""Words that mean a day only where the context expects a day."""


def holiday(r: Reading, i: int) -> Found | None:
    """Read a holiday, of a certain year if stated: "Christmas 2019"."""
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
    before_last = r.after(weekday[0], "before last")
    if before_last is not None:
        on = r.today - timedelta(days=(r.today.weekday() - weekday[1]) % 7 or 7, weeks=1)
        return Found(before_last, interval((on, on), "day", 0.85))
    k = r.skip(r.skip(weekday[0], ",", "of", "in"), "the")
    if r.at(k) in LAST | NEXT | THIS and r.at(k + 1) == "week":
        return _weekday_by(r, (k + 2, weekday[1]), r.at(k), of_week=True)
    return None


def _weekday_by(r: Reading, weekday: tuple[int, int], word: str, *, of_week: bool) -> Found:
    """Return the weekday that a word such as "last" selects.

    "Last": the nearest before today. "Next": that of the coming week, since the nearer day is "this". "Coming": the
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
        on = complete_date(fields, r.today, side, pointed=True)
        return Found(hit.end, on, hit.sure) if on else None
    return _holiday(r, i + 1, 0 if word in THIS else side)


DAYS = (read_named_day, read_pointed_weekday, read_pointed_date, holiday)
