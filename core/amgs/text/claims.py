"""Find the claims of a sentence that another could contradict: its values, its subject, its cues of change and
negation.

The rules know English and no subject.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from amgs.text.markdown import links

_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_WORD = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ][\w'’-]*")
_NUMBER = re.compile(
    r"(?<![\w.,:/-])(?:(?P<time>\d{1,2}:\d{2})|(?P<code>\d{2,}(?:[ /-]\d{2,}){2,}|\d{3,}[ /-]\d{3,})"
    r"|(?P<number>\d{1,3}(?:[,’']\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?))(?![\w/]|:\d|-\d)"
)
SPELLED: Mapping[str, float] = {
    word: float(n)
    for n, word in enumerate(
        re.findall(
            r"\w+",
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
            "sixteen seventeen eighteen nineteen twenty",
        )
    )
} | {"thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "hundred": 100.0}
_ORDINALS = {w: n for n, w in enumerate(re.findall(r"\w+", "first second third fourth fifth sixth seventh eighth"), 1)}
DAYS = frozenset(re.findall(r"\w+", "monday tuesday wednesday thursday friday saturday sunday"))
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
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_SPAN = r" \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?\s*(?:[–—-]|to|through|until)"
"""Text after "from May" that makes it a span ("from May 15 to 16") and not a change."""
CHANGE = re.compile(
    r"\bno longer\b|\bnot any ?more\b|\bany ?more\b|\bany longer\b"
    r"|\bno more\b|\binstead\b|\bfrom (?:now on|today|tomorrow|next \w+)\b"
    r"|\bchange of plans?\b|\bstop \w+ing\b|\bas of\b"
    rf"|\bfrom (?:the )?\d{{1,2}}(?:st|nd|rd|th)? [A-Z]\w+|\bfrom (?:{_MONTHS})\b(?!{_SPAN})"
    r"|\bfrom [A-Z]\w+ (?:on|onwards)\b"
    r"|\bsince [^.]{0,40}\bnow\b|\bnow (?:on|at|with|in)\b|\b(?:is|are|has|have) now\b|\bnow\b(?=\s*(?:[,.;]|$))"
    r"|\breplac(?:es|ed|ing)\b|\bsuperse\w+\b|\bused to\b|\bformer(?:ly)?\b|\bpreviously\b|\buntil now\b"
    r"|\b(?:switch|upgrade|downgrade|migrate|convert)(?:e?[ds])?\b[^.]{0,40}\b(?:to|from|over)\b"
    r"|\bmov(?:es?|ed)\b[^.]{0,40}\b(?:to|from)\b|\btakes? over\b|\btook over\b"
    r"|\bchanged? (?:to|from)\b|\b(?:raised|lowered|increased|reduced)\b[^.]{0,40}\b(?:to|from)\b|\bsucceeds?\b"
    r"|\brather than\b|\bnew (?:number|price|rate|rule|limit|address|hours?|time|channel|supplier|name|date|day|code"
    r"|password|chair\w*|owner|version|phone|place|schedule|plan)\b"
    r"|^\W*now (?:the|our|my)\b|\bnow (?:it|they|we|he|she)\b|\b(?:renamed|rescheduled|postponed|slipped)\b"
    r"|\bbrought forward\b"
    r"|\b(?:allowed|permitted|open|possible|fine|ok(?:ay)?|safe|back|welcome|available|works?|valid|on|off)\b"
    r"[^.]{0,20}\bagain\b|(?:\bnot\b(?! only)|n['’]t\b)[^.,;]{1,40}\bbut\b(?! also)"
    r"|, not [\w'’-]+(?: [\w'’-]+)?\W*$",
    re.IGNORECASE,
)
"""Cues that something has changed."""

END = re.compile(
    r"\b(?:cancel\w*|abolish\w*|discontinu\w*|withdr[ae]w\w*|revoked|expired|ended|sold|closed down|dissolved)\b"
    r"|\b(?:gave|given|gives) (?:[\w'’-]+ ){0,3}(?:up|back)\b|\bhand(?:s|ed) (?:[\w'’-]+ ){0,3}over\b"
    r"|\bpass(?:es|ed)? (?:[\w'’-]+ ){0,4}(?:on|over) to\b"
    r"|\b(?:steps?|stepped) down\b|\bresign\w*|\bretir(?:es|ed)\b|\b(?:is|are|has) gone\b",
    re.IGNORECASE,
)
"""Cues that something ended or changed hands."""

CORRECTION = re.compile(
    r"\bcorrect(?:ed|ion|s)\b|\berrat\w+|\bmistake\b|\b(?:scratch|disregard|forget|ignore) (?:that|this|what)\b"
    r"|\bnever ?mind\b|\bI mean(?:t)?\b|^\W*(?:sorry|oops|update|edit|amendment)\b|\bafter all\b|\bturns out\b"
    r"|\bactually,? (?:it|that|this|he|she|they)\b|\bI was wrong\b|\bmake (?:that|it)\b"
    r"|\bI misspoke\b|\bwrong \w+ (?:earlier|before|above)\b"
    r"|\b(?:is|was|were|are) (?:wrong|mistaken|false|not true|not right)\b"
    r"|^\W*(?:korrektur|berichtigung|correcci[oó]n|rectification|correzione|correção|correctie|rättelse|rettelse"
    r"|korreksjon|sprostowanie|исправление|поправка)(?=\s*(?:[^\w\s]|\Z))",
    re.IGNORECASE,
)
"""Cues that an earlier statement was wrong."""

REMAINS = re.compile(
    r"\b(?:the )?rest of\b|\beverything else\b|\botherwise\b|\bunchanged\b|\bas before\b|\bexcept\b|\bhow it was\b"
    r"|\breplac(?:es|ed)\b|\bsuperse\w+\b|\bamend\w*\b|\bmarked as old\b|\b(?:stays?|remains?) (?:\w+ )?as\b",
    re.IGNORECASE,
)
"""How an amendment refers to what it amends."""

_PRONOUN = re.compile(
    r"^\W*(?:(?:and|but|so|then)\s+)?(?:it|its|that|this|they|them|these|those|he|she|his|her)\b"
    r"|\b(?:it|that|this|they) (?:has|have|is|was|are|were)\b",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"^\W*(?:I|we)\s+(?:\w+ed|sold|bought|saw|had|made|took|got|went|came|put|gave|found|ate|did|was|were|met|spent|won"
    r"|swam|drank|wrote|read|drove|flew|bought|built|sang|slept"
    r"|lost|sent|brought|kept|left|heard|ran|rode|held|paid)\b",
    re.IGNORECASE,
)
_OTHER_ONE = re.compile(
    r"\b(?:another|other|next|last|second|third|fourth|spring|summer|autumn|winter)\s+$", re.IGNORECASE
)
_COPULA = re.compile(r"\b(?:is|are|was|were|be|:|=)\s*(?:only |about |just |exactly )?$", re.IGNORECASE)
_RETIRED = re.compile(
    r"\b(?:instead of|rather than|no longer|not any ?more|replac(?:es|ed|ing)|no more|in place of)\s+"
    r"((?:(?!\b(?:but|and|because|since|when|from|by|with|to|in|at|on)\b)[\w'’-]+\s*){1,4})",
    re.IGNORECASE,
)
_REASSIGNED = re.compile(
    r"\bnew ([a-z][\w-]+)\b|\b(?:our|the|my|their|its) (?:[a-z]+ )?([a-z][\w-]+) (?:is|are) now\b"
    r"|\bmove[ds] (?:our|the|my|their|its) ([a-z][\w-]+) (?:to|from)\b",
    re.IGNORECASE,
)
_ROLES = (
    re.compile(
        r"\b((?:[A-Z][\w'’-]+ ){0,2}[A-Z][\w'’-]+)(?: is| was| becomes| became| has been|(?<=She)['’]s|(?<=He)['’]s) "
        r"(?:now )?(?:the |our |its )?(?:new )?([a-z][\w-]+)(?= (?:of|from|since|until|at|for)\b|[.,;])"
    ),
    re.compile(
        r"()(?:,|\boffice of|\bas|\belected) (?:the |our |its )?([a-z][\w-]+)(?= (?:of|since|from|shall|will|to)\b)"
    ),
)
"""Patterns for a person in a role, and for a role without a person."""

_FROM = re.compile(r"\bfrom\s+$", re.IGNORECASE)
_RUN = re.compile(r"\s*(?:,|and|or|to|until|–|-)\s*(?:and\s+)?", re.IGNORECASE)
_INSTEAD = (
    r"(?:\bnot|\binstead of|\bno longer(?: \w+)?|\brather than|\bfrom|\bused to be|\bformerly)"
    r"\s+(?:\w+\s+){0,2}"
)
_WAS = re.compile(r"\b(?:was|were)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_NEGATION = re.compile(
    # Who is not to forget a thing is to do it.
    r"(?:\b(?:not|never)\b|n['’]t\b)(?! (?:forget|fail|hesitate|only)\b)|\b(?:no longer|nobody|nothing|none|without)\b"
    r"|\b(?:nicht|niemals|keine?[nrsm]?|nunca|jamás|jamais|nooit|ikke)\b"
    r"|\bn(?:e\s|['’])\w+(?:\s\w+)?\s(?:pas|plus)\b"
    r"|\bno (?:puede[ns]?|es|está[ns]?|hay|tienen?|debe[ns]?|se)\b|\bnon è\b",
    re.IGNORECASE,
)


_ANNOUNCED = 5
"""Words of a sentence up to which it only announces a correction: "Scratch that.", "Change of plan:"."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a sentence. kind: number, time, code, year, ordinal or day. beside: words next to it (what it counts).

    text: as written. replaced: the sentence says that it is no longer true ("not 35"). predicate: it follows "is"
    directly. after: the value of the same kind before it in an enumeration ("Monday, Wednesday").
    """

    kind: str
    amount: str
    beside: frozenset[str]
    text: str
    replaced: bool = False
    predicate: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement: its values, its cues of change, end and correction, and whether it denies something.

    subject: stems of its content words. topic: the same with those of the statement before, where a pronoun or colon
    continues it. moves: something changes place or time. retired: words that are no longer true ("instead of
    petroleum"). attributes: what gets a new value ("the new price", "our landlord is now"). roles: (role, person) of
    "Ada is the chair"; the person is empty where none is named. others: words that a modifier marks as another
    of its kind ("second course"). remains: it says what stays. event: it reports what the writer did.
    """

    text: str
    subject: frozenset[str]
    values: tuple[Value, ...]
    change: str
    negated: bool
    topic: frozenset[str] = frozenset()
    moves: bool = False
    end: str = ""
    correction: str = ""
    retired: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    roles: tuple[tuple[str, frozenset[str]], ...] = ()
    others: frozenset[str] = frozenset()
    remains: bool = False
    event: bool = False
    links: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def claims(text: str) -> tuple[Claim, ...]:
    """Return the statements of a text with at least two content words or a value.

    A heading names a subject and claims nothing of it, unless it is a sentence itself ("The dog is 9").
    """
    statements: list[Claim] = []
    before: frozenset[str] = frozenset()
    announced = ""
    for sentence in _SENTENCE.split(text):
        heading = bool(_HEADING.match(sentence))
        if heading and not _COPULA_WITHIN.search(sentence):
            before = frozenset()
            continue
        subject, values = terms(sentence), _values(sentence)
        if not values and len(sentence.split()) <= _ANNOUNCED:
            cue = CORRECTION.search(sentence) or (sentence.endswith(":") and CHANGE.search(sentence))
            if cue:
                announced = cue[0]
                continue
        if len(subject) >= 2 or values or "[[" in sentence:
            carried = (
                before
                if statements and (_PRONOUN.search(sentence) or statements[-1].text.endswith(":"))
                else frozenset()
            )
            statements.append(_claim(sentence, subject, values, subject | carried, announced))
            announced = ""
        before = statements[-1].topic if statements and statements[-1].subject == subject else subject
    return tuple(statements)


