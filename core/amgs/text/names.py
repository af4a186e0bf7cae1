"""Names as they are stored and compared: cleaned of what surrounds them, and keyed so that forms of the same name meet;
and their uses in a text, with the cues beside them that tell what they name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from sys import intern
from types import MappingProxyType
from typing import Literal

from amgs.text.markdown import split_fences
from amgs.text.prose import prose
from amgs.text.words import COMMON_WORDS

_LONGEST, _MOST_WORDS = 60, 7
_EDGES = re.compile(r"^[\W_]+|[^\w+#]+$|_+$")
_MARKUP = re.compile(
    r"[<>{}\[\]|\\`=~^*\"“”\x00-\x08\x0b-\x1f]|://|\bwww\.|\bhref\b|\bsrc\b|\w@\w|&\w+;|::|--|\.\.|\$|[/#%]\w"
    r"|\n\s*\n|\w\(|'\)|\w_\w|\b[a-z]\w*[.:][a-z]|\.\w+:\d|(?<!\w)'|'(?![\w\s])"
)
_FILE = re.compile(
    r"\.(?:py|md|rst|txt|html?|json|toml|ya?ml|cfg|ini|png|svg|gif|jpe?g|whl|zip|gz|sh|c|h|js|ts|org|com|io|net)$", re.I
)
_POSSESSIVE = re.compile(r"['’]s?$")
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_PLURAL = re.compile(r"(?<=[A-Z]{2})s$|(?<=[A-Z]{2})['’]s$")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_NO_NAME = re.compile(
    rf"(?:{_MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?(?: \d+)?"
    r"|i|we|you|he|she|it|they|yes|no|ok|todo|note|tip|warning|true|false|none|null"
    r"|introduction|overview|usage|features?|documentation|docs|contents|examples?|quick ?start|links|badges?"
    r"|installation|install|requirements|dependencies|getting started|changelog|changes|license|licence|readme|authors?"
    r"|credits|acknowledge?ments|contributing|contributions|development|testing|tests|support|source|download|faq",
    re.IGNORECASE,
)


def clean_name(name: str) -> str:
    """Return a name without quotes, brackets and a possessive at its ends, in a single line; empty for what is no name.

    No name holds markup, an address, a path or code, is a number, a single small word or a heading that every manual
    has, or runs on for a whole sentence.
    """
    bare = _EDGES.sub("", _POSSESSIVE.sub("", _EDGES.sub("", name)))
    if not bare or _MARKUP.search(bare) or _FILE.search(bare):
        return ""
    bare = _ARTICLE.sub("", " ".join(bare.split()))
    letters = sum(c.isalpha() for c in bare)
    if (
        len(bare) < 2
        or len(bare) > _LONGEST
        or bare.count(" ") >= _MOST_WORDS
        or letters < 2
        or (bare.islower() and " " not in bare)
        or (2 * letters < len(bare) - bare.count(" ") and not bare.isupper())
        or _NO_NAME.fullmatch(bare)
    ):
        return ""
    return bare


def key(name: str) -> str:
    """Return what the forms of a name share, without case, spaces, article, possessive or the plural of an acronym."""
    bare = _ARTICLE.sub("", " ".join(name.split()))
    return _PLURAL.sub("", _POSSESSIVE.sub("", bare)).casefold().replace("-", " ")


NameType = Literal["person", "organisation", "place", "project", "topic"]
Cue = tuple[NameType, str]
"""A type, and the kind of the cue that speaks for it."""

_GREETING = re.compile(r"hey|hi|hello|dear|thanks|congrats|congratulations|bye|mr|mrs|ms|dr|prof|sir|miss|madam", re.I)
_BEFORE: Mapping[Cue, re.Pattern[str]] = MappingProxyType(
    {
        ("person", "title"): re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Lady|Lord)\.? $"),
        ("person", "kin"): re.compile(
            r"\b(?:brother|sister|friends?|wife|husband|son|daughter|boss|colleague|neighbour"
            r"|neighbor|mother|father|uncle"
            r"|aunt|cousin|partner|boyfriend|girlfriend|roommate|mentor|author|maintainer|creator),? $",
            re.I,
        ),
        ("person", "greeting"): re.compile(
            r"\b(?:hey|hi|hello|dear|thanks|thank you|congrats|congratulations|bye|love you|wow"
            r"|yeah|sure|absolutely"
            r"|awesome|cool|right|true|definitely),? $",
            re.I,
        ),
        ("person", "met"): re.compile(
            r"\b(?:met|asked|told|called|texted|invited|hugged|married|thank) (?:up with )?$", re.I
        ),
        ("person", "by"): re.compile(
            r"\b(?:written|created|developed|made|authored|maintained|contributed|reported"
            r"|implemented|patch|thanks to)"
            r" (?:by )?$",
            re.I,
        ),
        ("place", "lives in"): re.compile(
            r"\b(?:live[sd]?|living|based|born|located|arrive[ds]?|stay(?:ed|ing)?|grew up"
            r"|reside[sd]?|situated|held)"
            r" (?:in|at|near|on) (?:the )?$",
            re.I,
        ),
        ("place", "goes to"): re.compile(
            r"\b(?:go|goes|going|went|trip|travel(?:l?ed|l?ing|s)?|move[ds]?|moving|flew|flight"
            r"|drove|drive|road ?trip|tour"
            r"|back|hike[ds]?|getaway|vacation|holiday|been) (?:to|from|in|around|through) (?:the )?$",
            re.I,
        ),
        ("place", "visits"): re.compile(r"\b(?:visit(?:s|ed|ing)?|explor(?:e|ed|ing)|tour(?:ed|ing)) (?:the )?$", re.I),
        ("place", "in"): re.compile(r"\b(?:in|near|across|throughout|around|outside) (?:the )?$"),
        ("place", "from"): re.compile(
            r"\b(?:i'm|i am|comes?|came|is|are|was|people|roots|country|home|back) (?:from|in) $", re.I
        ),
        ("organisation", "works for"): re.compile(
            r"\b(?:work(?:s|ed|ing)? (?:at|for)|job at|intern(?:ship|ed)? (?:at|with)|join(?:s"
            r"|ed|ing)?|employed by"
            r"|hired by|acquired by|funded by|sponsored by|founded|donat\w+ to|student at"
            r"|stud(?:y|ied|ying) at|staff of"
            r"|member of|accepted (?:in)?to) (?:the )?$",
            re.I,
        ),
        ("project", "used"): re.compile(
            r"\b(?:use|uses|used|using|via|built (?:on|with|into)|based on|powered by"
            r"|compatible with|works with|requires?"
            r"|depend(?:s|ing)? on|written in|port of|wrapper (?:for|around)|bindings? (?:for"
            r"|to)|alternative to"
            r"|implementation of|interface to|integrat\w+ with|support(?:s|ed|ing)? (?:for "
            r"|by )?|runs? (?:on|with|under)"
            r"|install(?:s|ed|ing)?|import(?:s|ing)?) (?:the )?$",
            re.I,
        ),
    }
)
_AFTER: Mapping[Cue, re.Pattern[str]] = MappingProxyType(
    {
        ("person", "does"): re.compile(
            r"^ (?:said|says|told|tells|asked|asks|thinks?|thought|believes?|loves?|loved|likes?"
            r"|liked|wants?|wanted|felt"
            r"|feels|smiled|laughed|married|grew|wrote|and I\b|and me\b|who\b|decided|went"
            r"|came home|enjoys?|moved|met)\b"
        ),
        ("person", "he or she"): re.compile(r"^[^.!?\n]{0,40}\b(?:he|she|his|her|him|himself|herself)\b"),
        ("organisation", "has"): re.compile(
            r"^(?:['’]s)? (?:employees|engineers|staff|customers|announced|CEO|board"
            r"|headquarters|hired|meeting|members|chair)\b"
            r"|^,? (?:Inc|Ltd|LLC|GmbH|Corp)\b"
        ),
        ("place", "is where"): re.compile(r"^,? where\b|^ (?:is|was) (?:beautiful|lovely|crowded|cold|hot)\b"),
        ("project", "is one"): re.compile(
            r"^(?:['’]s)? (?:librar(?:y|ies)|packages?|framework|plugins?|modules?|APIs?"
            r"|tool(?:kit|s|box)?|CLI|SDK|servers?"
            r"|clients?|projects?|extensions?|bindings?|wrapper|interpreter|compiler|parser"
            r"|runtime|format|repo(?:sitory)?"
            r"|app|users|versions?|documentation|docs|objects?|arrays?|tensors?|code|scripts?"
            r"|files?|syntax|backend"
            r"|configuration|environment|installation|implementation|integration|support"
            r"|functions?|types?|class(?:es)?)\b"
        ),
        ("project", "version"): re.compile(r"^ (?:v\d|(?:>=? ?)?\d+\.\d)"),
    }
)
_WITHIN: Mapping[Cue, re.Pattern[str]] = MappingProxyType(
    {
        ("organisation", "its name"): re.compile(
            r"\S (?:Inc|Ltd|LLC|GmbH|Corp|Corporation|Company|Foundation|University|Institute"
            r"|Association|Society|Committee"
            r"|Council|College|School|Bank|Agency|Department|Ministry|Labs?|Team|Group|Hospital"
            r"|Club|Church|Initiative"
            r"|Consortium|Authority|Union|Alliance)\b\.?(?: (?:of|for) .*)?$"
        ),
        ("place", "its name"): re.compile(
            r"\b(?:Street|Avenue|Islands?|River|Lake|Mountains?|Bay|Beach|Park|County|Road"
            r"|Square|Bridge|Valley|Coast|Forest"
            r"|Desert|Canyon|Falls|Harbou?r)$|^(?:Mount|Lake|Port) "
        ),
        ("project", "its shape"): re.compile(
            r"^(?=\S+$)(?![A-Z]+s$)(?=.*[a-z][A-Z]|.*[A-Z]{2}[a-z]|.*\w\+\+)[\w.+#-]+$|^\w+\.(?:js|py|io)$"
        ),
        ("person", "initial"): re.compile(r"^(?:[A-Z]\. ?)+[A-Z][a-z]+$|^[A-Z][a-z]+ [A-Z]\. [A-Z][a-z]+$"),
    }
)
_CALLED = re.compile(r"^ ?[!?]")
_REACH = 48


def greets(word: str) -> bool:
    """Return whether a word that stands before a name addresses somebody."""
    return bool(_GREETING.fullmatch(word))


def cues_beside(line: str, start: int, end: int, name: str, *, greeted: bool = False) -> tuple[Cue, ...]:
    """Return the cues of a name at characters [start, end) of a line, each kind once. greeted: a " "greeting stood
    before it.
    """
    before, after = line[max(0, start - _REACH) : start], line[end : end + _REACH]
    cues = [cue for cue, form in _BEFORE.items() if form.search(before)]
    cues += [cue for cue, form in _AFTER.items() if form.search(after)]
    cues += [cue for cue, form in _WITHIN.items() if form.search(name)]
    if before.endswith(", ") and _CALLED.search(after):
        cues.append(("person", "addressed"))
    if greeted and ("person", "greeting") not in cues:
        cues.append(("person", "greeting"))
    return tuple(cues)


_TOKEN = re.compile(
    r"(?<![\w@/.])(?:(?:(?:[A-Z]\.){1,3}|St\.|Mt\.)(?= [A-ZÀ-Þ])|[^\W\d_](?:[\w]|['’\-](?=\w)|\+\+"
    r"|#(?!\w))*)(?![\w@/]|\(\))"
)
_LOWER = re.compile(r"(?<![\w-])[a-zà-öø-ÿ]{2,}(?![\w-])")
_LINKING = frozenset(("of", "de", "van", "von", "der", "du", "da", "la"))
_OPENING = re.compile(r"(?:^|[.!?:;…|>*#(\"“”«•–—-])[\s*_\"“”(]*$")
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
    """Names in a single text. hints: names of software by its addresses and install commands, with the kind of the
    hint.
    """

    uses: tuple[NameUse, ...] = ()
    hints: tuple[tuple[str, str], ...] = ()


def read_names(content: str) -> tuple[NameReading, Counter[str]]:
    """Return how a text uses names, and how often it writes each word in small letters.

    Markup, addresses and code fences name nothing; what an address or an install command calls a project is a hint and
    no mention.
    """
    text = prose(_SPAN.sub(" ", content))
    uses: list[NameUse] = []
    for line in text.split("\n"):
        uses += _uses(line)
    outside = "\n".join(part for part, code in split_fences(content) if not code)
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
    text = clean_name(_MADE_OF.sub("", _POSSESSIVE.sub("", line[start:end])))
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
