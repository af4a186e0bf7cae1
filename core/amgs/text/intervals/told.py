"""The dates of a block as its metadata keeps them: ISO 8601 intervals, each with how sure it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from amgs.text.intervals.grammar import dates_in

_WRITTEN = re.compile(r"(\d{4}-\d\d-\d\d)(?:/(\d{4}-\d\d-\d\d))?(?: (\d(?:\.\d+)?))?")


@dataclass(frozen=True, slots=True)
class ToldDays:
    """Days [first, last] that a block tells, and how sure it is that they are meant, in (0, 1]."""

    first: date
    last: date
    confidence: float = 1.0


def dates_told(text: str, written: date | datetime) -> list[str]:
    """What `meta["dates"]` of a text holds: "2026-02-09", "2026-02-02/2026-02-08 0.9"; sorted, each span once at its
    best confidence, which is left out where it is 1. Spans are whole units of what was told ("two months ago": a
    month).
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
    found = []
    for one in written:
        parts = _WRITTEN.fullmatch(one) if isinstance(one, str) else None
        if parts is None:
            continue
        try:
            first = date.fromisoformat(parts[1])
            last = date.fromisoformat(parts[2]) if parts[2] else first
        except ValueError:
            continue
        if first <= last:
            found.append(ToldDays(first, last, float(parts[3] or 1)))
    return found
