"""The dates of a block: as its metadata keeps them, ISO 8601 intervals, each with how sure it is; and those that stand
for themselves, a front matter's `date` and lines that hold only a date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from amgs.clock import as_utc, aware
from amgs.text.intervals.grammar import dates_in

_WRITTEN = re.compile(r"(\d{4}-\d\d-\d\d)(?:/(\d{4}-\d\d-\d\d))?(?: (\d(?:\.\d+)?))?")


@dataclass(frozen=True, slots=True)
class ToldDays:
    """Days [first, last] that a block tells, and how sure it is that they are meant, in (0, 1]."""

    first: date
    last: date
    confidence: float = 1.0


def dates_told(text: str, written: date | datetime) -> list[str]:
    """Return the dates of a text for `meta['dates']`: `2026-02-09`, `2026-02-02/2026-02-08 0.9`; sorted, without
    duplicate spans, at their best confidence, which is left out where it is 1. Spans are whole units of the wording
    ('two months ago': a month).
    """
    best: dict[tuple[date, date], float] = {}
    for mention in dates_in(text, written):
        days, sure = mention.interval.whole, mention.interval.confidence
        best[days] = max(best.get(days, 0.0), sure)
    return [
        (first.isoformat() if first == last else f"{first}/{last}") + (f" {sure:.2g}" if sure < 1 else "")
        for (first, last), sure in sorted(best.items())
    ]


def told_days(written: Iterable[object]) -> list[ToldDays]:
    """`meta["dates"]` read back; what is not of its form is left out."""
    days = []
    for entry in written:
        parts = _WRITTEN.fullmatch(entry) if isinstance(entry, str) else None
        if parts is None:
            continue
        try:
            first = date.fromisoformat(parts[1])
            last = date.fromisoformat(parts[2]) if parts[2] else first
        except ValueError:
            continue
        if first <= last:
            days.append(ToldDays(first, last, float(parts[3] or 1)))
    return days


_LONGEST_DATELINE = 60
_TIME = re.compile(
    r"\b\d{1,2}[:.]\d{2}(?:[:.]\d{2})?\s*(?:[ap]\.?m\.?)?\b|\b(?:on|at|monday|tuesday|wednesday|thursday|friday|"
    r"saturday|sunday)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w")


def note_date(written: str) -> datetime | None:
    """Return the instant that a front matter's `date` means, with its offset; None when it cannot be read.

    Raises OverflowError for one at the edge of the calendar that has no instant in UTC.
    """
    try:
        return aware(datetime.fromisoformat(written.strip()))
    except ValueError:
        mentions = dates_in(written, datetime(1, 1, 1))  # noqa: DTZ001 - only a full date is taken from here
        days = [
            m.interval.first
            for m in mentions
            if m.interval.first == m.interval.last and re.search(r"\d{4}", m.text) and not _either_way(m.text)
        ]
        full = [day for day in days if day is not None]
        return as_utc(datetime(full[0].year, full[0].month, full[0].day)) if full else None  # noqa: DTZ001


def _either_way(written: str) -> bool:
    """Return whether 03/04/2026 may be in March or in April: a note's own date is not guessed."""
    match = re.search(r"\b(\d{1,2})/(\d{1,2})/\d{4}\b", written)
    return match is not None and match[1] != match[2] and int(match[1]) <= 12 and int(match[2]) <= 12


def without_datelines(text: str) -> str:
    """Return the text without its lines that hold a date, perhaps a time of day, and no other word; all of it where
    nothing else is there.
    """
    lines = [line for line in text.split("\n") if not _is_dateline(line)]
    rest = "\n".join(lines).strip()
    return rest if rest and len(lines) < text.count("\n") + 1 else text


def _is_dateline(line: str) -> bool:
    if len(line) > _LONGEST_DATELINE or not any(c.isdigit() for c in line):
        return False
    mentions = dates_in(line, datetime(2000, 1, 1))  # noqa: DTZ001 - only where dates stand matters
    rest = "".join(c if not any(m.start <= i < m.end for m in mentions) else " " for i, c in enumerate(line))
    return bool(mentions) and not _WORD.search(_TIME.sub(" ", rest))
