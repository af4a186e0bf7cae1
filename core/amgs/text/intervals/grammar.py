"""Read the dates in a text, by all rules at each token that may begin a date, and the dates that a block
keeps.

`dates_in` is called for every ingested text and every query, so it must stay linear in the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache

from amgs.clock import as_utc, aware
from amgs.text.intervals.calendar import HOLIDAYS, DayInterval, Grain, Modality
from amgs.text.intervals.days import DAYS, NAMED_DAYS, date_fields, holiday
from amgs.text.intervals.parts import PARTS, RANGES
from amgs.text.intervals.periods import OFFSETS, PERIODS
from amgs.text.intervals.reading import (
    DATES,
    DECADES,
    MONTHS,
    SEASONS,
    SHORT_WEEKDAYS,
    UNITS,
    WEEKDAYS,
    Found,
    Reading,
    Rule,
    Settled,
)
from amgs.text.language import ENGLISH, language_table, table_of

_AROUND_TODAY: Mapping[str, tuple[int, int, float]] = DATES["vague"]
_RUNNING = {"soon", "nowadays"}
"""Words that running text holds so often without a date in mind that they are read only when asked for."""


def _vague(r: Reading, i: int) -> Found | None:
    """Read a vague word ("recently"): a wide interval of low confidence and no certain day."""
    for phrase, (back, ahead, sure) in _AROUND_TODAY.items():
        end = r.after(i, phrase)
        if end is not None and not (phrase.endswith("s ago") and r.at(i - 1).isdigit()):
            first, last = r.today - timedelta(days=back), r.today + timedelta(days=ahead)
            return Found(end, DayInterval(first, last, Grain.DAY, Modality.VAGUE, sure), phrase not in _RUNNING)
    return None


VAGUE = (_vague,)
VAGUE_WORDS = {"recently", "lately", "nowadays", "other", "ago", "back", "recent", "soon", "future", "coming"}
"""At least one word of each vague phrase."""


RULES: dict[str, tuple[Rule, ...]] = {
    "point": (*DAYS, date_fields, *OFFSETS),
    "holiday": (holiday,),
    "period": (*PERIODS, *PARTS, *VAGUE),
    "range": RANGES,
}
_FARTHEST_HINT = 5
"""Tokens of a date that may come before its first typical word ("in about twenty - five years")."""
IN_TEXT = ("range", "point", "period")
_HOLIDAY_WORDS = {ending for words in HOLIDAYS for ending in (words[0], f"{words[0]}s")}
_ENDINGS = {phrase.split()[-1] for phrase in NAMED_DAYS}
HINTS = (
    {
        *UNITS,
        *MONTHS,
        *WEEKDAYS,
        *SHORT_WEEKDAYS,
        *SEASONS,
        *DECADES,
        *NAMED_DAYS,
        *_ENDINGS,
        *VAGUE_WORDS,
        *_HOLIDAY_WORDS,
    }
    - {"all"}
) | {"thousand", "nineteen", "half", *(f"{day}s" for day in (*WEEKDAYS, *SEASONS))}


@dataclass(frozen=True, slots=True)
class DateMention:
    """Characters [start, end) of a text and the interval that they name."""

    start: int
    end: int
    text: str
    interval: DayInterval


def dates_in(text: str, written: date | datetime) -> tuple[DateMention, ...]:
    """Return the dates that a text names, relative to when it was written; of two that overlap, the date that begins
    first, else the longer.

    Words that are dates only where a date is expected ("may", "2.5", "the day", a bare number) are skipped. Takes time
    linear in the text's length. Texts in other languages are read by the phrases of their table.
    """
    table = table_of(text)
    phrases = sorted(table.dates(text))
    if not phrases:
        return _english_dates(text, written)
    read = ((start, end, _read_phrase(english, day_of(written))) for start, end, english in phrases)
    named = [
        DateMention(start, end, text[start:end], mentions[0].interval) for start, end, mentions in read if mentions
    ]
    if table is not language_table(ENGLISH):
        return tuple(named)
    # A language without a table: what else is a date is read as in English.
    named = [mention for mention in named if not _is_name(text, mention.start)]
    taken = {position for mention in named for position in range(mention.start, mention.end)}
    others = (m for m in _english_dates(text, written) if taken.isdisjoint(range(m.start, m.end)))
    return tuple(sorted((*named, *others), key=lambda mention: mention.start))


@lru_cache(maxsize=1024)
def _read_phrase(english: str, today: date) -> tuple[DateMention, ...]:
    """Return the dates of a phrase; cached, since a text has few phrases and has them often."""
    return _english_dates(english, today)


def _is_name(text: str, start: int) -> bool:
    """Return whether a word is capitalised within its sentence."""
    return text[start].isupper() and text[max(0, start - 3) : start].rstrip()[-1:] not in ("", *'.!?:…"“«')


def _english_dates(text: str, written: date | datetime) -> tuple[DateMention, ...]:
    """Return the dates in an English text; see `dates_in`."""
    today = day_of(written)
    reading = Reading(text, today, RULES)
    mentions: list[DateMention] = []
    i = 0
    near = _near_dates(reading)
    while i < len(reading):
        best = find_longest(reading, i, IN_TEXT, sure=True) if near[i] else None
        if best is None:
            i += 1
            continue
        start, end = reading.starts[i], reading.ends[best.end - 1]
        side = side_of(text, start, end)
        if side:
            beside = find_longest(reading.turn_to(side), i, IN_TEXT, sure=True)
            best = beside if beside is not None and beside.end == best.end else best
        mentions.append(DateMention(start, end, text[start:end], best.means))
        i = best.end
    return tuple(mentions)


def find_longest(r: Reading, i: int, kinds: tuple[str, ...], *, sure: bool) -> Settled | None:
    best: Settled | None = None
    for kind in kinds:
        candidate = r.days(kind, i)
        if candidate is not None and (candidate.sure or not sure) and (best is None or candidate.end > best.end):
            best = candidate
    return best


def _near_dates(r: Reading) -> bytearray:
    """Return for each token whether a typical word of dates is there or within the next few: no date
    begins elsewhere.
    """
    near = bytearray(len(r))
    for i, word in enumerate(r.words):
        if word in HINTS or word[0].isdigit():
            begin = max(0, i - _FARTHEST_HINT)
            near[begin : i + 1] = b"\1" * (i + 1 - begin)
    return near


def day_of(written: date | datetime) -> date:
    return written.date() if isinstance(written, datetime) else written


_CUE_REACH = 160
_AHEAD = re.compile(
    r"""\b(?:
    (?:will|would|should|shall|must|may|might|can|could|to|not)(?:\s+(?!be\b)\w+){0,2}?\s+be(?:\s+\w+)?|
    to\s+\w+(?:\s+\w+){0,2}\s+by(?=\s*$)|(?:is|are)\s+(?:need|requir|want)ed|
    will|shall|won['’]t|going\ to|gonna|'ll|’ll|would|should|must|can|
    can['’]t\ wait|may|might|need(?:s)?\ to|
    want(?:s)?\ to|to\ be|let['’]s|plan(?:s|ned|ning)?(?:\ (?:to|on|for))?|expect(?:s|ed|ing)?|schedul(?:e[sd]?|ing)|
    set\ (?:to|for)|due|hop(?:e|es|ing)\ to|look(?:ing)?\ forward|intend(?:s|ed)?|propos(?:e[sd]?|als?)|upcoming|
    deadline|effective|extended\ (?:to|until)|remind|please|is\ to|are\ to|redemption|terminates?|expires?|
    see\ you|^\s*(?:set|book|arrange|find|meet)|tomorrow|about\ to|ready\ for|excited\ (?:for|about)|has\ set)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_IRREGULAR = (
    "was|were|had|has|have|did|been|went|got|gone|came|took|taken|made|saw|seen|met|said|told|left|began|begun|held|"
    "found|gave|given|bought|brought|built|caught|chose|drew|drove|ate|fell|felt|fought|flew|forgot|grew|heard|kept|"
    "knew|led|lost|paid|put|ran|rose|sold|sent|shot|slept|spent|spoke|stood|stole|struck|taught|thought|threw|"
    "understood|won|wore|wrote|written|ago|just|already|yesterday|finally|since|last"
)
_BACK = re.compile(
    rf"\b(?:{_IRREGULAR}|(?!(?:need|seed|feed|speed|indeed|red|bed|wed)\b)[a-z]{{2,}}ed)\b", re.IGNORECASE
)
_STOP = re.compile(r"[.!?]\s+(?=[\"'“‘(]?[A-Z])|\n\s*\n|[!?]\s|;|:\s")
_DEADLINE = re.compile(r"\b(?:by|until|till)\s+(?:the\s+)?\S+(?:\s+\S+){0,3}$", re.IGNORECASE)
"""A deadline, in a sentence without any other cue: `ship by the 15th of March`."""
_ABBREVIATED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|No|Corp|Inc|Co|Ltd|Jan|Feb|Aug|Sept|Oct|Nov|Dec|[A-Z])\.\s+$")


def side_of(text: str, start: int, end: int) -> int:
    """Return whether the date at characters [start, end) is past (-1), future (1) or undecided (0).

    The nearest cue in its sentence decides, those before the date first. Without a cue, a deadline is future, and any
    other date follows the sentences before. A cue of the future wins over an overlapping past form ("was scheduled
    to").
    """
    earlier, after = text[max(0, start - _CUE_REACH) : start], text[end : end + _CUE_REACH]
    before = earlier
    for stop in reversed(list(_STOP.finditer(before))):
        if not _ABBREVIATED.search(before[: stop.end()]):
            before = before[stop.end() :]
            break
    for stop in _STOP.finditer(after):
        if not _ABBREVIATED.search(after[: stop.end()]):
            after = after[: stop.start()]
            break
    side = _last_cue(before) or _first_cue(after)
    if not side and _DEADLINE.search(before + text[start:end]):
        return 1
    return side or _last_cue(earlier)


def _last_cue(text: str) -> int:
    cues = [(m.end(), 1) for m in _AHEAD.finditer(text)]
    cues += [(m.end(), -1) for m in _BACK.finditer(_without_ahead(text))]
    return max(cues)[1] if cues else 0


def _first_cue(text: str) -> int:
    cues = [(m.start(), 1) for m in _AHEAD.finditer(text)]
    cues += [(m.start(), -1) for m in _BACK.finditer(_without_ahead(text))]
    return min(cues)[1] if cues else 0


def _without_ahead(text: str) -> str:
    """Return the text with its cues of the future replaced by spaces, so that "was expected" is not read as past."""
    return _AHEAD.sub(lambda m: " " * len(m[0]), text)


_WRITTEN = re.compile(r"(\d{4}-\d\d-\d\d)(?:/(\d{4}-\d\d-\d\d))?(?: (\d(?:\.\d+)?))?")


@dataclass(frozen=True, slots=True)
class ToldDays:
    """Days [first, last] that a block tells, and how sure it is that they are meant, in (0, 1]."""

    first: date
    last: date
    confidence: float = 1.0


def find_told_dates(text: str, written: date | datetime) -> list[str]:
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


def read_told_days(written: Iterable[object]) -> list[ToldDays]:
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

    Raises OverflowError for a date at the edge of the calendar that has no instant in UTC.
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


def remove_datelines(text: str) -> str:
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
