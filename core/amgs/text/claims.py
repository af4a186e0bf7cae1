"""What a sentence claims that another could gainsay: its values, its subject, its cues of change and negation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_WORD = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ][\w'’-]*")
_NUMBER = re.compile(
    r"(?<![\w.,:/-])(?:(?P<time>\d{1,2}:\d{2})|(?P<code>\d{2,}(?:[ /-]\d{2,}){2,}|\d{3,}[ /-]\d{3,})"
    r"|(?P<number>\d{1,3}(?:[,’']\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?))(?![\w:/]|-\d)"
)
_SPELLED: Mapping[str, float] = {
    word: float(n)
    for n, word in enumerate(
        re.findall(
            r"\w+",
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
            "sixteen seventeen eighteen nineteen twenty",
        )
    )
} | {"thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "hundred": 100.0}
_ORDINALS = {
    w: n for n, w in enumerate(re.findall(r"\w+", "first second third fourth fifth sixth seventh eighth"), 1)
}
_DAYS = frozenset(re.findall(r"\w+", "monday tuesday wednesday thursday friday saturday sunday"))
_STOP = frozenset(
    re.findall(
        r"[\w']+",
        "a about after again all also always an and any are as at be been before being but by can could did do "
        "does for from had has have he her here him his how i if in into is it its it's just made make more most "
        "much my no not now of off on once one only or our out over own said same she should since so some still "
        "than that the their them then there there's these they this those to too two until up very was we well "
        "were what when where which while who whom why will with would you your",
    )
)
CHANGE = re.compile(
    r"\bno longer\b|\bnot any ?more\b|\binstead\b|\bfrom now on\b|\bfrom today\b|\bas of\b"
    r"|\bfrom \d{1,2} [A-Z]\w+|\bfrom [A-Z]\w+ (?:on|onwards)\b|\bsince [^.]{0,40}\bnow\b"
    r"|\bnow (?:on|at|with|in)\b|\b(?:is|are|has|have) now\b|\breplac(?:es|ed|ing)\b|\bsuperse\w+\b"
    r"|\bused to\b|\bformer(?:ly)?\b|\bpreviously\b|\bswitch(?:ed|es)? (?:to|from|over)\b"
    r"|\bnew (?:number|price|rate|rule|limit|address|hours?|time|channel|supplier|name|date|day|code|password"
    r"|chair\w*|owner|version|phone|place|schedule|plan)\b|\bmoved? (?:to|from)\b|\btakes? over\b"
    r"|\btook over\b|\bchanged? (?:to|from)\b|\b(?:raised|lowered|increased|reduced) (?:to|from)\b"
    r"|\bsucceeds?\b|\brather than\b",
    re.IGNORECASE,
)
_INSTEAD = (
    r"(?:\bnot|\binstead of|\bno longer(?: \w+)?|\brather than|\bfrom|\bwas|\bwere|\bused to be|\bformerly)"
    r"\s+(?:\w+\s+){0,2}"
)
_NEGATION = re.compile(r"\b(?:not|never|no longer|nobody|nothing|none|without)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """A value and what it counts or names: words beside it. kind: number, time, code, year, ordinal or day.

    text: as written. replaced: the sentence says of it that it holds no more ("not 35").
    """

    kind: str
    amount: str
    beside: frozenset[str]
    text: str
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence: subject (content words, shortened), values, whether it speaks of a change or denies."""

    text: str
    subject: frozenset[str]
    values: tuple[Value, ...]
    change: str
    negated: bool


@lru_cache(maxsize=4096)
def claims(text: str) -> tuple[Claim, ...]:
    """The sentences of a text with at least two content words or a value."""
    found = []
    for sentence in _SENTENCE.split(text):
        if _HEADING.match(sentence):
            continue  # A heading names a subject and claims nothing of it.
        subject = terms(sentence)
        values = _values(sentence)
        if len(subject) >= 2 or values:
            cue = CHANGE.search(sentence)
            found.append(
                Claim(
                    " ".join(sentence.split()),
                    subject,
                    values,
                    cue[0] if cue else "",
                    bool(_NEGATION.search(sentence)),
                )
            )
    return tuple(found)


def terms(text: str) -> frozenset[str]:
    """Content words, shortened so that forms of one word meet; numbers and days are values, not terms."""
    words = (w.lower().replace("’", "'").removesuffix("'s") for w in _WORD.findall(text))
    return frozenset(
        stem(w)
        for w in words
        if w not in _STOP and len(w) > 2 and w not in _SPELLED and w not in _ORDINALS and w not in _DAYS
    )


def stem(word: str) -> str:
    """A word without its commonest English endings."""
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _values(sentence: str) -> tuple[Value, ...]:
    tokens = [(m.start(), m.end(), m[0]) for m in _WORD.finditer(sentence)]
    found = []
    for m in _NUMBER.finditer(sentence):
        kind, amount = _number(m)
        found.append(_value(kind, amount, sentence, m.start(), m.end(), tokens))
    for start, end, word in tokens:
        low = word.lower()
        if low in _SPELLED and low != "one":
            found.append(_value("number", f"{_SPELLED[low]:g}", sentence, start, end, tokens))
        elif low in _ORDINALS:
            found.append(_value("ordinal", str(_ORDINALS[low]), sentence, start, end, tokens))
        elif low.removesuffix("s") in _DAYS:
            found.append(_value("day", low.removesuffix("s"), sentence, start, end, tokens))
    return tuple(found)


def _number(match: re.Match[str]) -> tuple[str, str]:
    if match["time"]:
        return "time", match["time"].lstrip("0")
    if match["code"]:
        return "code", re.sub(r"\D", "", match["code"])
    digits = re.sub(r"(?<=\d)[,’'](?=\d{3}\b)", "", match["number"]).replace(",", ".")
    if re.fullmatch(r"1[89]\d\d|20\d\d", digits):
        return "year", digits
    return "number", f"{float(digits):g}"


def _value(
    kind: str, amount: str, sentence: str, start: int, end: int, tokens: list[tuple[int, int, str]]
) -> Value:
    after = [w for s, _, w in tokens if s >= end and s - end <= 2][:1]
    before = [w for _, e, w in tokens if e <= start and start - e <= 2][-1:]
    beside = frozenset(stem(w.lower()) for w in (*after, *before) if w.lower() not in _STOP)
    replaced = bool(re.search(_INSTEAD + "$", sentence[:start], re.IGNORECASE))
    return Value(kind, amount, beside, sentence[start:end], replaced)