_LINK = re.compile(r"\[\[.*?\]\]")
_COPULA_WITHIN = re.compile(r"\w (?:is|are|was|were) \w", re.IGNORECASE)


def _claim(
    sentence: str, subject: frozenset[str], values: tuple[Value, ...], topic: frozenset[str], announced: str
) -> Claim:
    """Return the claim of a sentence. announced: a correction announced by the sentence before ("Scratch
    that."); "".
    """
    change, end, wrong = (cue.search(sentence) for cue in (CHANGE, END, CORRECTION))
    correction = wrong[0] if wrong else announced
    attributes = {stem(w.lower()) for pair in _REASSIGNED.findall(sentence) for w in pair if w}
    retired = frozenset(t for phrase in _RETIRED.findall(sentence) for t in terms(phrase))
    roles = tuple((stem(role.lower()), terms(who)) for form in _ROLES for who, role in form.findall(sentence))
    return Claim(
        " ".join(sentence.split()),
        subject,
        values,
        change[0] if change else "",
        bool(_NEGATION.search(sentence)),
        topic,
        bool(change or end or correction or retired or attributes or roles),
        end[0] if end else "",
        correction,
        retired,
        frozenset(attributes) & subject,
        roles,
        frozenset(stem(m[0].lower()) for m in _WORD.finditer(sentence) if _OTHER_ONE.search(sentence[: m.start()])),
        bool(REMAINS.search(_LINK.sub(" ", sentence))),
        bool(_EVENT.search(sentence)),
        links(sentence),
    )


