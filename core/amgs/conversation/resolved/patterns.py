"""Find mentions by their form: dates, times, amounts, addresses, paths, commands, versions, identifiers.

It needs no model, so that it runs as messages are added. A new form is a line in a table here, with its confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from amgs.conversation.slots import COMMAND, PATH
from amgs.text.intervals.grammar import DateMention, dates_in
from amgs.types.conversation import Message
from amgs.types.mention_types import MentionType
from amgs.types.mentions import ResolvedMention

BY_SHAPE: Mapping[MentionType, float] = {
    "url": 0.99,
    "email": 0.99,
    "command": 0.95,
    "path": 0.9,
    "identifier": 0.9,
    "version": 0.9,
    "money": 0.97,
    "percent": 0.97,
    "schedule": 0.9,
    "time": 0.9,
    "quantity": 0.9,
}
"""How often each form is right."""

LONGEST = 20_000
"""Characters of a message that are searched: a page of a log has more than anybody asks for."""
_OF_TOOL = 2_000
"""Characters of a tool's output that are searched for dates: a log has a date in each line."""
MOST = 200
"""Mentions of a message that are stored, the first ones."""
NAME = "shape"

_UNITS = (
    r"(?:%|per ?cent|°C?|[kKMGT]i?B|ms|k?m|cm|mm|k?g|lbs?|oz|px|mph|h|min|miles?|met(?:er|re)s?|feet|inch(?:es)?|"
    r"pounds?|kilos?|kilomet(?:er|re)s?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|tokens?|lines?|pages?|times)"
)
_FIGURE = r"[-+]?\d[\d,]*(?:\.\d+)?"
_NUMBER_WORDS = r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|fifty)"
_CURRENCY = r"(?:dollars?|euros?|pounds|bucks|cents|USD|EUR|GBP|CHF)"
_PERIOD = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|day|morning|evening|night|weekday|weekend|week|month|quarter|"
    r"year|spring|summer|autumn|fall|winter|hour)"
)
_SHAPES: tuple[tuple[MentionType, re.Pattern[str]], ...] = (
    ("url", re.compile(r"\b(?:https?://|www\.)[^\s<>\"'`)\]}]+[^\s<>\"'`)\]}.,;:!?]")),
    ("email", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+(?![\w@])")),
    ("command", COMMAND),
    ("path", PATH),
    (
        "identifier",
        re.compile(
            r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b"
            r"|(?<![\w&])#\d{1,7}\b|(?<![\w.-])[A-Z][A-Z0-9]{1,9}-\d{1,7}\b(?!-)"
        ),
    ),
    (
        "version",
        re.compile(
            r"(?<![\w.])(?:v\d+(?:\.\d+){0,3}|\d+\.\d+\.\d+(?:\.\d+)?)(?:[-+][\w.]{1,20})?"
            r"(?![\w.]*\w)"
        ),
    ),
    (
        "money",
        re.compile(
            rf"[$€£]\s?\d[\d,]*(?:\.\d+)?(?:\s?(?:k|m|bn|thousand|million|billion)\b)?"
            rf"|(?<![\w.,]){_FIGURE}\s?(?:(?:k|thousand|million|billion)\s)?(?:[€£]|{_CURRENCY}\b)",
            re.IGNORECASE,
        ),
    ),
    ("percent", re.compile(rf"(?<![\w.,]){_FIGURE}\s?(?:%|per ?cent\b)", re.IGNORECASE)),
    (
        "schedule",
        re.compile(
            rf"\b(?:every|each)\s(?:(?:single|other|second|third|few|\d{{1,2}}|{_NUMBER_WORDS})\s)?{_PERIOD}s?\b"
            r"|\b(?:once|twice|three times)\s(?:a|per|every)\s(?:day|week|month|year)\b"
            r"|\bon\s(?:mon|tues|wednes|thurs|fri|satur|sun)days\b",
            re.IGNORECASE,
        ),
    ),
    (
        "time",
        re.compile(
            r"(?<![\w:.$€£])(?:\d{1,2}(?::\d\d)?\s?(?:[ap]\.?m\.?(?!\w))|(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![\w:]))"
            r"|\b(?:noon|midnight)\b|\b\d{1,2}\so['’]clock\b",
            re.IGNORECASE,
        ),
    ),
    (
        "quantity",
        re.compile(rf"(?<![\w.,:/$€£#-])(?:{_FIGURE}|{_NUMBER_WORDS}\b)\s?(?:{_UNITS})(?![\w/])", re.IGNORECASE),
    ),
)  # fmt: skip
_DUE = re.compile(
    r"(?:\b(?:due|no later than|not later than|deadline(?:\s(?:is|of))?:?|finish(?:ed)?\sby|done\sby|ready\sby|by)"
    r"(?:\s(?:on|the|end\sof|the\send\sof))?)\s+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    type: MentionType
    means: str
    confidence: float
    because: str


def find_by_shape(message: Message) -> tuple[ResolvedMention, ...]:
    """Return the mentions of a message that the forms find, in order and without overlaps."""
    text = message.text[:LONGEST]
    taken: list[_Found] = []
    free = bytearray(b"\1" * len(text))
    for finding in (*_find_shapes(text, _FIRST), *_find_dates(message, text), *_find_shapes(text, _LATER)):
        if all(free[finding.start : finding.end]):
            free[finding.start : finding.end] = bytes(finding.end - finding.start)
            taken.append(finding)
    return tuple(
        ResolvedMention(
            message.number,
            finding.start,
            finding.end,
            text[finding.start : finding.end],
            "date" if finding.type in ("date", "deadline") else "entity",
            finding.type,
            (finding.means,),
            finding.confidence,
            finding.because,
            NAME,
        )
        for finding in sorted(taken, key=lambda finding: finding.start)[:MOST]
    )


_FIRST = ("url", "email", "command", "path", "identifier", "version", "money", "percent", "schedule")
"""Types that may contain what looks like a date."""
_LATER = ("time", "quantity")


def _find_shapes(text: str, types: tuple[str, ...]) -> Iterator[_Found]:
    """Yield the matches of these types in a text; they may overlap."""
    for type_, pattern in _SHAPES:
        if type_ in types:
            for match in pattern.finditer(text):
                group = (match.lastindex or 0) if type_ == "command" else 0
                start, end = match.span(group)
                means = " ".join(text[start:end].split())
                yield _Found(start, end, type_, means, BY_SHAPE[type_], "shape")


def _find_dates(message: Message, text: str) -> Iterator[_Found]:
    if message.at is None:
        return
    for date in dates_in(text[:_OF_TOOL] if message.role == "tool" else text, message.at):
        due = _DUE.search(text[max(0, date.start - 40) : date.start])
        type_: MentionType = "deadline" if due else "date"
        yield _Found(date.start, date.end, type_, days(date), date.interval.confidence, "told from the message's day")


def days(date: DateMention) -> str:
    """Return the days of a date as ISO 8601, with `..` for an open end."""
    interval = date.interval
    if interval.first is None or interval.last is None:
        first, last = ("" if d is None else d.isoformat() for d in (interval.first, interval.last))
        return f"{first or '..'}/{last or '..'}"
    first_day, last_day = interval.whole
    return first_day.isoformat() if first_day == last_day else f"{first_day}/{last_day}"
