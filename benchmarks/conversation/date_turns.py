"""Whether the interval of a turn holds the day that a question about it asks for (LoCoMo's temporal questions).

A turn's intervals are those that its words name, whole units of their grain; a turn that names none has the day on
which it was said. The answer is read by rules of its own, not by the grammar: a full date, a month, a year, or a day,
week or weekend before, of or after a full date. "The week before" a day may be its seven days or the calendar's week.
Answers of another form ("4 years") are left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

from amgs.text.intervals import dates_in
from amgs.text.intervals.calendar import Days, around, shifted
from amgs.text.intervals.vocabulary import MONTHS, WEEKDAYS
from benchmarks.bench_results import BenchTable
from benchmarks.locomo_data import TEMPORAL, read_folder, session_time
from benchmarks.bench_results import SubjectResult

_FULL = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?\s*,?\s*([A-Za-z]+),?\s*(\d{4})|([A-Za-z]+)\s+(\d{1,2})(?:st|nd|rd|th)?,?\s*(\d{4})"
)
_BESIDE = re.compile(r"(?:(two|three|four)\s+)?(\w+?)s?\s+(before|after|of)\b")
_COUNTS = {"two": 2, "three": 3, "four": 4}

Told = Callable[[str, date], list[Days]]


def grammar(text: str, at: date) -> list[Days]:
    return [m.interval.whole for m in dates_in(text, at)] or [(at, at)]


_METHODS: dict[str, Told] = {
    "grammar": grammar,
    "day of the turn": lambda _text, at: [(at, at)],
    "week of the turn": lambda _text, at: [around(at, "week")],
    "month of the turn": lambda _text, at: [around(at, "month")],
    "60 days before, 30 after": lambda _text, at: [(at - timedelta(days=60), at + timedelta(days=30))],
}


def measure_turns(folder: Path) -> SubjectResult:
    """turn_interval: percent of evidence turns of which one interval contains the asked days; turn_agrees: contains
    them or lies inside them ("10 May" where May is asked).
    """
    asked: list[tuple[str, date, list[Days]]] = []
    other = 0
    for conversation in read_folder(folder):
        turns = {str(draft.meta["source"]): draft for draft in conversation.drafts}
        for question in conversation.questions:
            if question.category != TEMPORAL:
                continue
            days = answer_days(question.answer)
            other += not days
            for source in question.evidence if days else ():
                text, _, written = turns[source].content.rpartition("\n")  # without its line of the date
                asked.append((text, session_time(written.strip("()")).date(), days))
    rows: list[tuple[str | float, ...]] = []
    metrics: dict[str, float] = {}
    for name, told in _METHODS.items():
        given = [(told(text, at), days) for text, at, days in asked]
        holds = _percent([any(_inside(g, t) for t in spans for g in days) for spans, days in given])
        agrees = _percent(
            [any(_inside(g, t) or _inside(t, g) for t in spans for g in days) for spans, days in given]
        )
        widths = sorted((span[1] - span[0]).days + 1 for spans, _ in given for span in spans)
        rows.append((name, holds, agrees, float(widths[len(widths) // 2]) if widths else 0.0))
        if told is grammar:
            metrics = {"turn_interval": holds, "turn_agrees": agrees}
    title = (
        f"Evidence turns whose interval holds the asked days, % of {len(asked)} ({other} answers are no date)"
    )
    return SubjectResult(
        metrics, {}, (BenchTable(title, ("interval", "contains", "agrees", "median days"), tuple(rows)),)
    )


def answer_days(answer: str) -> list[Days]:
    """The spans of days that an answer may mean; none where it is no date."""
    told = answer.strip().rstrip(".").lower()
    full = _full(told)
    if full is not None:
        return _beside(told, full) if re.search(r"\b(?:before|after|of)\b", told) else [(full, full)]
    month = re.fullmatch(r"(?:in )?([a-z]+),? ?(\d{4})", told)
    if month is not None and month[1] in MONTHS:
        return [around(date(int(month[2]), MONTHS[month[1]], 1), "month")]
    year = re.fullmatch(r"(?:in )?(\d{4})", told)
    return [around(date(int(year[1]), 1, 1), "year")] if year is not None else []


def _full(told: str) -> date | None:
    found = _FULL.search(told)
    if found is None:
        return None
    day, name, year = (found[1], found[2], found[3]) if found[1] else (found[5], found[4], found[6])
    month = MONTHS.get(name[:3])
    return date(int(year), month, int(day)) if month else None


def _beside(told: str, day: date) -> list[Days]:
    found = _BESIDE.search(told)
    if found is None:
        return []
    n, unit = _COUNTS.get(found[1] or "", 1), found[2]
    side = {"before": -1, "after": 1, "of": 0}[found[3]]
    if unit == "week":
        seven = [(day - timedelta(days=7 * n), day - timedelta(days=1))] if side < 0 else []
        return [*seven, around(shifted(day, side * n, "week"), "week")]
    wanted = 5 if unit == "weekend" else WEEKDAYS.get(unit)
    if wanted is None:
        return [(shifted(day, side * n, "day"),) * 2] if unit == "day" else []
    if side == 0:
        near = min(
            (day + timedelta(days=k) for k in range(-3, 4)),
            key=lambda d: ((d.weekday() - wanted) % 7, abs(d - day)),
        )
    else:
        near = day + timedelta(days=side)
        while near.weekday() != wanted:
            near += timedelta(days=side)
        near += timedelta(weeks=side * (n - 1))
    return [(near, near + timedelta(days=unit == "weekend"))]


def _inside(inner: Days, outer: Days) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _percent(hits: list[bool]) -> float:
    return 100 * sum(hits) / max(len(hits), 1)