def terms(text: str) -> frozenset[str]:
    """Return the stems of a text's content words; numbers and days are values and not terms."""
    words = (w.lower().replace("’", "'").removesuffix("'s") for w in _WORD.findall(text))
    return frozenset(
        stem(w)
        for w in words
        if w not in _STOP
        and len(w) > 2
        and not SPELLED.keys() >= set(w.split("-"))
        and w not in _ORDINALS
        and w not in DAYS
    )


MEASURES = frozenset(
    ("old", "long", "high", "wide", "deep", "tall", "heavy", "ago", "later", "time", "minut", "hour", "day")
)
"""Words beside a unit that are no subject: "57 years old"."""


def stem(word: str) -> str:
    """Return a word without its commonest English endings."""
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _values(sentence: str) -> tuple[Value, ...]:
    """Return the values in a sentence, in order: numbers, times, codes, years, spelled numbers, ordinals and days."""
    tokens = [(m.start(), m.end(), m[0]) for m in _WORD.finditer(sentence)]
    value_spans: list[tuple[int, int, Value]] = []
    for m in _NUMBER.finditer(sentence):
        kind, amount = _number(m)
        value_spans.append((m.start(), m.end(), _value(kind, amount, sentence, m.start(), m.end(), tokens)))
    for start, end, word in tokens:
        low = word.lower()
        if low in SPELLED and low != "one":
            value_spans.append((start, end, _value("number", f"{SPELLED[low]:g}", sentence, start, end, tokens)))
        elif low in _ORDINALS:
            value_spans.append((start, end, _value("ordinal", str(_ORDINALS[low]), sentence, start, end, tokens)))
        elif low.removesuffix("s") in DAYS:
            value_spans.append((start, end, _value("day", low.removesuffix("s"), sentence, start, end, tokens)))
    return _in_runs(value_spans, sentence)


