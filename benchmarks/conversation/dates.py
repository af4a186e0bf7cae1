"""How well dates in text are read: exact days against two annotated corpora, and how many are found in novels.

Recognizers-Text's cases (`recognizers-en.json`, MIT): `date` and `range` are its types, relative where the value
follows from the day of writing alone. A case is right where both ends are one of its values; the corpus closes a
span before its last day or on it, so a last day that is the written end or the day before counts, for a range of
two units ("from 2014 to 2018", which it closes on the first day of the second) only in `range_as_written`.
TimeBank (`timebank/*.tml`): dates that the annotators told from another date and wrote to the day; the document's
own day is the day of writing. Every phrase is given, and so is the text around it.

Whether the interval of a turn holds the day that a question about it asks for (LoCoMo's temporal questions).

A turn's intervals are those that its words name, whole units of their grain; a turn that names none has the day on
which it was said. The answer is read by rules of its own, not by the grammar: a full date, a month, a year, or a day,
week or weekend before, of or after a full date. "The week before" a day may be its seven days or the calendar's week.
Answers of another form ("4 years") are left out and counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from xml.etree import ElementTree

from amgs.text.intervals import DayInterval, Grain, dates_in
from amgs.text.intervals.calendar import Days, around, shift_day
from amgs.text.intervals.reading import MONTHS, WEEKDAYS
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.conversation.date_phrases import interval_of
from benchmarks.locomo_data import TEMPORAL, read_folder, session_time

_FULL = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?\s*,?\s*([A-Za-z]+),?\s*(\d{4})|([A-Za-z]+)\s+(\d{1,2})(?:st|nd|rd|th)?,?\s*(\d{4})"
)
_BESIDE = re.compile(r"(?:(two|three|four)\s+)?(\w+?)s?\s+(before|after|of)\b")
_COUNTS = {"two": 2, "three": 3, "four": 4}

Told = Callable[[str, date], list[Days]]


def read_by_grammar(text: str, at: date) -> list[Days]:
    return [m.interval.whole for m in dates_in(text, at)] or [(at, at)]


_METHODS: dict[str, Told] = {
    "grammar": read_by_grammar,
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
        agrees = _percent([any(_inside(g, t) or _inside(t, g) for t in spans for g in days) for spans, days in given])
        widths = sorted((span[1] - span[0]).days + 1 for spans, _ in given for span in spans)
        rows.append((name, holds, agrees, float(widths[len(widths) // 2]) if widths else 0.0))
        if told is read_by_grammar:
            metrics = {"turn_interval": holds, "turn_agrees": agrees}
    title = f"Evidence turns whose interval holds the asked days, % of {len(asked)} ({other} answers are no date)"
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
        return [*seven, around(shift_day(day, side * n, "week"), "week")]
    wanted = 5 if unit == "weekend" else WEEKDAYS.get(unit)
    if wanted is None:
        return [(shift_day(day, side * n, "day"),) * 2] if unit == "day" else []
    if side == 0:
        near = min(
            (day + timedelta(days=k) for k in range(-3, 4)), key=lambda d: ((d.weekday() - wanted) % 7, abs(d - day))
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


Ends = tuple[date | None, date | None]
Reader = Callable[["DatedPhrase"], DayInterval | None]

_GOALS: Mapping[str, tuple[Comparator, float]] = {
    "relative_date": (">=", 85.0),
    "date": (">=", 80.0),
    "relative_range": (">=", 80.0),
    "range": (">=", 75.0),
    "timebank_relative_day": (">=", 92.0),
    "novel_spans_per_1000": ("<=", 2.0),
    "turn_interval": (">=", 75.0),
}
_KINDS = {"datetimeV2.date": "date", "datetimeV2.daterange": "range"}
_CALENDAR = re.compile(
    r"\d{4}|\d+[/.-]\d|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|\w+(?:uary|ember|ober)|march|april|"
    r"august|christmas|halloween|labor|earth|black|workers|patrick|eid|century|thousand|nineteen|seventeen|\w+ties)\b|"
    r"new year|\d0s|\d\d$",
    re.IGNORECASE,
)
"""What a phrase names of the calendar itself; one without it is told from the day of writing alone."""
_NOVEL_CHARACTERS = 300_000


@dataclass(frozen=True, slots=True)
class DatedPhrase:
    """A phrase in its text, the day of writing, and the ends [first, last] it may have; last exclusive or not."""

    kind: str
    relative: bool
    before: str
    phrase: str
    after: str
    written: date
    values: tuple[Ends, ...]


def grammar(case: DatedPhrase) -> DayInterval | None:
    return interval_of(case.phrase, case.written, case.before, case.after)


def reference_day(case: DatedPhrase) -> DayInterval | None:
    """The simplest rule: whatever is told, it is the day of writing."""
    return DayInterval(case.written, case.written, Grain.DAY)


def recognizers_cases(folder: Path) -> Iterator[DatedPhrase]:
    for spec in json.loads((folder / "recognizers-en.json").read_text("utf-8")):
        written = spec.get("Context", {}).get("ReferenceDateTime")
        if not written:
            continue
        for result in spec["Results"]:
            kind = _KINDS.get(result.get("TypeName") or result.get("Typename") or "")
            values = [_ends(v) for v in result.get("Resolution", {}).get("values", ())] if kind else []
            given = tuple(v for v in values if v != (None, None))
            if kind is None or not given:
                continue
            start, end = result["Start"], result["End"] + 1
            relative = not _CALENDAR.search(result["Text"])
            text = spec["Input"]
            yield DatedPhrase(
                kind, relative, text[:start], text[start:end], text[end:], date.fromisoformat(written[:10]), given
            )


def _ends(value: Mapping[str, str]) -> Ends:
    if value.get("value"):
        return (_day(value["value"]),) * 2
    return _day(value.get("start")), _day(value.get("end"))


def _day(written: str | None) -> date | None:
    try:
        return date.fromisoformat((written or "")[:10])
    except ValueError:
        return None


def timebank_cases(folder: Path) -> Iterator[DatedPhrase]:
    for path in sorted((folder / "timebank").glob("*.tml")):
        root = ElementTree.fromstring(path.read_text("utf-8"))
        stamp, body = root.find("DCT/TIMEX3"), root.find("TEXT")
        if stamp is None or body is None:
            continue
        written = _day(stamp.get("value"))
        text, spans = _flat(body)
        for start, end, told in spans:
            value = told.get("value", "")
            if told.get("type") != "DATE" or told.get("temporalFunction") != "true" or written is None:
                continue
            if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
                day = _day(value)
                yield DatedPhrase(
                    "timebank_relative_day", False, text[:start], text[start:end], text[end:], written, ((day, day),)
                )


def _flat(body: ElementTree.Element) -> tuple[str, list[tuple[int, int, Mapping[str, str]]]]:
    """The plain text of an element, and where in it each TIMEX3 stands."""
    parts: list[str] = []
    spans: list[tuple[int, int, Mapping[str, str]]] = []

    def walk(node: ElementTree.Element) -> None:
        start = sum(map(len, parts))
        parts.append(node.text or "")
        for child in node:
            walk(child)
            parts.append(child.tail or "")
        if node.tag == "TIMEX3":
            spans.append((start, sum(map(len, parts)), node.attrib))

    walk(body)
    return "".join(parts), spans


def right(case: DatedPhrase, told: DayInterval | None, *, as_written: bool = False) -> bool:
    """Whether both ends are those of one value. as_written: a span of two units may end with the second's first day."""
    if told is None:
        return False
    last = told.last
    lasts = {last, around(last, told.grain)[0]} if as_written and last is not None else {last}
    for first, end in case.values:
        if case.kind != "range":
            if told.first == told.last == first:
                return True
        elif told.first == first and any(_closes(one, end) for one in lasts):
            return True
    return False


