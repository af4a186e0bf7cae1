"""Dates that stand for themselves: a front matter's `date`, and lines that hold only a date."""

from __future__ import annotations

import re
from datetime import datetime

from amgs.clock import as_utc
from amgs.text.intervals.grammar import dates_in

_LONGEST_DATELINE = 60
_TIME = re.compile(
    r"\b\d{1,2}[:.]\d{2}(?:[:.]\d{2})?\s*(?:[ap]\.?m\.?)?\b|\b(?:on|at|monday|tuesday|wednesday|thursday|friday|"
    r"saturday|sunday)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w")


def note_date(written: str) -> datetime | None:
    """The instant that a front matter's `date` means; None when it cannot be read.

    Raises OverflowError for one at the edge of the calendar that has no instant in UTC.
    """
    try:
        return as_utc(datetime.fromisoformat(written.strip()))
    except ValueError:
        found = dates_in(written, datetime(1, 1, 1))  # noqa: DTZ001 - only a full date is taken from here
        days = [
            m.interval.first
            for m in found
            if m.interval.first == m.interval.last and re.search(r"\d{4}", m.text) and not _either_way(m.text)
        ]
        full = [day for day in days if day is not None]
        return as_utc(datetime(full[0].year, full[0].month, full[0].day)) if full else None  # noqa: DTZ001


def _either_way(written: str) -> bool:
    """Whether 03/04/2026 may be in March or in April: a note's own date is not guessed."""
    found = re.search(r"\b(\d{1,2})/(\d{1,2})/\d{4}\b", written)
    return found is not None and found[1] != found[2] and int(found[1]) <= 12 and int(found[2]) <= 12


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
