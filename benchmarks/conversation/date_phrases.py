"""What a phrase means that is known to be a date, as the annotated corpora give them: a phrase that running text holds
without a date in mind ("May", "2.5") is read, an end may stay open ("since May"), and a phrase may lean on a date told
before it ("the next day"). The program reads running text alone, with the same rules but these.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime, timedelta

from amgs.text.intervals import DayInterval, Grain, Modality, dates_in
from amgs.text.intervals.grammar import IN_TEXT, RULES, day_of, find_longest, side_of
from amgs.text.intervals.periods import read_counts
from amgs.text.intervals.reading import Found, Reading, Settled

_LEADS: tuple[tuple[Modality, bool, tuple[str, ...]], ...] = (  # how, whether the named days are left out, the words
    (Modality.BEFORE, True, ("earlier than", "prior to", "before", "less than", "<")),
    (Modality.BEFORE, False, ("not later than", "no later than", "up until", "as late as", "until", "till", "by")),
    (Modality.BEFORE, False, ("ending", "< =", "through")),
    (Modality.AFTER, True, ("later than", "greater than", "after", ">")),
    (Modality.AFTER, False, ("no earlier than", "not earlier than", "as early as", "any time from", "since", "from")),
    (Modality.AFTER, False, ("starting from", "starting on", "starting", "beginning", "> =")),
)
_TAILS: tuple[tuple[Modality, tuple[str, ...]], ...] = (
    (Modality.BEFORE, ("or earlier", "and earlier", "or before", "and before", "or sooner")),
    (Modality.AFTER, ("or later", "and later", "or after", "and after", "and beyond", "onwards", "onward", "or newer")),
)


def _open(r: Reading, i: int) -> Found | None:
    """Before 2019, since May, by the end of the month, later than 2020, more than 2 weeks after today."""
    rough = r.after(i, "more than", "less than", "at least", "over")
    told = read_counts(r, rough) if rough is not None else None
    if told is not None and r.at(told[0]) in ("before", "after", "from"):
        day = r.days("point", rough or i)
        if day is None:
            return None
        return _opened(day, Modality.BEFORE if r.at(told[0]) == "before" else Modality.AFTER, beyond=False)
    for side, beyond, phrases in _LEADS:
        for phrase in phrases:
            j = r.after(i, phrase)
            whole = _whole(r, j) if j is not None else None
            if whole is not None:
                return _opened(whole, side, beyond=beyond)
    named = _whole(r, i)
    if named is None:
        return None
    for side, phrases in _TAILS:
        end = r.after(named.end, *phrases)
        if end is not None and not r.at(end).isdigit():  # "on 1/1/2016 and after 6 pm" is that day
            return _opened(named._replace(end=end), side, beyond=False)
    return None


def _whole(r: Reading, i: int) -> Settled | None:
    options = [r.days("point", i), r.days("period", i)]
    return max((o for o in options if o is not None), key=lambda o: o.end, default=None)


def _opened(named: Settled, side: Modality, *, beyond: bool) -> Found | None:
    """One end left open. beyond: the named days are not part of it ("after 2020" begins in 2021); a single day is."""
    means = named.means
    if means.first is None or means.last is None:
        return None
    outside = beyond and means.grain is not Grain.DAY and means.modality is Modality.ON
    if side is Modality.BEFORE:
        last = means.first - timedelta(days=1) if outside else means.last
        return Found(named.end, DayInterval(None, last, means.grain, side, means.confidence), named.sure)
    first = means.last + timedelta(days=1) if outside else means.first
    return Found(named.end, DayInterval(first, None, means.grain, side, means.confidence), named.sure)


def _about(r: Reading, i: int) -> Found | None:
    """Around the 21st, about March, sometime last week."""
    j = r.after(i, "around", "about", "circa", "sometime in", "sometime", "approximately")
    day = _whole(r, j) if j is not None else None
    if day is None:
        return None
    means = replace(day.means, modality=Modality.ABOUT, confidence=day.means.confidence * 0.9)
    return Found(day.end, means, day.sure)


_PHRASE_RULES = {**RULES, "open": (_open, _about)}
_IN_A_SPAN = (*IN_TEXT, "open")


def interval_of(phrase: str, written: date | datetime, before: str = "", after: str = "") -> DayInterval | None:
    """The interval that a phrase known to be a date names; None where it is not understood.

    before, after: the text around the phrase, whose verb says on which side a date without a year lies. "The next
    day", "a year earlier" and their like are told from the day named before them, where one is.
    """
    today = day_of(written)
    told = told_before(phrase, before, today)
    if isinstance(told, DayInterval):
        return told
    text = before + phrase + after
    side = side_of(text, len(before), len(before) + len(phrase))
    reading = Reading(phrase, told or today, _PHRASE_RULES, side)
    best: tuple[int, Settled] | None = None
    for i in range(len(reading)):
        found = find_longest(reading, i, _IN_A_SPAN, sure=False)
        if found is not None and (best is None or found.end - i > best[0]):
            best = found.end - i, found
    return best[1].means if best else None


_FROM_THE_TOLD_DAY = re.compile(
    r"(?:on |until |by |since )?(?:then|that (?:same )?day|"
    r"the (?:same |next |following |previous )?day(?: before| after)?|"
    r"the (?:previous|following|next|preceding) \w+day|[\w ]+ (?:earlier|later|before|after))",
    re.IGNORECASE,
)
_THAT_DAY = re.compile(r"(?:on |until |by |since )?(?:then|that (?:same )?day|the (?:same )?day)", re.IGNORECASE)
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
    days = [m for m in dates_in(near, today) if m.interval.grain is Grain.DAY and m.interval.first == m.interval.last]
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