def _in_runs(value_spans: list[tuple[int, int, Value]], sentence: str) -> tuple[Value, ...]:
    """Return the values in order of the sentence; the first of an enumeration ("not Tuesday to Thursday") decides
    whether all of it is replaced. "From 30 to 35" is no enumeration.
    """
    values: list[Value] = []
    first = end = 0
    for start, stop, value in sorted(value_spans, key=lambda span: span[0]):
        last = values[-1] if values else None
        runs = last is not None and last.kind == value.kind and _RUN.fullmatch(sentence[end:start])
        if not runs:
            first = start
        elif last is not None and last.replaced and not _FROM.search(sentence[:first]):
            value = replace(value, replaced=True)
        values.append(value)
        end = stop
    return tuple(values)


def _number(match: re.Match[str]) -> tuple[str, str]:
    """Return the kind (time, code, year, number) of a number, and its normalised form."""
    if match["time"]:
        return "time", match["time"].lstrip("0")
    if match["code"]:
        return "code", re.sub(r"\D", "", match["code"])
    digits = re.sub(r"(?<=\d)[,’'](?=\d{3}\b)", "", match["number"]).replace(",", ".")
    if re.fullmatch(r"1[89]\d\d|20\d\d", digits):
        return "year", digits
    return "number", f"{float(digits):g}"


def _value(kind: str, amount: str, sentence: str, start: int, end: int, tokens: list[tuple[int, int, str]]) -> Value:
    after = [w for s, _, w in tokens if s >= end and s - end <= 2][:1]
    before = [w for _, e, w in tokens if e <= start and start - e <= 2][-1:]
    beside = frozenset(stem(w.lower()) for w in (*after, *before) if w.lower() not in _STOP)
    replaced = bool(re.search(_INSTEAD + "$", sentence[:start], re.IGNORECASE)) or bool(
        # "It was 35 and is now 42"; without a cue of change it is only a past value.
        _WAS.search(sentence[:start]) and CHANGE.search(sentence)
    )
    return Value(kind, amount, beside, sentence[start:end], replaced, bool(_COPULA.search(sentence[:start])))
