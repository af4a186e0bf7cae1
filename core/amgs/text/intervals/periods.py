"""The rules for months, years, quarters, decades and seasons by name, for units pointed to ("last week"), and for days
stated by their distance ("two weeks ago", "a week from Friday").
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from amgs.text.intervals.calendar import DayInterval, Days, Fields, Grain, Modality, around, near_century, shift_day
from amgs.text.intervals.reading import DECADES, LAST, NEXT, SEASONS, THIS, UNITS, Count, Found, Reading, interval

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


def read_counts(r: Reading, i: int) -> tuple[int, list[tuple[Count, str]]] | None:
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
        near, far = shift_day(near, sign * count.low, unit), shift_day(far, sign * count.high, unit)
    unit = counts[-1][1]
    grain = _GRAINS.get(unit) or Grain("day" if unit == "workweek" else unit)
    if all(count.exact for count, _ in counts):
        return DayInterval(near, near, grain, Modality.ON, _ROUGH if grain is not Grain.DAY else 0.95)
    return DayInterval(min(near, far), max(near, far), grain, Modality.VAGUE, 0.6)


def _read_offset_ago(r: Reading, i: int) -> Found | None:
    """Read "two weeks ago", "3 days earlier", "a year from now"."""
    duration = read_counts(r, r.skip(i, "about", "around", "some", "almost", "nearly", "over", "just"))
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
    near, far = (around(shift_day(r.today, sign * n, "week"), "weekend") for n in (count.low, count.high))
    days = min(near[0], far[0]), max(near[1], far[1])
    return Found(end, interval(days, "weekend", 0.85, Modality.ON if count.exact else Modality.VAGUE))


def _read_offset_ahead(r: Reading, i: int) -> Found | None:
    """Read "in two weeks", "in a year's time", "in 3 days on Friday"."""
    j = r.after(i, "in another", "in about", "in just", "in around", "in")
    duration = read_counts(r, j) if j is not None else None
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
    duration = (j + 2, [(Count(1, 1), UNITS[r.at(j + 1)])]) if is_single else read_counts(r, j)
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
            beside = around(shift_day(day.means.first if sign < 0 else day.means.last, sign, unit), unit)
            return Found(day.end, interval(beside, unit, sure * _ROUGH), day.sure)
        moved = _move_day(day.means.first, duration[1], sign)
        return Found(day.end, replace(moved, confidence=min(moved.confidence, sure)), day.sure)
    return None


def season_near(today: date, word: str, step: int) -> tuple[date, date]:
    """Return a season: the one that includes today, else the nearest (step 0), or the nth wholly before or after."""
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


_BEFORE_A_PERIOD = {
    *("in", "since", "until", "till", "by", "of", "from", "during", "throughout", "before", "after", "around"),
    *("early", "mid", "late", "between", "to", "through", "year", "about", "circa", "and", "-"),
}
_AMBIGUOUS_MONTHS = {"may", "march", "mar", "jan", "dec", "sep", "oct", "jun", "jul", "apr", "feb", "aug", "nov"}


def _year_behind(r: Reading, i: int) -> tuple[int, int] | None:
    """Return (end, year) of ", 2018", "of 2018", "-2018", "of 87", "'87"."""
    j = r.skip(r.skip(i, ",", "-", "/"), "of", "in")
    j = r.skip(j, "the") if r.after(j, "the year") else j
    j = r.skip(j, "year")
    year = r.year(j)
    if year is not None and 1000 <= year[1] <= 2999:
        return year
    quoted = r.at(j) in ("'", "’")
    word = r.at(j + quoted)
    short = len(word) == 2 and word.isdigit() and (quoted or r.at(j - 1) == "of")
    return (j + quoted + 1, near_century(int(word), r.today.year)) if short else None


def _of_year(r: Reading, i: int) -> tuple[int, int, float] | None:
    """Return (end, year, confidence): as written, or "of last year", "of the year", "next year", "this year"."""
    year = _year_behind(r, i)
    if year is not None:
        return *year, 1.0
    j = r.skip(r.skip(i, ","), "of", "in", "from")
    own = r.at(j) == "the" and r.at(j + 1) == "year"
    if own or (r.at(j) in LAST | NEXT | THIS and r.at(j + 1) == "year"):
        step = 0 if own else _step(r.at(j))
        return j + 2, r.today.year + step, 0.9
    return None


def _month(r: Reading, i: int) -> Found | None:
    """Read "March", "March 2019", "June of next year"."""
    month = r.month(i)
    if month is None:
        return None
    year = _of_year(r, month[0])
    if year is not None:
        return Found(year[0], Fields(year[1], month[1], confidence=year[2]))
    word, has_cue = r.at(i), r.at(i - 1) in _BEFORE_A_PERIOD
    sure = r.raw[i][0].isupper() and (has_cue or word not in _AMBIGUOUS_MONTHS)
    return Found(month[0], Fields(month=month[1]), sure)


def _year(r: Reading, i: int) -> Found | None:
    """Read "2008", "the year 2008", "calendar year 2008", "cy18"."""
    j = r.skip(i, "the", "calendar")
    if r.at(j) == "cy" and len(r.at(j + 1)) == 2 and r.at(j + 1).isdigit():
        return Found(j + 2, Fields(near_century(int(r.at(j + 1)), r.today.year)))
    named = r.at(j) in ("year", "cy")
    j = r.skip(j + named, "of") if named else i
    year = r.year(j)
    if year is None:
        return None
    alone = not r.at(j).isdigit() or not 1500 <= year[1] <= 2199
    money = (
        r.at(j - 1) in ("$", "#", "£", "€", ".", "(")
        or r.at(year[0]) in ("%", "%)")
        or (r.is_glued(year[0]) and r.at(year[0]) not in ".,;:!?)'-’–\"/~")
    )
    has_cue = (r.at(j - 1) in _BEFORE_A_PERIOD and not r.at(year[0]).isalpha()) or r.at(j - 1) in (
        "in",
        "since",
        "year",
    )
    return Found(year[0], Fields(year[1], confidence=0.9), named or (has_cue and not alone and not money))


def _decade(r: Reading, i: int) -> Found | None:
    """Read "the 1990s", "the 90s", "the nineties", "the 18th century"."""
    j = r.skip(i, "the")
    tens = DECADES.get(r.at(j))
    if tens is not None:
        begin = _latest(tens, r.today.year)
        return Found(j + 1, interval(around(date(begin, 1, 1), "decade"), "decade", 0.8), j > i)
    plural = r.at(j + 1) in ("s", "'s", "’s") and r.is_glued(j + 1)
    if plural and r.at(j).isdigit() and len(r.at(j)) in (2, 4) and int(r.at(j)) % 10 == 0:
        begin = int(r.at(j)) if len(r.at(j)) == 4 else _latest(int(r.at(j)), r.today.year)
        return Found(j + 2, interval(around(date(begin, 1, 1), "decade"), "decade", 0.95), j > i or begin > 999)
    ordinal = r.ordinal(j)
    if ordinal is not None and r.at(r.skip(ordinal[0], "-")) in ("century", "centuries") and ordinal[1] > 1:
        first = date(100 * (ordinal[1] - 1), 1, 1)
        return Found(r.skip(ordinal[0], "-") + 1, interval(around(first, "century"), "century", 0.95))
    return None


def _latest(two_digits: int, year: int) -> int:
    """Return the last year up to this year that ends with these digits: in 2026 the thirties are the 1930s."""
    return year - (year - two_digits) % 100


def _quarter(r: Reading, i: int) -> Found | None:
    """Read "Q1 2019", "2019-Q1", "the third quarter of last year", "H2", "the first half of 2020"."""
    year = r.year(i) if r.at(i).isdigit() else None
    j = r.skip(r.skip(year[0], "-", "/"), "'s", "’s") if year else r.skip(i, "the")
    if r.at(j) in ("q", "h") and r.is_glued(j + 1) and r.at(j + 1).isdigit():
        unit, nth, end = {"q": "quarter", "h": "half"}[r.at(j)], int(r.at(j + 1)), j + 2
    else:
        ordinal = r.ordinal(j) or ((j + 1, -1) if r.at(j) in ("last", "final") else None)
        if ordinal is None:
            return None
        k = r.skip(ordinal[0], "-")
        if r.at(k) not in ("quarter", "half") or (r.at(k) == "half" and ordinal[1] < 0):
            return None
        unit, nth, end = r.at(k), ordinal[1], k + 1
    parts = 4 if unit == "quarter" else 2
    year_part = (end, year[1], 1.0) if year else _of_year(r, end)
    if nth < 0:
        if year_part is None:
            return None  # "the last quarter" is the previous quarter
        nth = parts
    if not 1 <= nth <= parts:
        return None
    months = 12 // parts
    if year_part is not None:
        first = date(year_part[1], 1 + months * (nth - 1), 1)
        return Found(year_part[0], interval(around(first, unit), unit, year_part[2]))
    near = [date(y, 1 + months * (nth - 1), 1) for y in range(r.today.year - 1, r.today.year + 2)]
    spans = [around(first, unit) for first in near]
    days = min(spans, key=lambda s: _away(s, r.today, r.side))
    return Found(end, interval(days, unit, 0.7), unit == "quarter")


def _away(days: Days, today: date, side: int) -> tuple[bool, int]:
    if days[0] <= today <= days[1]:
        return side < 0, 0
    away = (days[0] - today).days if days[0] > today else (today - days[1]).days
    return side != 0 and (days[0] > today) != (side > 0), away


def _season(r: Reading, i: int) -> Found | None:
    """Read "last summer", "this winter", "summer 2010", "the spring of 2019"."""
    j = r.skip(i, "the")
    point = r.at(j) if r.at(j) in LAST | NEXT | THIS else ""
    j += bool(point)
    word = r.at(j)
    if word not in SEASONS:
        return None
    year = _of_year(r, j + 1)
    if year is not None and not point:
        first = date(year[1], SEASONS[word], 1)
        return Found(year[0], interval(around(first, "season"), "season", 0.8 * year[2]))
    days = season_near(r.today, word, _step(point) if point else r.side)
    if point in THIS:
        begin = date(r.today.year, SEASONS[word], 1)
        days = season_near(r.today, word, 0) if word == "winter" else around(begin, "season")
    return Found(j + 1, interval(days, "season", 0.75 if point else 0.4), bool(point))


def _step(word: str) -> int:
    return -1 if word in LAST else 1 if word in NEXT else 0


def _unit(r: Reading, i: int) -> Found | None:
    """Read "last week", "this month", "the coming quarter", "next year", "the weekend", "the following decade"."""
    j = r.skip(i, "the", "that")
    point = r.at(j) if r.at(j) in LAST | NEXT | THIS else ""
    strictly = point in THIS and r.at(j + 1) in NEXT | LAST
    k = j + bool(point) + strictly
    k = r.skip(k, "calendar", "working", "work")
    unit = UNITS.get(r.at(k))
    that = r.at(j - 1) == "that" and j > i
    if unit == "week" and r.at(k - 1) in ("working", "work"):
        unit = "workweek"
    bare = not point
    if unit is None or r.at(k).endswith("s") or (bare and j == i and unit != "weekend"):
        return None
    if unit == "day" and (bare or point in ("last", "past", "present")):
        return None
    return _whole(r, k + 1, unit, _step(r.at(j + 1) if strictly else point), bare=bare and not that)


def _whole(r: Reading, end: int, unit: str, step: int, *, bare: bool) -> Found:
    """Return the unit (week, month, …) `step` units from the current one. bare: no word such as "last" selects it."""
    grain = {"workweek": "week", "fortnight": "week"}.get(unit, unit)
    if unit == "weekend" and bare:
        step = -1 if r.side < 0 and r.today.weekday() < 5 else 0
    if unit == "fortnight":
        monday = around(r.today, "week")[0]
        first = shift_day(monday, min(step, 0) * 2, "week") if step <= 0 else shift_day(monday, 1, "week")
        days = first, shift_day(first, 2, "week") - timedelta(days=1)
    else:
        days = around(shift_day(around(r.today, unit)[0], step, unit), unit)
    sure = 0.5 if bare else 0.9 if unit != "season" else 0.6
    return Found(end, interval(days, grain, sure), not bare or unit == "weekend")


def _units(r: Reading, i: int) -> Found | None:
    """Read "the last 3 months", "the next couple weeks", "2 upcoming months", "within two weeks"."""
    j = r.skip(r.skip(i, "over", "within"), "the")
    if r.at(j) in LAST | NEXT:
        point = r.at(j)
        count = r.count(j + 1)
        if count is None:
            return None
        k = count[0]
    else:
        count = r.count(j)
        if count is None or r.at(count[0]) not in LAST | NEXT:
            return None
        point, k = r.at(count[0]), count[0] + 1
    unit = UNITS.get(r.at(k))
    if unit is None:
        return None
    return Found(k + 1, run(r.today, count[1].high, unit, _step(point), exact=count[1].exact))


def run(today: date, count: int, unit: str, step: int, *, exact: bool = True) -> DayInterval:
    """Return so many units before or after today; quarters, decades and weekends are those of the calendar."""
    grain = {"fortnight": "week", "workweek": "week", "workday": "day"}.get(unit, unit)
    modality, sure = (Modality.ON, 0.85) if exact else (Modality.VAGUE, 0.6)
    if unit in ("quarter", "decade", "weekend", "century"):
        near = around(shift_day(around(today, unit)[0], step, unit), unit)
        far = around(shift_day(near[0], step * (count - 1), unit), unit)
        return interval((min(near[0], far[0]), max(near[1], far[1])), grain, sure, modality)
    if step < 0:
        return interval((shift_day(today, -count, unit), today - timedelta(days=1)), "day", sure, modality)
    first = today + timedelta(days=1)
    return interval((first, shift_day(first, count, unit) - timedelta(days=1)), "day", sure, modality)


def _beyond(r: Reading, i: int) -> Found | None:
    """Read "the week before last", "the weekend after next", "the year before last"."""
    j = r.skip(i, "the")
    unit = UNITS.get(r.at(j))
    if unit is None or unit == "day":
        return None
    for phrase, step in (("before last", -2), ("after next", 2), ("before that", -2)):
        end = r.after(j + 1, phrase)
        if end is not None:
            return _whole(r, end, unit, step, bare=False)
    return None


PERIODS = (_month, _year, _decade, _quarter, _season, _unit, _units, _beyond)
