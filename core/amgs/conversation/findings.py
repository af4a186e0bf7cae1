"""Find the parts of a text that must not be lost (names, numbers, dates, paths, commands, ids, decisions),
and what a conversation leaves to be done: questions, each open or closed by an answer, goals and commitments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeGuard, get_args

from amgs.index.entity_index import build_entity_index
from amgs.text.intervals.grammar import dates_in
from amgs.text.names import read_names
from amgs.text.prose import sentences, units

ActKind = Literal["question", "goal", "commitment"]

_GOAL = re.compile(
    r"\b(?:i|we)(?:'?d like| would like| want| wanna| need| hope| plan| aim| intend|(?:'?m| am|'?re| are) "
    r"(?:trying|hoping|planning|aiming|looking|thinking)|(?:'ve| have) (?:decided|been (?:trying|planning|meaning)))"
    r" (?:(?:to|for|on|of|about|into)\s+)+(?:just )?(?!be clear|be honest|know\b|thank\b|say\b|ask\b|show\b|add\b|"
    r"see\b|hear\b|note\b|point\b|make (?:it )?clear|mention\b|congratulate\b|welcome\b|talk\b|tell\b|you\b|"
    r"it\b|that\b|this\b|them\b|him\b|her\b)\w+|\b(?:i|we) wanna (?!know\b|say\b|ask\b|hear\b|see\b|be\b)\w+|"
    r"\b(?:my|our|the) (?:(?:main|next|big|ultimate) )?(?:goal|aim|objective|dream|plan) is\b"
    r"|^(?:\W*(?:ok|okay|and|so|then|now|great|thanks)\W+)*please (?!note|let me know|keep|remember|feel|see)\w+",
    re.IGNORECASE,
)
_COMMITMENT = re.compile(
    r"(?:\b(?:i|we)(?:'ll| will| shall|(?:'?m| am|'?re| are) (?:going to|gonna)| promise to)|"
    r"(?:^|[,;:.] |\b(?:and|so|then|but|ok|okay) )ill|^\W*(?:gonna|will(?= do\b)))\s+"
    r"(?:\w+ly |also |just |then |have to |need to |be sure to |make sure (?:to |that )?)*"
    r"(?!not\b|never\b|always\b|probably\b|be\b|become\b|bet\b|guess\b|say\b|admit\b|miss\b|love\b|like\b|"
    r"enjoy\b|feel\b|know\b|think\b|understand\b|remember\b|trust\b|leave\b|keep\b|continue\b|look forward|"
    r"reach out|try (?:my|our) best|do (?:my|our) best|see you|talk (?:to|soon)|make (?:it|some|a difference)|"
    r"have (?:a|the|some|fun|no)\b|get (?:there|through|better)|a\b|the\b)\w+",
    re.IGNORECASE,
)
"""Said of what somebody does, not of how he is, feels or stays: "I'll keep going" is nothing that gets done."""
_HEDGED = re.compile(
    r"\b(?:know|knew|sure|hope|wonder|wish|how|what|where|why|which|until|that|whether|if|when|whenever|once|as|what's)"
    r"\W+$",
    re.IGNORECASE,
)
"""Before an act it makes something else of it: "I know I'll …", "the way that we will …"."""
_HEDGE = 16
"""Characters that a word of _HEDGED takes at most."""
_CONDITION = re.compile(
    r"^\W*(?:if|when|whenever|unless)\b|(?<!see )(?<!check )(?<!ask )\bif (?:i|you|we)\b", re.IGNORECASE
)
_KINDS: tuple[tuple[ActKind, re.Pattern[str]], ...] = (("commitment", _COMMITMENT), ("goal", _GOAL))
_REPLY_WITHIN = 3
"""Messages after a question in which an answer closes it."""
_NODS = frozenset(re.findall(r"\S+", "m mm hmm mhm uh huh um hm ah oh okay ok right sure cool wow"))
"""Words of a listener: alone they answer nothing."""


@dataclass(frozen=True, slots=True)
class DialogueAct:
    """A sentence that asks, wants or promises. place: of its message, from 0; start, end: in its text. chance: in [0,
    1], how likely it is an open point. closed_by: the place of the message that closed it, None while it is open.
    """

    kind: ActKind
    place: int
    start: int
    end: int
    chance: float
    closed_by: int | None = None


def acts(texts: Sequence[str], speakers: Sequence[str]) -> tuple[DialogueAct, ...]:
    """Find the acts of n messages in the order of time. speakers: who said each. An answer closes a question; a goal
    and a promise stay open: people in chats hardly ever tell that they are done.
    """
    silent = [_only_asks(text) or _nods(text) for text in texts]
    dialogue_acts: list[DialogueAct] = []
    for place, text in enumerate(texts):
        for start, end in sentences(text):
            sentence = text[start:end].replace("’", "'")
            if chance := question_chance(sentence):
                answer = _find_answer(place, speakers, silent)
                dialogue_acts.append(DialogueAct("question", place, start, end, chance, answer))
            elif kind := next((kind for kind, act in _KINDS if _acts(act, sentence)), None):
                dialogue_acts.append(DialogueAct(kind, place, start, end, 0.5))
    return tuple(dialogue_acts)


def commits(sentence: str) -> bool:
    """Return whether a sentence promises something."""
    return _acts(_COMMITMENT, sentence.replace("’", "'"))


def _acts(act: re.Pattern[str], sentence: str) -> bool:
    """Return whether a sentence promises or wants, and no condition or doubt takes it back."""
    if _CONDITION.search(sentence):
        return False
    return any(not _HEDGED.search(sentence[: match.start()][-_HEDGE:]) for match in act.finditer(sentence))


def _only_asks(text: str) -> bool:
    """Return whether a message says nothing beside its questions."""
    return all(is_question(text[a:b]) for a, b in sentences(text))


def _nods(text: str) -> bool:
    """Return whether a message only shows that its speaker listens."""
    return not set(question_words(text.replace("-", " "))) - _NODS


def _find_answer(place: int, speakers: Sequence[str], silent: Sequence[bool]) -> int | None:
    """Find the first message soon after in which another speaker says something that is no question."""
    for later in range(place + 1, min(len(speakers), place + 1 + _REPLY_WITHIN)):
        if speakers[later] != speakers[place] and not silent[later]:
            return later
    return None


_WORD = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*")
_ASKED = re.compile(r"\?[?!]*[\"'”’)\]]*$")
_ENDED = re.compile(r"[.!…][\"'”’)\]]*$")
_FILLERS = frozenset(
    re.findall(
        r"\S+",
        "uh um well so and but okay ok oh like yeah yes no right hmm mmm mm uhhuh then now hey wow haha lol also "
        "because or hi hello",
    )
)
_TWO_WORDS = (["you", "know"], ["i", "mean"])
ASKING = frozenset(
    re.findall(
        r"\S+",
        "what who where when why which how whose whom do does did is are was were can could will would should have "
        "has had am may might shall don't doesn't didn't isn't aren't wasn't can't couldn't won't wouldn't shouldn't "
        "haven't hasn't what's who's where's how's",
    )
)
"""Words of questions, and those that a question turns round."""
_ASKS_UNMARKED = 0.8
"""How likely a sentence of chats asks that ends without a mark and begins as questions do; in speech it is half."""


def question_chance(sentence: str) -> float:
    """Return how likely a sentence asks: 1 with a question mark; without any mark by the word after its fillers; else
    0.
    """
    if _ASKED.search(sentence):
        return 1.0
    words = drop_fillers(question_words(sentence))
    return _ASKS_UNMARKED if words and words[0] in ASKING and not _ENDED.search(sentence) else 0.0


def is_question(sentence: str) -> bool:
    return question_chance(sentence) > 0.0


def question_words(sentence: str) -> list[str]:
    """Return words in lower case, without marks."""
    return _WORD.findall(sentence.lower().replace("’", "'"))


def drop_fillers(words: Sequence[str]) -> Sequence[str]:
    """Return the words after "well", "okay so", "you know" and their like; at least one is left."""
    at = 0
    while at < len(words) - 1:
        if words[at] in _FILLERS:
            at += 1
        elif list(words[at : at + 2]) in _TWO_WORDS and at < len(words) - 2:
            at += 2
        else:
            break
    return words[at:]


Slot = Literal["sentence", "decision", "question", "commitment", "name", "number", "date", "path", "command", "id"]
SLOTS: tuple[Slot, ...] = get_args(Slot)

_DECISION = re.compile(
    r"\b(?:(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|chosen|settled)|"
    r"let'?s (?:go with|use|keep|take|stick)\b(?! in)|"
    r"(?:we|i)(?:'ll| will) (?:use|go with|stick (?:with|to))|(?:decision|decided|agreed)\s*:)",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(r"\b(?:if|unless|whether|until|once) (?:we|i|you)\b", re.IGNORECASE)
_UNITS = (
    r"(?:%|°[CF]?|percent\b|[kKMGT]i?B\b|ms\b|s\b|min\b|h\b|km\b|cm\b|mm\b|m\b|kg\b|g\b|px\b|tokens?\b|lines?\b|"
    r"dollars?\b|euros?\b|pounds?\b|seconds?\b|minutes?\b|hours?\b|(?:thousand|[mb]illion)\b)"
)
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*"
_TENS = r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ONES = r"one|two|three|four|five|six|seven|eight|nine"
_SPOKEN = (
    rf"(?:(?:{_ONES}|ten|eleven|twelve|\w+teen|{_TENS}|an?)[ -]+)*"
    rf"(?:eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|{_TENS}|hundred|thousand|[mb]illion)"
    rf"(?:(?:[ -]and)?[ -](?:{_ONES}|ten|{_TENS}|hundred|thousand|[mb]illion|percent))*"
)
_NUMBER = re.compile(
    rf"(?<![\w./:#-])[-+]?(?:[$€£] ?)?(?:{_DIGITS})(?:[-–](?:{_DIGITS}))?"
    rf"(?: ?{_UNITS}|[a-z]{{3,}}\b|k\b)?(?![\w/:]|-\w*\d)"
    rf"|\b{_SPOKEN}\b(?: (?:{_UNITS}))?",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<![\w:.])(?:[01]?\d|2[0-3])(?::[0-5]\d){1,2}(?: ?[ap]\.?m\b)?(?![\w:])|(?<![\w:.])\d{1,2} ?[ap]m\b", re.I
)
_SUFFIXES = (
    r"py|md|js|jsx|ts|tsx|rs|go|c|h|cc|cpp|hpp|java|kt|rb|php|swift|sh|ps1|bat|json|jsonl|ya?ml|toml|txt|csv|tsv|sql|html?|"
    r"css|scss|lock|cfg|ini|conf|env|log|xml|proto|ipynb|parquet|db|duckdb|pdf|docx?|xlsx?|png|jpe?g|svg|zip|gz|tar|whl"
)
PATH = re.compile(
    r"(?<![\w/:.~@-])(?:(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]*)*|[\w.@+-]+(?:/[\w.@+-]+)+\.\w+|"
    r"[A-Za-z]:\\[\w.@+-]+(?:\\[\w.@+-]+)*|"
    rf"[\w-]+(?:\.[\w-]+)*\.(?:{_SUFFIXES}))(?![\w/\\])(?<![.])"
)
_FRACTION = re.compile(r"/[\d.]*")
_VERSION = re.compile(r"\d+\.\d+\.\d")
"""What looks like a day and is none."""
_RUN = (
    r"(?:git|pip3?|pipx|python3?|node|npm|npx|pnpm|yarn|bun|deno|cargo|rustc|go|make|cmake|docker|podman|kubectl|helm|"
    r"terraform|pytest|mypy|ruff|uv|poetry|apt(?:-get)?|brew|cd|ls|cat|cp|mv|rm|mkdir|chmod|grep|rg|find|sed|awk|tar|curl|"
    r"wget|ssh|scp|rsync|systemctl|psql|sqlite3|sudo|bash|sh|amgs)"
)
COMMAND = re.compile(
    rf"(?m)^[ \t]*[$>] +(\S[^\n]*)|`({_RUN}\b[^`\n]*|[\w./-]+(?: [^`\n]*)? --?\w[^`\n]*)`"
    r"|\"(?:command|cmd|script)\"\s*:\s*\"((?:[^\"\\\n]|\\.)+)\""
    rf"|^[ \t]*({_RUN}(?: [^\n]*)? --?\w[^\n]*)$"
)
_SHELL = re.compile(
    r"(?ms)^[ \t]*(?:```|~~~) *(?:sh|bash|zsh|shell|console|powershell)?[ \t]*\n(.*?)^[ \t]*(?:```|~~~)"
)
_LINE_OF_SHELL = re.compile(rf"(?m)^[ \t]*({_RUN} [^\n]*)$")
_ID = re.compile(
    r"https?://[^\s<>\"'`)\]}]*[\w/=&%#~-]"
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])"
    r"|(?<![\w./-])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,64}(?![\w-])"
    r"|(?<![\w./-])(?=[A-Z0-9/-]*\d)[A-Z]{1,8}[-_]?\d*(?:[-_][A-Z0-9]{2,})*-?\d[\dA-Z]*(?:-[A-Z0-9]+)*(?![\w-])"
    r"|(?<![\w&/])#\d+\b"
    r"|(?<![\w.])v\d+(?:\.\d+)+\b|(?<![\w.:-])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?![\w.])"
)
_LONGEST = 200_000
"""Characters of a message that are read."""
_UNKNOWN = datetime(2000, 1, 1, tzinfo=UTC)
"""When a message was written that does not say: it changes which day is meant, and not where one is named."""
_LEAST = 0.5
"""Confidence below which a date says hardly more than that time passes ("lately")."""


def find_slots(
    text: str, written: datetime | None = None, names: re.Pattern[str] | None = None
) -> Iterator[tuple[Slot, int, int]]:
    """Yield (slot, start, end) of each finding in a message. names: those of its conversation, see `names_of`."""
    text = text[:_LONGEST]
    for start, end in sentences(text):
        sentence = text[start:end].replace("’", "'")
        if _DECISION.search(sentence) and not _UNDECIDED.search(sentence) and not sentence.endswith("?"):
            yield "decision", start, end
    taken: list[tuple[int, int]] = []
    for match in COMMAND.finditer(text):
        group = match.lastindex or 0
        taken.append(match.span(group))
        yield "command", *match.span(group)
    for block in _SHELL.finditer(text):
        for match in _LINE_OF_SHELL.finditer(text, *block.span(1)):
            if not _overlaps(match, taken):
                taken.append(match.span(1))
                yield "command", *match.span(1)
    within = len(taken)
    for match in _ID.finditer(text):
        taken.append(match.span())
        yield "id", *match.span()
    for match in PATH.finditer(text):
        if not _FRACTION.fullmatch(match[0]) and not _overlaps(match, taken[within:]):
            taken.append(match.span())
            yield "path", *match.span()
    for date in dates_in(text, written or _UNKNOWN):
        sure = date.interval.confidence >= _LEAST and not _VERSION.fullmatch(date.text)
        if sure and not any(a < date.end and date.start < b for a, b in taken[within:]):
            taken.append((date.start, date.end))
            yield "date", date.start, date.end
    patterns: tuple[tuple[Slot, re.Pattern[str]], ...] = (
        ("date", _TIME),
        ("number", _NUMBER),
        ("name", names or names_of([text])),
    )
    for slot, pattern in patterns:
        for match in pattern.finditer(text):
            if not _overlaps(match, taken):
                taken.append(match.span())
                yield slot, *match.span()


def _overlaps(match: re.Match[str], taken: list[tuple[int, int]]) -> bool:
    return any(a < match.end() and match.start() < b for a, b in taken)


NO_NAMES = re.compile(r"(?!)")
_NO_NAME = re.compile(
    r".*['’](?:ve|ll|re|d|m|t)|(?:mm+|hm+|uh|um|oh|ah|yeah|yea|okay|kay|ok|right|alright|sorry|hello|hi|god|mister|"
    r"given|especially|euros?|dollars?|pounds?)(?:[ -].*)?",
    re.IGNORECASE,
)
"""Words of speech that are written with a capital in the middle of a sentence."""


def names_of(texts: Sequence[str], speakers: Sequence[str] = ()) -> re.Pattern[str]:
    """Return what finds the names of a conversation in its texts. speakers: who says each, whose names are known."""
    small: Counter[str] = Counter()
    readings = {}
    for number, text in enumerate(texts):
        readings[number], lower = read_names(text)
        small.update(lower)
    said_by = {number: who.lower() for number, who in enumerate(speakers) if who}
    things = build_entity_index(readings, small, speakers=said_by, titled={}, marked={}).things
    forms = {form for thing in things for form in thing.forms if _may_be(form)}
    if not forms:
        return NO_NAMES
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile(rf"(?<![\w@/.-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w@/]|-\w)")


def find_names(text: str) -> list[str]:
    """Return what one text alone may name: its runs of capitalised words, without a word that only opens a sentence."""
    names = []
    for use in read_names(text)[0].uses:
        rest = use.text.partition(" ")[2] if use.opens else use.text
        if rest and not use.software and _may_be(rest):
            names.append(rest)
    return list(dict.fromkeys(names))


def _may_be(form: str) -> bool:
    return any(c.isupper() for c in form) and _NO_NAME.fullmatch(form) is None


ElementClass = Literal["decision", "commitment", "negation", "name", "number", "date", "path", "command", "id"]
ELEMENT_CLASSES: tuple[ElementClass, ...] = get_args(ElementClass)
EXACT: frozenset[str] = frozenset({"name", "number", "date", "path", "command", "id"})
"""Classes of words that mean something else, or nothing, once they are changed; the others are sentences."""

_NEGATION = re.compile(
    r"\b(?:not|never|no longer|none|neither|nor|nobody|nothing|cannot|without)\b|"
    r"\b(?:do|does|did|is|are|was|were|ca|could|wo|would|should|must|has|have|had|need|ai)n['’]t\b",
    re.IGNORECASE,
)


def elements_of(text: str, written: datetime | None, names: re.Pattern[str]) -> Iterator[tuple[ElementClass, int, int]]:
    """Yield (class, start, end) of each finding in what a message says. names: see `names_of`."""
    for slot, start, end in find_slots(text, written, names):
        if _is_class(slot):
            yield slot, start, end
    for start, end in units(text):
        sentence = text[start:end]
        if commits(sentence):
            yield "commitment", start, end
        if denies(sentence):
            yield "negation", start, end


def denies(sentence: str) -> bool:
    """Return whether a sentence denies something."""
    return _NEGATION.search(sentence) is not None


def _is_class(slot: str) -> TypeGuard[ElementClass]:
    return slot in ELEMENT_CLASSES