def _closes(last: date | None, end: date | None) -> bool:
    if last is None or end is None:
        return last is end
    return 0 <= (end - last).days <= 1


def measure_dates(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """The subject "dates" of a folder with temporal/, and books/ and locomo/ where they are there."""
    del rig
    folder = data / "temporal"
    if not folder.is_dir():
        return None
    cases = [*recognizers_cases(folder), *timebank_cases(folder)]
    columns: dict[str, dict[str, tuple[float, int]]] = {
        "grammar": _shares(cases, grammar),
        "day of writing": _shares(cases, reference_day),
    }
    metrics = {kind: share for kind, (share, _) in columns["grammar"].items()}
    rows: list[tuple[str | float, ...]] = [
        (kind, str(n), *(column[kind][0] for column in columns.values())) for kind, (_, n) in columns["grammar"].items()
    ]
    tables = [BenchTable("Dates given as phrases, exact, %", ("kind", "n", *columns), tuple(rows))]
    tables.append(_by_confidence(cases))
    tables.append(_misses([case for case in cases if not right(case, grammar(case))]))
    books = sorted((data / "books").glob("*.txt"))
    if books:
        found = [(path.stem, *_spans(path)) for path in books]
        metrics["novel_spans_per_1000"] = 1000 * sum(f[1] for f in found) / max(sum(f[2] for f in found), 1)
        told = tuple((name, float(spans), str(words), 1000 * spans / max(words, 1)) for name, spans, words in found)
        tables.append(BenchTable("Dates found in novels, right or not", ("book", "found", "words", "per 1000"), told))
    if (data / "locomo").is_dir():
        turns = measure_turns(data / "locomo")
        metrics |= turns.metrics
        tables += turns.tables
    return SubjectResult(metrics, _GOALS, tuple(tables))


def _shares(cases: list[DatedPhrase], read: Reader) -> dict[str, tuple[float, int]]:
    """Per kind the share that is right, in percent, and how many there are."""
    asked: Counter[str] = Counter()
    good: Counter[str] = Counter()
    for case in cases:
        told = read(case)
        fair = right(case, told)
        for kind in (case.kind, f"relative_{case.kind}" if case.relative else ""):
            if kind:
                asked[kind] += 1
                good[kind] += fair
        if case.kind == "range":
            asked["range_as_written"] += 1
            good["range_as_written"] += right(case, told, as_written=True)
    return {kind: (100 * good[kind] / n, n) for kind, n in sorted(asked.items())}


def _by_confidence(cases: list[DatedPhrase]) -> BenchTable:
    """Whether the confidence of a reading says how often such a reading is right."""
    read = [(told.confidence, right(case, told)) for case in cases if (told := grammar(case)) is not None]
    rows: list[tuple[str | float, ...]] = []
    for low, high in ((0.0, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.0), (1.0, 1.01)):
        band = [(sure, fair) for sure, fair in read if low <= sure < high]
        if band:
            said = 100 * sum(sure for sure, _ in band) / len(band)
            rows.append((f"{low:g}", str(len(band)), said, 100 * sum(fair for _, fair in band) / len(band)))
    return BenchTable("Confidence and how often it is right, %", ("from", "n", "said", "right"), tuple(rows))


def _misses(missed: list[DatedPhrase]) -> BenchTable:
    rows = []
    for case in missed:
        told = grammar(case)
        values = " or ".join(f"{first or ''}/{last or ''}" for first, last in case.values)
        got = f"{told.first or ''}/{told.last or ''}" if told else "nothing"
        rows.append((case.kind, " ".join(case.phrase.split()), str(case.written), values, got))
    return BenchTable("Phrases read otherwise", ("kind", "phrase", "written", "annotated", "read"), tuple(rows))


def _spans(path: Path) -> tuple[int, int]:
    """(dates found, words) in the beginning of a book; every one counts, whether it is a date or not."""
    text = path.read_text("utf-8", errors="replace")[:_NOVEL_CHARACTERS]
    return len(dates_in(text, date(2020, 6, 1))), len(re.findall(r"\w+", text))
