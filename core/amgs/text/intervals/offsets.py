"""Rules for days given by their distance: "two weeks ago", "in 3 days", "a week from Friday", "two weekends ago"."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from amgs.text.intervals.calendar import around, shifted
from amgs.text.intervals.interval import DayInterval, Grain, Modality
from amgs.text.intervals.reading import Count, Found, Reading, interval
from amgs.text.intervals.vocabulary import SEASONS, UNITS

_BACK, _AHEAD = -1, 1
_TO_TODAY = {
    "ago": _BACK,
    "back": _BACK,
    "earlier": _BACK,
    "later": _AHEAD,
    "hence": _AHEAD,
    "from now": _AHEAD,
    "from today": _AHEAD,
    "from tonight": _AHEAD,
}
_TO_A_DAY = {"before": _BACK, "prior to": _BACK, "after": _AHEAD, "from": _AHEAD, "since": _AHEAD, "following": _AHEAD}
_GRAINS = {"fortnight": Grain.WEEK, "workday": Grain.DAY}
_ROUGH = 0.8
"""Confidence of a count of units: "two months ago" is seldom meant to the day."""


def counted(r: Reading, i: int) -> tuple[int, list[tuple[Count, str]]] | None:
    """Return (end, counts with their units) of "2 weeks and 3 days", "half a year", "a month and a half"."""
    if r.at(i) == "half":
        j = r.skip(i + 1, "a", "an", "-")
        half = {"year": (6, "month"), "yr": (6, "month"), "decade": (5, "year"), "century": (50, "year")}.get(r.at(j))
        return (j + 1, [(Count(half[0], half[0]), half[1])]) if half else None
    counts: list[tuple[Count, str]] = []
    j = i
    while len(counts) < 4:
        count = r.count(r.skip(j, "and", ",") if counts else j)
        if count is None:
            break
        k = r.skip(count[0], "more", "-")
        if r.at(k) in ("business", "working", "work", "trading") and r.at(k + 1) in ("day", "days"):
            counts.append((count[1], "workday"))
            j = k + 2
        elif r.at(k) in UNITS:
            counts.append((count[1], UNITS[r.at(k)]))
            j = k + 1
        else:
            break
    return (j, counts) if counts else None


def _move_day(day: date, counts: list[tuple[Count, str]], sign: int) -> DayInterval:
    """Return the day at that distance; for an inexact count, all days it may be, marked as vague."""
    near = far = day
    for count, unit in counts:
        near, far = shifted(near, sign * count.low, unit), shifted(far, sign * count.high, unit)
    unit = counts[-1][1]
    grain = _GRAINS.get(unit) or Grain("day" if unit == "workweek" else unit)
    if all(count.exact for count, _ in counts):
        return DayInterval(near, near, grain, Modality.ON, _ROUGH if grain is not Grain.DAY else 0.95)
    return DayInterval(min(near, far), max(near, far), grain, Modality.VAGUE, 0.6)


def _read_offset_ago(r: Reading, i: int) -> Found | None:
    """Read "two weeks ago", "3 days earlier", "a year from now"."""
    duration = counted(r, r.skip(i, "about", "around", "some", "almost", "nearly", "over", "just"))
    if duration is None:
        return None
    for phrase, sign in _TO_TODAY.items():
        end = r.after(duration[0], phrase)
        if end is None:
            continue
        if len(duration[1]) == 1 and duration[1][0][1] == "weekend":
            return _weekends(r, end, duration[1][0][0], sign)
        back = phrase == "back" and r.at(end) in ("to", "in", "at", "from", "home")
        return None if back else Found(end, _move_day(r.today, duration[1], sign), phrase not in ("earlier", "later"))
    return None


def _weekends(r: Reading, end: int, count: Count, sign: int) -> Found:
    near, far = (around(shifted(r.today, sign * n, "week"), "weekend") for n in (count.low, count.high))
    days = min(near[0], far[0]), max(near[1], far[1])
    return Found(end, interval(days, "weekend", 0.85, Modality.ON if count.exact else Modality.VAGUE))


def _read_offset_ahead(r: Reading, i: int) -> Found | None:
    """Read "in two weeks", "in a year's time", "in 3 days on Friday"."""
    j = r.after(i, "in another", "in about", "in just", "in around", "in")
    duration = counted(r, j) if j is not None else None
    if duration is None:
        return None
    end = duration[0]
    k = r.skip(end, "'", "’", "'s", "’s")
    if r.at(k) == "time":
        end = k + 1
    elif r.at(end) in ("of", "or", "since", "after", "before", "from"):
        return None
    few = len(duration[1]) == 1 and duration[1][0][1] == "day" and r.at(duration[0] - 1).startswith("night")
    return None if few else Found(end, _move_day(r.today, duration[1], _AHEAD), r.side >= 0)


def _from_a_day(r: Reading, i: int) -> Found | None:
    """Read "two days before yesterday", "2 weeks from January 15", "a week on Friday", "two months from today"."""
    j = r.skip(i, "in") if r.at(i) == "in" else i
    is_single = r.at(j) == "the" and r.at(j + 1) in ("day", "week", "month", "year")
    duration = (j + 2, [(Count(1, 1), UNITS[r.at(j + 1)])]) if is_single else counted(r, j)
    if duration is None:
        return None
    unit = duration[1][0][1]
    for phrase, sign in _TO_A_DAY.items():
        k = r.after(duration[0], phrase)
        if k is None or (is_single and phrase not in ("before", "after", "following")):
            continue
        day = r.days("point", k) or r.days("point", r.skip(k, "the")) or r.days("period", k)
        if day is None or day.means.first is None or day.means.last is None:
            continue
        sure = day.means.confidence
        if is_single and unit != "day":
            beside = around(shifted(day.means.first if sign < 0 else day.means.last, sign, unit), unit)
            return Found(day.end, interval(beside, unit, sure * _ROUGH), day.sure)
        moved = _move_day(day.means.first, duration[1], sign)
        return Found(day.end, replace(moved, confidence=min(moved.confidence, sure)), day.sure)
    return None


def season_near(today: date, word: str, step: int) -> tuple[date, date]:
    """Return a season: the one that includes today or else the nearest (step 0), or the nth wholly before or after."""
    starts = [
        date(year, SEASONS[word], 1) for year in range(max(today.year - 1 - abs(step), 1), today.year + 2 + abs(step))
    ]
    spans = [around(start, "season") for start in starts]
    if step == 0:
        return min(spans, key=lambda s: 0 if s[0] <= today <= s[1] else min(abs(s[0] - today), abs(today - s[1])).days)
    if step < 0:
        return [s for s in spans if s[1] < today][step]
    return [s for s in spans if s[0] > today][step - 1]


OFFSETS = (_read_offset_ago, _read_offset_ahead, _from_a_day)
