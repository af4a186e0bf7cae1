"""Dates in text: written out, in ISO form, or told from the day of writing ("yesterday", "two weeks ago")."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from amgs.clock import as_utc

_MONTHS = re.findall(
    r"\w+", "january february march april may june july august september october november december"
)
_DAYS = re.findall(r"\w+", "monday tuesday wednesday thursday friday saturday sunday")
_NUMBERS = {
    word: i
    for i, word in enumerate(
        re.findall(r"\w+", "zero one two three four five six seven eight nine ten eleven twelve")
    )
}
_NUMBERS |= {"a": 1, "an": 1, "a couple of": 2}

_MONTH = r"(?P<month>" + "|".join(f"{m}|{m[:3]}" for m in _MONTHS) + r"|sept)\.?"
_COUNT = r"(?P<count>\d{1,3}|a couple of|" + "|".join(w for w in _NUMBERS if " " not in w) + r")"

_LONGEST_DATELINE = 60
_TIME = re.compile(
    r"\b\d{1,2}[:.]\d{2}(?:[:.]\d{2})?\s*(?:[ap]\.?m\.?)?\b|\b(?:on|at|" + "|".join(_DAYS) + r")\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class DateMention:
    """Characters [start, end) of a text and the days [first, last] they mean."""

    start: int
    end: int
    text: str
    first: date
    last: date


def note_date(written: str) -> datetime | None:
    """The instant that a front matter's `date` means; None when it cannot be read.

    Raises OverflowError for one at the edge of the calendar that has no instant in UTC.
    """
    try:
        return as_utc(datetime.fromisoformat(written.strip()))
    except ValueError:
        found = dates_in(written, datetime(1, 1, 1))  # noqa: DTZ001 - only a full date is taken from here
        full = [m for m in found if m.first == m.last and re.search(r"\d{4}", m.text)]
        return as_utc(datetime(full[0].first.year, full[0].first.month, full[0].first.day)) if full else None  # noqa: DTZ001


def dates_in(text: str, written: datetime) -> tuple[DateMention, ...]:
    """Every date in the text, relative ones told from the day it was written.

    Earlier patterns win an overlap.
    """
    found: list[DateMention] = []
    for pattern, read in _PATTERNS:
        for match in pattern.finditer(text):
            if any(match.start() < m.end and m.start < match.end() for m in found):
                continue
            try:
                days = read(match, written.date())
            except (ValueError, OverflowError):
                continue  # 31 February, or a span that leaves the calendar, is no date
            if days is not None:
                found.append(DateMention(match.start(), match.end(), match[0], *days))
    return tuple(sorted(found, key=lambda m: m.start))


def without_datelines(text: str) -> str:
    """The text without its lines that hold a date, perhaps a time of day, and no other word; all of it where
    nothing else is there.
    """
    kept = [line for line in text.split("\n") if not _is_dateline(line)]
    rest = "\n".join(kept).strip()
    return rest if rest and len(kept) < text.count("\n") + 1 else text


def _is_dateline(line: str) -> bool:
    if len(line) > _LONGEST_DATELINE or not any(c.isdigit() for c in line):
        return False
    mentions = dates_in(line, datetime(2000, 1, 1))  # noqa: DTZ001 - only where dates stand matters
    rest = "".join(c if not any(m.start <= i < m.end for m in mentions) else " " for i, c in enumerate(line))
    return bool(mentions) and not _WORD.search(_TIME.sub(" ", rest))


Days = tuple[date, date]


def _iso(match: re.Match[str], _today: date) -> Days:
    day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    return day, day


def _written_out(match: re.Match[str], today: date) -> Days:
    month = _month(match["month"])
    year = int(match["year"]) if match["year"] else today.year
    day = date(year, month, int(match["day"]))
    if not match["year"] and day > today + timedelta(days=183):
        day = day.replace(year=year - 1)
    return day, day


def _month_of_year(match: re.Match[str], _today: date) -> Days:
    return _whole_month(int(match["year"]), _month(match["month"]))


def _named_day(match: re.Match[str], today: date) -> Days:
    day = today + timedelta(days={"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}[match[0].lower()])
    return day, day


def _before_yesterday(match: re.Match[str], today: date) -> Days:
    day = today + timedelta(days=-2 if match["side"].lower() == "before yesterday" else 2)
    return day, day


def _weekday(match: re.Match[str], today: date) -> Days:
    wanted = _DAYS.index(match["day"].lower())
    back = match["side"].lower() == "last"
    ahead = (wanted - today.weekday()) % 7
    day = today - timedelta(days=(7 - ahead) % 7 or 7) if back else today + timedelta(days=ahead or 7)
    return day, day


def _unit(match: re.Match[str], today: date) -> Days:
    step = {"last": -1, "this": 0, "next": 1}[match["side"].lower()]
    unit = match["unit"].lower()
    if unit == "week":
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step)
        return monday, monday + timedelta(days=6)
    if unit == "month":
        months = today.year * 12 + today.month - 1 + step
        return _whole_month(months // 12, months % 12 + 1)
    return date(today.year + step, 1, 1), date(today.year + step, 12, 31)


def _ago(match: re.Match[str], today: date) -> Days:
    written = match["count"].lower()
    count = int(written) if written.isdigit() else _NUMBERS[written]
    sign = -1 if match["side"].lower() == "ago" else 1
    unit = match["unit"].lower()
    if unit in ("day", "week"):
        day = today + timedelta(days=sign * count * (7 if unit == "week" else 1))
        return day, day
    months = today.year * 12 + today.month - 1 + sign * count * (12 if unit == "year" else 1)
    return _whole_month(months // 12, months % 12 + 1)


def _month(name: str) -> int:
    return next(i for i, m in enumerate(_MONTHS, 1) if m.startswith(name.lower()[:3]))


def _whole_month(year: int, month: int) -> Days:
    first = date(year, month, 1)
    return first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Days | None]], ...] = (
    (_pattern(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?!\d)"), _iso),
    (
        _pattern(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? (?P<year>\d{{4}}))?\b"),
        _written_out,
    ),
    (
        _pattern(rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<year>\d{{4}}))?\b"),
        _written_out,
    ),
    (_pattern(rf"\b{_MONTH},? (?P<year>\d{{4}})\b"), _month_of_year),
    (_pattern(r"\bthe day (?P<side>before yesterday|after tomorrow)\b"), _before_yesterday),
    (_pattern(r"\b(?:yesterday|today|tonight|tomorrow)\b"), _named_day),
    (_pattern(rf"\b(?P<side>last|next) (?P<day>{'|'.join(_DAYS)})\b"), _weekday),
    (_pattern(r"\b(?P<side>last|this|next) (?P<unit>week|month|year)\b"), _unit),
    (_pattern(rf"\b{_COUNT} (?P<unit>day|week|month|year)s? (?P<side>ago)\b"), _ago),
    (_pattern(rf"\b(?P<side>in) {_COUNT} (?P<unit>day|week|month|year)s?\b"), _ago),
)
