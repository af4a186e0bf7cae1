"""Find the uses of names in a text: runs of capitalised words, the cues to their type beside them, and names of
software.

The rules know English and no names. Markup, addresses and code fences are no text and name nothing; what an address or
an install command calls a project is a hint and no mention.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from sys import intern

from amgs.text import names
from amgs.text.markdown import fenced
from amgs.text.name_cues import Cue, cues_beside, greets
from amgs.text.prose import prose
from amgs.text.stop_words import COMMON_WORDS

_TOKEN = re.compile(
    r"(?<![\w@/.])(?:(?:(?:[A-Z]\.){1,3}|St\.|Mt\.)(?= [A-ZÀ-Þ])|[^\W\d_](?:[\w]|['’\-](?=\w)|\+\+"
    r"|#(?!\w))*)(?![\w@/]|\(\))"
)
_LOWER = re.compile(r"(?<![\w-])[a-zà-öø-ÿ]{2,}(?![\w-])")
_LINKING = frozenset(("of", "de", "van", "von", "der", "du", "da", "la"))
_OPENING = re.compile(r"(?:^|[.!?:;…|>*#(\"“”«•–—-])[\s*_\"“”(]*$")
_POSSESSIVE = re.compile(r"['’]s?$")
_MADE_OF = re.compile(
    r"-(?:like|based|friendly|style|compatible|specific|only|free|aware|related|native|powered"
    r"|level|side|inspired|backed"
    r"|ready|agnostic|flavou?red|driven|enabled|hosted|centric|wide|made|born|themed)$"
)
_SMALL = frozenset(COMMON_WORDS) | frozenset(
    re.findall(
        r"[\w'’]+",
        "hey hi hello dear oh wow thanks thank congrats congratulations yeah yes yep yup nope "
        "no ok okay well bye sure "
        " haha hahaha lol omg please sorry maybe both each every other another many most more much several "
        "since after before while because although though however also even only still yet "
        "again then i i'm i’m i've "
        "i’ve i'll i’ll i'd i’d it's it’s that's that’s what's what’s let's let’s you're you’re "
        "we're we’re don't don’t "
        "can't can’t see use using let get got all any few less now today "
        "tomorrow yesterday mr mrs ms dr prof sir miss madam",
    )
)
_DATES = frozenset(
    re.findall(
        r"\w+",
        "monday tuesday wednesday thursday friday saturday sunday january february march april "
        "may june july august "
        "september october november december mondays tuesdays wednesdays thursdays fridays "
        "saturdays sundays jan feb mar "
        "apr jun jul aug sep sept oct nov dec mon tue tues wed weds thu thur thurs fri sat sun am pm",
    )
)
_CODE = re.compile(
    r"(`{1,2})([A-Za-z][\w.-]{1,40})\1(?!`)|\[`?([A-Za-z][\w.-]{1,40})`?\](?=[(\[])"
    r"|`([A-Za-z][\w.-]{1,40}) <[^>`]*>`_"
)
_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)[^`\n]+?(?<!`)\1(?![`_])")
"""A span of code; in reStructuredText the target of a link ends with `_ and is none."""

_INSTALL = re.compile(
    r"\b(?:pip3?|pipx|uv|conda|brew|npm|cargo|apt(?:-get)?|poetry) (?:tool )?(?:install"
    r"|add)\s+(?:-{1,2}[\w-]+ )*"
    r"[\"']?([A-Za-z][\w.-]*\w)"
)
_HOSTED = re.compile(
    r"(?:github\.com/[\w.-]+/|gitlab\.com/[\w.-]+/|pypi\.org/(?:project|p)/"
    r"|npmjs\.com/package/)([A-Za-z][\w.-]*\w)"
    r"(?:\.git)?(?=[/)>\s\"'#]|$)"
)
_SHAPED = re.compile(r"[a-z]\w*(?:[-_]\w+)*")


@dataclass(frozen=True, slots=True)
class NameUse:
    """A run of words that may be a name. opens: its first word opens a sentence, and need not be part of it. running:
    it stands in a line with words in small letters, and not in a heading. software: it is written as code or as a
    link's label, and is a name only where hints say so. cues: what beside it tells its type.
    """

    text: str
    opens: bool
    running: bool
    software: bool = False
    cues: tuple[Cue, ...] = ()


@dataclass(frozen=True, slots=True)
class NameReading:
    """Names in one text. hints: names of software by its addresses and install commands, with the kind of the hint."""

    uses: tuple[NameUse, ...] = ()
    hints: tuple[tuple[str, str], ...] = ()


def read_names(content: str) -> tuple[NameReading, Counter[str]]:
    """Return how a text uses names, and how often it writes each word in small letters."""
    text = prose(_SPAN.sub(" ", content))
    uses: list[NameUse] = []
    for line in text.split("\n"):
        uses += _uses(line)
    outside = "\n".join(part for part, code in fenced(content) if not code)
    software = (next(group for group in match.groups()[1:] if group) for match in _CODE.finditer(outside))
    uses += [NameUse(intern(name), False, False, True) for name in software if _SHAPED.fullmatch(name)]
    hints = [(name, "installed") for name in _INSTALL.findall(content)]
    hints += [(name.removesuffix(".git"), "hosted") for name in _HOSTED.findall(content)]
    return NameReading(tuple(uses), tuple(dict.fromkeys(hints))), Counter(_LOWER.findall(text))


def _uses(line: str) -> Iterator[NameUse]:
    """Yield the uses of names in a line."""
    heading = line.lstrip().startswith("#")
    tokens = [m for m in _TOKEN.finditer(line) if not m[0].endswith(("'", "’"))]
    small = sum(t[0].islower() and t[0] not in _LINKING for t in tokens)
    capital = sum(_capital(t[0]) for t in tokens)
    running = not heading and small >= max(2, capital / 2)
    if capital > 3 and sum(t[0].isupper() for t in tokens) > len(tokens) / 2:
        return  # a line that shouts
    at = 0
    while at < len(tokens):
        if not _begins(tokens[at][0]):
            at += 1
            continue
        end = at + 1
        while end < len(tokens) and (step := _joins(line, tokens, end)):
            end += step
        yield from _use(line, tokens[at:end], running)
        at = end


def _use(line: str, run: list[re.Match[str]], running: bool) -> Iterator[NameUse]:
    opens = bool(_OPENING.search(line[max(0, run[0].start() - 8) : run[0].start()]))
    greeted = False
    while run and run[0][0].lower().replace("’", "'") in _SMALL and not _acronym(run[0][0]):
        greeted = greets(run[0][0])
        run, opens = run[1:], False
    while run and (run[-1][0].lower() in _SMALL or run[-1][0] in _LINKING) and not _acronym(run[-1][0]):
        run = run[:-1]
    if not run or any(t[0].lower() in _DATES for t in run):
        return
    start, end = run[0].start(), run[-1].end()
    text = names.clean_name(_MADE_OF.sub("", _POSSESSIVE.sub("", line[start:end])))
    if text and not (len(text) < 3 and not text.isupper()):
        yield NameUse(intern(text), opens, running, False, cues_beside(line, start, end, text, greeted=greeted))


def _begins(word: str) -> bool:
    return _capital(word) and word not in ("I", "A", "O")


def _capital(word: str) -> bool:
    """Return whether a word is written as a name: with a capital in front, or within it (iPhone)."""
    return word[0].isupper() or (len(word) > 3 and any(a.islower() and b.isupper() for a, b in pairwise(word)))


def _acronym(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _joins(line: str, tokens: list[re.Match[str]], at: int) -> int:
    """Return how many tokens from here on go on with the run before."""
    before, here = tokens[at - 1], tokens[at]
    if line[before.end() : here.start()] != " " or before[0].endswith(("'s", "’s")):
        return 0
    if _capital(here[0]):
        return 1
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    links = here[0] in _LINKING and after is not None and line[here.end() : after.start()] == " "
    return 2 if links and after is not None and _capital(after[0]) else 0
