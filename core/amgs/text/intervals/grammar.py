"""The whole grammar: the kinds of rules by name, and the two ways to read with them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from amgs.text.intervals.calendar import HOLIDAYS
from amgs.text.intervals.days import DAYS, NAMED_DAYS, holiday
from amgs.text.intervals.interval import DayInterval, Grain, Modality
from amgs.text.intervals.offsets import OFFSETS
from amgs.text.intervals.parts import PARTS
from amgs.text.intervals.periods import PERIODS
from amgs.text.intervals.ranges import OPEN, RANGES
from amgs.text.intervals.reading import Found, Reading, Rule, Settled
from amgs.text.intervals.vocabulary import (
    DECADES,
    MONTHS,
    SEASONS,
    SHORT_WEEKDAYS,
    UNITS,
    WEEKDAYS,
)
from amgs.text.intervals.written import date_fields

# The rules for words that say hardly when: each a wide interval, vague and of low confidence, and no day.


_AROUND_TODAY = {  # days back and ahead of today, confidence
    "recently": (60, 0, 0.4),
    "lately": (60, 0, 0.4),
    "these days": (60, 0, 0.4),
    "nowadays": (365, 0, 0.3),
    "the other day": (14, -2, 0.6),
    "the other week": (28, -7, 0.5),
    "the other night": (14, -2, 0.6),
    "a while ago": (365, -7, 0.3),
    "a while back": (365, -7, 0.3),
    "some time ago": (730, -14, 0.3),
    "a long time ago": (36500, -365, 0.3),
    "days ago": (14, -2, 0.5),
    "weeks ago": (90, -14, 0.5),
    "months ago": (540, -60, 0.5),
    "years ago": (7300, -730, 0.4),
    "in recent days": (14, 0, 0.5),
    "in recent weeks": (60, 0, 0.5),
    "in recent months": (365, 0, 0.5),
    "in recent years": (3650, 0, 0.4),
    "the last few days": (7, 0, 0.6),
    "soon": (0, 60, 0.3),
    "in the near future": (0, 180, 0.3),
    "one of these days": (0, 90, 0.3),
    "in the coming days": (-1, 14, 0.5),
    "in the coming weeks": (-1, 60, 0.5),
    "in the coming months": (-1, 365, 0.5),
}
_RUNNING = {"soon", "nowadays"}
"""Words that running text holds so often without a date in mind that they are read only when asked for."""


def _vague(r: Reading, i: int) -> Found | None:
    for phrase, (back, ahead, sure) in _AROUND_TODAY.items():
        end = r.after(i, phrase)
        if end is not None and not (phrase.endswith("s ago") and r.at(i - 1).isdigit()):
            first, last = r.today - timedelta(days=back), r.today + timedelta(days=ahead)
            return Found(
                end, DayInterval(first, last, Grain.DAY, Modality.VAGUE, sure), phrase not in _RUNNING
            )
    return None


VAGUE = (_vague,)
VAGUE_WORDS = {"recently", "lately", "nowadays", "other", "ago", "back", "recent", "soon", "future", "coming"}
"""One word of each phrase at least."""


_RULES: dict[str, tuple[Rule, ...]] = {
    "point": (*DAYS, date_fields, *OFFSETS),
    "holiday": (holiday,),
    "period": (*PERIODS, *PARTS, *VAGUE),
    "range": RANGES,
    "open": OPEN,
}
_FARTHEST_HINT = 5
"""How many words may stand before the first hint of a date ("in about twenty - five years")."""
_IN_TEXT = ("range", "point", "period")
_HOLIDAY_WORDS = {ending for words in HOLIDAYS for ending in (words[0], f"{words[0]}s")}
HINTS = (
    {
        *UNITS,
        *MONTHS,
        *WEEKDAYS,
        *SHORT_WEEKDAYS,
        *SEASONS,
        *DECADES,
        *NAMED_DAYS,
        *VAGUE_WORDS,
        *_HOLIDAY_WORDS,
    }
    - {"all"}
) | {"thousand", "nineteen", "half", *(f"{day}s" for day in (*WEEKDAYS, *SEASONS))}
_IN_A_SPAN = (*_IN_TEXT, "open")


@dataclass(frozen=True, slots=True)
class DateMention:
    """Characters [start, end) of a text and the interval that they name."""

    start: int
    end: int
    text: str
    interval: DayInterval


def dates_in(text: str, written: date | datetime) -> tuple[DateMention, ...]:
    """The dates that a text names, told from the day it was written; of two that overlap, the one that begins first,
    else the longer one.

    What is a date only where one is expected ("may", "2.5", "the day", a bare number) is passed over. Time: linear in
    the length of the text.
    """
    today = _day(written)
    reading = Reading(text, today, _RULES)
    found: list[DateMention] = []
    i = 0
    near = _near_dates(reading)
    while i < len(reading):
        best = _longest(reading, i, _IN_TEXT, sure=True) if near[i] else None
        if best is None:
            i += 1
            continue
        start, end = reading.starts[i], reading.ends[best.end - 1]
        side = side_of(text, start, end)
        if side:
            beside = _longest(reading.turned(side), i, _IN_TEXT, sure=True)
            best = beside if beside is not None and beside.end == best.end else best
        found.append(DateMention(start, end, text[start:end], best.means))
        i = best.end
    return tuple(found)


def interval_of(
    phrase: str, written: date | datetime, before: str = "", after: str = ""
) -> DayInterval | None:
    """The interval that a phrase known to be a date names; None where it is not understood.

    before, after: the text around the phrase, whose verb says on which side a date without a year lies. "The next
    day", "a year earlier" and their like are told from the day named before them, where one is.
    """
    today = _day(written)
    told = told_before(phrase, before, today)
    if isinstance(told, DayInterval):
        return told
    text = before + phrase + after
    side = side_of(text, len(before), len(before) + len(phrase))
    reading = Reading(phrase, told or today, _RULES, side)
    best: tuple[int, Settled] | None = None
    for i in range(len(reading)):
        found = _longest(reading, i, _IN_A_SPAN, sure=False)
        if found is not None and (best is None or found.end - i > best[0]):
            best = found.end - i, found
    return best[1].means if best else None


_FROM_THE_TOLD_DAY = re.compile(
    r"(?:on |until |by |since )?(?:then|that (?:same )?day|"
    r"the (?:same |next |following |previous )?day(?: before| after)?|"
    r"the (?:previous|following|next|preceding) \w+day|[\w ]+ (?:earlier|later|before|after))",
    re.IGNORECASE,
)
_THAT_DAY = re.compile(
    r"(?:on |until |by |since )?(?:then|that (?:same )?day|the (?:same )?day)", re.IGNORECASE
)
_LISTED = re.compile(r"\s*(?:,|and|or|to|through|-|–)\s*(?:the\s+)?")
_REACH = 600


def told_before(phrase: str, before: str, today: date) -> DayInterval | date | None:
    """What a phrase that leans on a date told before it means ("April 24 and [25]", "then"), or the day to read it
    from; None for a phrase that stands for itself.
    """
    number = re.fullmatch(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)?", phrase.strip())
    if number is None and not _FROM_THE_TOLD_DAY.fullmatch(phrase.strip()):
        return None
    near = before[-_REACH:]
    days = [
        m
        for m in dates_in(near, today)
        if m.interval.grain is Grain.DAY and m.interval.first == m.interval.last
    ]
    if not days:
        return None
    last = days[-1].interval
    if number is None:
        return last if _THAT_DAY.fullmatch(phrase.strip()) else last.first
    if last.first is None or not _LISTED.fullmatch(near[days[-1].end :]):
        return None
    try:
        on = last.first.replace(day=int(number[1]))
    except ValueError:
        return None
    return DayInterval(on, on, Grain.DAY, last.modality, last.confidence)


def _longest(r: Reading, i: int, kinds: tuple[str, ...], *, sure: bool) -> Settled | None:
    best: Settled | None = None
    for kind in kinds:
        found = r.days(kind, i)
        if found is not None and (found.sure or not sure) and (best is None or found.end > best.end):
            best = found
    return best


def _near_dates(r: Reading) -> bytearray:
    """For each token whether a word that dates are made of stands there or a few words on: elsewhere none begins."""
    near = bytearray(len(r))
    for i, word in enumerate(r.words):
        if word in HINTS or word[0].isdigit():
            begin = max(0, i - _FARTHEST_HINT)
            near[begin : i + 1] = b"\1" * (i + 1 - begin)
    return near


def _day(written: date | datetime) -> date:
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
"""What a sentence without any other cue sets an end to, ending with the date: `ship by the 15th of March`."""
_ABBREVIATED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|St|No|Corp|Inc|Co|Ltd|Jan|Feb|Aug|Sept|Oct|Nov|Dec|[A-Z])\.\s+$"
)


def side_of(text: str, start: int, end: int) -> int:
    """-1 past, 1 future, 0 undecided, for what stands in characters [start, end) of a text.

    The nearest cue of its sentence decides; what stands before it is read first. A sentence without one sets a
    deadline, or goes on in the time of the sentences before. A cue for what is to come wins over a past form that
    overlaps it ("expected", "was scheduled to").
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
    found = _last_cue(before) or _first_cue(after)
    if not found and _DEADLINE.search(before + text[start:end]):
        return 1
    return found or _last_cue(earlier)


def _last_cue(text: str) -> int:
    cues = [(m.end(), 1) for m in _AHEAD.finditer(text)]
    cues += [(m.end(), -1) for m in _BACK.finditer(_without_ahead(text))]
    return max(cues)[1] if cues else 0


def _first_cue(text: str) -> int:
    cues = [(m.start(), 1) for m in _AHEAD.finditer(text)]
    cues += [(m.start(), -1) for m in _BACK.finditer(_without_ahead(text))]
    return min(cues)[1] if cues else 0


def _without_ahead(text: str) -> str:
    """The text with the cues for what is to come blanked, so that "was expected" is not read as past."""
    return _AHEAD.sub(lambda m: " " * len(m[0]), text)
