"""The rules for weeks and parts of longer periods ("the week of the 18th", "late 2019"), and for spans
between two dates.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from amgs.text.intervals.calendar import (
    BY_TENSE,
    DayInterval,
    Days,
    Fields,
    Grain,
    Modality,
    around,
    complete_date,
    complete_range,
    shift_day,
    week_of_month,
    week_of_year,
)
from amgs.text.intervals.periods import read_counts
from amgs.text.intervals.reading import Found, Reading, Settled, interval

_EARLY = {"early", "earlier", "beginning", "start", "begin", "top"}
_MID = {"mid", "middle", "midst"}
_LATE = {"late", "later", "end", "ending", "tail"}


def _part(r: Reading, i: int) -> Found | None:
    """Read "early March", "mid-November", "the end of 2008", "later this week", "earlier in the year"."""
    j = r.skip(i, "the")
    word = r.at(j)
    if word not in _EARLY | _MID | _LATE:
        return None
    k = r.skip(j + 1, "-")
    k = r.skip(k, "of", "in", "on", "part", "to")
    k = r.skip(k, "of")
    whole = r.days("period", k)
    if whole is None and r.at(k) in ("week", "month", "quarter", "year"):  # end of month
        whole = Settled(k + 1, interval(around(r.today, r.at(k)), r.at(k), 0.8), True)
    if whole is None or whole.means.first is None or whole.means.last is None:
        return None
    days = whole.means.first, whole.means.last
    which = -1 if word in _EARLY else 1 if word in _LATE else 0
    if word.endswith("er") and days[0] <= r.today <= days[1]:  # earlier: until today; later: from today
        half = _cut(days, whole.means.grain, which, halves=True)
        part = (
            (half[0], min(half[1], max(r.today, half[0])))
            if which < 0
            else (max(half[0], min(r.today, half[1])), half[1])
        )
    else:
        part = _cut(days, whole.means.grain, which, halves=word in ("early", "late", "earlier", "later"))
    return Found(
        whole.end, interval(part, _finer(whole.means.grain), whole.means.confidence * 0.9, Modality.ABOUT), whole.sure
    )


def _finer(grain: Grain) -> str:
    return "month" if grain in (Grain.YEAR, Grain.HALF) else "year" if grain in (Grain.DECADE, Grain.CENTURY) else "day"


def _cut(days: Days, grain: Grain, which: int, *, halves: bool) -> Days:
    """Return the first (-1), middle (0) or last (1) part: halves of a week or month; of a year thirds unless halves."""
    first, last = days
    if grain is Grain.MONTH:
        return (
            (first, first.replace(day=15)),
            (first.replace(day=10), first.replace(day=20)),
            (first.replace(day=16), last),
        )[which + 1]
    if grain is Grain.WEEK:
        return (
            (first, first + timedelta(days=2)),
            (first + timedelta(days=2), first + timedelta(days=4)),
            (first + timedelta(days=3), last),
        )[which + 1]
    if grain is Grain.YEAR:
        months = 6 if halves and which else 4
        begin = {-1: first, 0: shift_day(first, 4, "month"), 1: shift_day(first, 12 - months, "month")}[which]
        return begin, shift_day(begin, months, "month") - timedelta(days=1)
    third = (last - first) // (2 if halves and which else 3)
    if which < 0:
        return first, first + third
    return (first + third, last - third) if which == 0 else (last - third, last)


def _week_of(r: Reading, i: int) -> Found | None:
    """Read "the week of the 18th", "week beginning Feb 4", "w/c Feb 4", "Labor Day weekend"."""
    j = r.skip(i, "the")
    if r.at(j) == "w" and r.at(j + 1) == "/" and r.at(j + 2) in ("c", "b", "e", "o"):
        unit, k = "week", j + 3
    elif r.at(j) in ("week", "weekend", "month"):
        unit = r.at(j)
        k = r.skip(j + 1, "of", "beginning", "commencing", "starting", "containing")
        if k == j + 1:
            return None
        k = r.skip(k, "on")
    else:
        return None
    day = r.days("point", k)
    if day is None or day.means.first is None:
        return None
    return Found(day.end, interval(_around_day(day.means.first, unit), unit, day.means.confidence * 0.95))


def _around_day(day: date, unit: str) -> Days:
    if unit == "weekend" and day.weekday() == 0:  # the long weekend that a Monday's holiday ends
        return day - timedelta(days=2), day
    return around(day, unit)


def _read_numbered_week(r: Reading, i: int) -> Found | None:
    """Read "week 31", "week 3 of 2027"."""
    j = r.skip(i, "the")
    number = r.number(j + 1) if r.at(j) == "week" else None
    if number is None or not 1 <= number[1] <= 53:
        return None
    k = r.skip(number[0], "of", "in", ",")
    year = r.year(k) if r.at(k).isdigit() else None
    days = week_of_year(year[1] if year else r.today.year, number[1])
    return Found(year[0] if year else number[0], interval(days, "week", 0.95 if year else 0.7), bool(year))


def _nth_week(r: Reading, i: int) -> Found | None:
    """Read "the last week of July", "3rd week of Jan", "the first weekend of August", "the first 2 weeks of 2021"."""
    j = r.skip(i, "the")
    ordinal = (j + 1, -1) if r.at(j) in ("last", "final") else r.ordinal(j)
    if ordinal is None:
        return None
    k, nth = ordinal
    count = r.count(k) if r.at(k) not in ("week", "weekend", "month", "days") else (k, None)
    if count is None:
        return None
    k, many = count
    unit = r.at(k).removesuffix("s")
    if (
        unit not in ("day", "week", "weekend", "month")
        or r.at(k + 1) not in ("of", "in")
        or (many and nth not in (1, -1))
    ):
        return None
    whole = r.days("period", k + 2)
    if whole is None or whole.means.first is None or whole.means.last is None:
        return None
    days = _nth(whole.means.first, whole.means.last, whole.means.grain, unit, nth)
    if many is not None and many.exact:
        away = many.low - 1
        if nth > 0:
            days = days[0], around(shift_day(days[0], away, unit), unit)[1]
        else:
            days = around(shift_day(days[0], -away, unit), unit)[0], days[1]
    return Found(whole.end, interval(days, unit, whole.means.confidence * 0.9), True)


def _nth(first: date, last: date, grain: Grain, unit: str, nth: int) -> Days:
    """Return the nth unit (day, week, weekend or month) of a period; the last for -1."""
    if unit == "day":
        return (last, last) if nth < 0 else (first, first)
    if unit == "month":
        on = around(last, "month")[0] if nth < 0 else shift_day(first, nth - 1, "month")
        return around(on, "month")
    if unit == "weekend":
        saturday = first + timedelta(days=(5 - first.weekday()) % 7 + 7 * (nth - 1))
        if nth < 0:
            saturday = last - timedelta(days=(last.weekday() - 5) % 7)
        return saturday, saturday + timedelta(days=1)
    if grain is Grain.MONTH:
        return week_of_month(first.year, first.month, nth)
    if nth < 0:
        return around(last, "week")
    thursday = first + timedelta(days=(3 - first.weekday()) % 7 + 7 * (nth - 1))
    return around(thursday, "week")


def _from_start(r: Reading, i: int) -> Found | None:
    """Read "3 days starting next Monday", "a week from tomorrow on", "for 1 week, from 20th Dec"."""
    j = r.skip(i, "for")
    duration = read_counts(r, j)
    if duration is None or not all(count.exact for count, _ in duration[1]):
        return None
    k = r.skip(duration[0], ",")
    behind = r.after(k, "starting from", "starting on", "beginning on", "starting", "beginning", "commencing")
    if behind is None and j > i:
        behind = r.after(k, "from", "since")
    day = r.days("point", behind) if behind is not None else None
    if day is None or day.means.first is None:
        return None
    end = day.means.first
    for count, unit in duration[1]:
        end = shift_day(end, count.low, unit)
    return Found(
        day.end,
        DayInterval(day.means.first, end - timedelta(days=1), Grain.DAY, Modality.ON, day.means.confidence),
        day.sure,
    )


PARTS = (_part, _week_of, _read_numbered_week, _nth_week, _from_start)


_TO = {"to", "until", "till", "til", "through", "thru", "-", "–", "—", "~"}


def _range(r: Reading, i: int) -> Found | None:
    """Read "from A to B", "between A and B", "A - B", "9 to 12 June", "May 5-7", "from March to date"."""
    between = r.at(i) == "between"
    j = i + 1 if between or r.at(i) in ("from", "on", "during", "starting") else i
    j = r.skip(j, "in", "on", "the") if r.at(j) in ("in", "on") else j
    spans = [span for first in _ends(r, j) if (span := _from(r, first, between=between, led=j > i)) is not None]
    return max(spans, key=lambda span: span.end, default=None)


def _from(r: Reading, first: Found, *, between: bool, led: bool) -> Found | None:
    """Read the rest of a range that begins with `first`. led: a word such as "from" precedes it."""
    k = r.skip(first.end, ",")
    if r.at(k) not in _TO | ({"and"} if between else set()):
        return None
    dash = not r.at(k).isalpha()
    lasts = _ends(r, k + 1, behind=True)
    if not lasts and r.at(k + 1) in ("in", "on", "the"):
        lasts = _ends(r, k + 2, behind=True)
    if not lasts:
        return None
    last = max(lasts, key=lambda candidate: candidate.end)
    bare = _bare(first) and _bare(last)
    if _bare(first) and not (isinstance(last.means, Fields) and last.means.day is not None):
        return None  # 23 - 2020
    if bare and not (first.sure and last.sure):
        return None  # two numbers
    means = _between(r, first.means, last.means)
    if means is None:
        return None
    listed = (_day_of(first) and _bare(last)) or (_bare(first) and _day_of(last))
    is_clear = listed and (dash or between or led or _day_of(first))
    return Found(last.end, means, is_clear or (first.sure and last.sure and not bare))


def _bare(end: Found) -> bool:
    """Return whether an end is only the number of a day."""
    return isinstance(end.means, Fields) and end.means == Fields(end.means.year, day=end.means.day)


def _day_of(end: Found) -> bool:
    return isinstance(end.means, Fields) and end.means.day is not None and end.means.month is not None and end.sure


def _ends(r: Reading, i: int, *, behind: bool = False) -> list[Found]:
    """Return what an end of a range may be: a date, a period, today, or a bare day of the month (sure as ordinal)."""
    now = r.after(i, "date", "now", "present", "today") if behind else r.after(i, "now", "today")
    if now is not None:
        return [Found(now, DayInterval(r.today, r.today, Grain.DAY, Modality.ON, 0.95), True)]
    ordinal = r.ordinal(r.skip(i, "the"))
    number = ordinal or r.number(i)
    ends: list[Found] = []
    if number is not None and 1 <= number[1] <= 31:
        year = r.year(number[0] + 1) if behind and r.at(number[0]) == "," and r.at(number[0] + 1).isdigit() else None
        bare = Fields(year[1] if year else None, day=number[1])
        ends.append(Found(year[0] if year else number[0], bare, ordinal is not None))
    dated = [candidate for candidate in (r.parse("point", i), r.parse("period", i)) if candidate is not None]
    longest = max(dated, key=lambda candidate: candidate.end, default=None)
    if longest is not None and (not ends or longest.end > ends[0].end):
        ends.append(longest)
    return ends


def _between(r: Reading, first: Fields | DayInterval, last: Fields | DayInterval) -> DayInterval | None:
    if isinstance(first, Fields) and isinstance(last, Fields):
        first, last = complete_range(first, last)
    near = _span(r, first, last, 0)
    if near is not None and (_holds(near, r.today) or not r.side):
        return near
    return _span(r, first, last, r.side or -1)


def _span(r: Reading, first: Fields | DayInterval, last: Fields | DayInterval, side: int) -> DayInterval | None:
    """Return the days from the beginning of a date to the end of another; None where the second is earlier."""
    begin = complete_date(first, r.today, side) if isinstance(first, Fields) else first
    if begin is None or begin.first is None:
        return None
    end = complete_date(last, r.today, after=begin.first) if isinstance(last, Fields) else last
    if end is None or end.last is None:
        return None
    if end.last < begin.first and begin.confidence < BY_TENSE and begin.last is not None:  # its year was only a guess
        begin = replace(begin, first=shift_day(begin.first, -1, "year"), last=shift_day(begin.last, -1, "year"))
    if begin.first is None or end.last < begin.first:
        return None
    return DayInterval(begin.first, end.last, end.grain, Modality.ON, min(begin.confidence, end.confidence))


def _holds(span: DayInterval, day: date) -> bool:
    """Return whether a span is under way: then neither tense tells it from the date a year off."""
    return span.first is not None and span.last is not None and span.first <= day <= span.last


RANGES = (_range,)
