"""The rules for spans between two dates."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from amgs.text.intervals.calendar import shifted
from amgs.text.intervals.fields import BY_TENSE, Fields, joined, settled
from amgs.text.intervals.interval import DayInterval, Grain, Modality
from amgs.text.intervals.reading import Found, Reading

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
    """Return what one end of a range may be: a date or period, today, or a bare day of the month (sure as an
    ordinal).
    """
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
        first, last = joined(first, last)
    near = _span(r, first, last, 0)
    if near is not None and (_holds(near, r.today) or not r.side):
        return near
    return _span(r, first, last, r.side or -1)


def _span(r: Reading, first: Fields | DayInterval, last: Fields | DayInterval, side: int) -> DayInterval | None:
    """Return the days from the beginning of one date to the end of another; None where the second is earlier."""
    begin = settled(first, r.today, side) if isinstance(first, Fields) else first
    if begin is None or begin.first is None:
        return None
    end = settled(last, r.today, after=begin.first) if isinstance(last, Fields) else last
    if end is None or end.last is None:
        return None
    if end.last < begin.first and begin.confidence < BY_TENSE and begin.last is not None:  # its year was only a guess
        begin = replace(begin, first=shifted(begin.first, -1, "year"), last=shifted(begin.last, -1, "year"))
    if begin.first is None or end.last < begin.first:
        return None
    return DayInterval(begin.first, end.last, end.grain, Modality.ON, min(begin.confidence, end.confidence))


def _holds(span: DayInterval, day: date) -> bool:
    """Return whether a span is under way: then neither tense tells it from the one a year off."""
    return span.first is not None and span.last is not None and span.first <= day <= span.last


RANGES = (_range,)
