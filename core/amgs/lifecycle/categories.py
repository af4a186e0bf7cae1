"""Classify a block by rules over its tags, folder and words, each with a reason (AMGS §8.2).

The category decides how fast a block fades (`decay_of`). The rules are English; tests/unit/test_lifecycle_categories.py
and `python -m benchmarks` measure them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from amgs.lifecycle.self_detection import OWN_PREFERENCE, OWN_VALUE, documents
from amgs.settings import DEFAULT_PROFILES, ProfileSettings
from amgs.text.prose import prose
from amgs.types.health import bits_of

NOTE = "note"
"""Category of a block that no rule matches."""

PROFILE_OF: Mapping[str, str] = MappingProxyType(
    {
        "value": "core",
        "preference": "core",
        "person": "durable",
        "place": "durable",
        "project": "durable",
        "procedure": "durable",
        "decision": "durable",
        "fact": "durable",
        "observation": "standard",
        "task": "standard",
        "dialogue": "standard",
        NOTE: "standard",
    }
)
"""The decay profile of each category (AMGS §7.1)."""

CATEGORIES: tuple[str, ...] = tuple(PROFILE_OF)
_LESS: Mapping[str, str] = MappingProxyType({"core": "durable", "durable": "standard"})
MOST_BITS = math.log2(len(CATEGORIES))
_RANK = {category: n for n, category in enumerate(CATEGORIES)}


@dataclass(frozen=True, slots=True)
class CategoryVerdict:
    """A category, the rules' confidence in [0, 1], and the evidence in a few words.

    bits: entropy of the decision over all categories (AMGS §7.5): 0 where there is no alternative, `MOST_BITS` where
    nothing decides. further: other categories of the text, the most evidence first.
    """

    category: str
    confidence: float
    because: str
    bits: float = 0.0
    further: tuple[str, ...] = ()


_WORDS: Mapping[str, str] = MappingProxyType(
    {
        word: category
        for category, words in {
            "value": "value values principle principles belief beliefs identity self creed",
            "preference": "preference preferences likes dislikes taste",
            "person": "person people contact contacts staff biography team who",
            "place": "place places location locations room rooms site map",
            "project": "project projects initiative plan plans",
            "procedure": "procedure procedures howto how-to guide runbook checklist recipe recipes manual rules",
            "decision": "decision decisions minutes adr resolution",
            "observation": "observation observations log logbook diary journal event events report incident",
            "task": "task tasks todo to-do todos reminder reminders action actions chore chores",
            "fact": "fact facts reference glossary knowledge definition",
            "dialogue": "dialogue dialogues conversation conversations chat transcript meeting",
        }.items()
        for word in re.findall(r"[\w-]+", words)
    }
)

_TAG, _FOLDER, _KIND, _WHOLE = 3.0, 2.5, 4.0, 1.8
# What it takes to be sure: evidence of this weight, unopposed, gives a confidence of one half.
_DOUBT = 0.8
_OF_MANUALS = frozenset({"procedure", "task"})
_ENOUGH = 1.6
"""Weight of words from which they decide a category by themselves: a strong cue, or several."""

_SHARE = 0.2
"""Share of a text's statements that must have a cue: a single phrase does not classify a page."""

SURE = 0.6
"""Confidence from which the category alone decides how fast a block fades."""


_STEP = (
    "add|apply|ask|attach|bake|boil|bring|build|call|change|check|choose|clean|click|clone|close|commit|configure|connect"
    "|copy|cover|create|cut|delete|disconnect|download|drain|draw|edit|enable|disable|ensure|enter|fetch|fill|find|fit"
    "|fold|follow|generate|get|give|go|heat|hold|insert|install|keep|launch|lay|leave|let|lift|load|lock|look|loosen"
    "|make|mark|measure|mix|move|note|open|pick|place|plug|pour|prepare|press|print|pull|push|put|raise|read|record"
    "|remove|rename|repeat|replace|reset|restart|return|rinse|run|save|select|send|set|shut|sign|start|stir|stop|store"
    "|switch|take|tell|test|tie|tighten|turn|type|unlock|unplug|update|upload|use|verify|wait|wash|weigh|wipe|write"
)
_ITEM = r"(?:\d+[.)]|step \d+:?)\s+\W*"
_KIN = r"wife|husband|sister|brother|mother|father|daughter|son|grand\w+|uncle|aunt|cousin|niece|nephew"


def _cue(weight: float, pattern: str) -> tuple[float, re.Pattern[str]]:
    return weight, re.compile(pattern, re.IGNORECASE | re.MULTILINE)


_CUES: Mapping[str, tuple[tuple[float, re.Pattern[str]], ...]] = MappingProxyType(
    {
        "value": (
            (1.6, OWN_VALUE),
            _cue(1.0, r"\bi believe that\b"),
            _cue(0.8, r"\bi (?:never|always|refuse to|promised myself)\b"),
            _cue(0.8, r"\b(?:honesty|kindness|loyalty|integrity|my conscience|my principles?)\b"),
        ),
        "preference": (
            (1.6, OWN_PREFERENCE),
            _cue(1.0, r"\b(?:i|he|she) (?:\w+ )?(?:prefers?|likes?|loves?|hates?|dislikes?|can't stand)\b"),
            _cue(1.0, r"\b(?:his|her) favou?rite\b|\b(?:he|she) would rather\b"),
        ),
        "person": (
            _cue(1.0, r"\b(?:was |is )?born (?:in|on)\b|\bbirthday\b|\byears old\b"),
            _cue(0.8, r"\b(?:he|she) (?:lives in|works (?:as|at|for)|grew up|studied|is a|was a)\b"),
            _cue(0.8, rf"\b(?:his|her) (?:{_KIN})\b"),
            _cue(0.8, rf"\bmy (?:{_KIN}|friend|boss|neighbour|neighbor)\b"),
        ),
        "place": (
            _cue(0.8, r"\b(?:upstairs|downstairs|metres above|meters above|minutes from|square met(?:re|er)s)\b"),
            _cue(0.8, r"\b(?:north|south|east|west) (?:of|side|wall|end)\b|\b(?:ground|first|second|top) floor\b"),
            _cue(0.8, r"\b(?:lies|stands) (?:in|on|at|near|below|above|next to) the\b"),
        ),
        "procedure": (
            _cue(
                0.8, r"\b(?:first|then|finally|before you|make sure)\b.{0,80}\b(?:then|turn|press|check|open|close)\b"
            ),
        ),
        "decision": (
            _cue(1.8, r"\b(?:we|i|they|it was) (?:have )?(?:decided|agreed|resolved) (?:to|that|on)\b|\bdecision:"),
            _cue(0.8, r"\b(?:in favour of|in favor of|from now on|ruled out|voted)\b"),
        ),
        "task": (
            _cue(1.8, r"^(?:[-*+] )?(?:todo|to do|fixme):|\bremind (?:me|us) to\b|\bdon't forget to\b|^\s*[-*+] \[ \]"),
            _cue(0.8, r"\bdeadline\b|\bdue (?:on|by)\b"),
            _cue(0.8, r"\b(?:i|we) (?:must|need to|have to|should) .{0,60}\b(?:by|before|until|next|tomorrow)\b"),
        ),
        "observation": (
            _cue(0.8, r"\b(?:i|we|he|she) (?:saw|noticed|observed|measured|counted|heard)\b|^(?:saw|heard|measured)\b"),
            _cue(0.8, r"\b(?:yesterday|this morning|tonight|last night)\b|\bat \d{1,2}:\d{2}\b"),
            _cue(0.8, r"[-+−]?\d+(?:\.\d+)? ?(?:°C?|mm|km/h|hPa|lux|mag)(?!\w)"),
        ),
        "fact": (
            _cue(
                1.6,
                r"\b(?:part|serial|phone|account|model|licence|membership) (?:number|no\.) (?:is|was|:)"
                r"|\bthe (?:code|password|combination|address) (?:of|for|to) [^.]{1,40} is\b",
            ),
            _cue(0.6, r"\b(?:means|consists of|is called|is known as|was built)\b"),
        ),
    }
)

_STATEMENT = re.compile(r"(?<=[.!?…])\s+|\n\s*\n|\n(?=\s*(?:[-*+•]|\d+[.)])\s)")
_PLACES = (
    "town|city|village|hamlet|municipality|commune|district|county|province|region|island|peninsula|river|lake|creek|bay"
    "|mountain|hill|valley|park|square|street|building|house|home|church|cathedral|castle|bridge|station|airport|stadium"
    "|museum|cemetery|suburb|neighbou?rhood|settlement|township|parish|harbou?r|port|beach|forest|desert|capital"
)
_AS_A_WHOLE: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        # A numbered list is none; two of its items tell what to do.
        "procedure": re.compile(
            rf"^\s*{_ITEM}(?:{_STEP})\b[\s\S]*?^\s*{_ITEM}(?:{_STEP})\b", re.IGNORECASE | re.MULTILINE
        ),
        "task": re.compile(r"\A\s*(?:#+ )?(?:todo|to[ -]do)s?\b(?=\W*(?:list\b.*)?$)", re.IGNORECASE | re.MULTILINE),
        "person": re.compile(
            r"\A(?:\s*#[^\n]*\n+)?[^.\n]{0,120}?(?:\((?:[^()\n]*\W)?(?:born|b\.)\s|\b(?:is|was) born\b"
            r"|, born (?:in|on)\b|\([^()\n]*\d{1,2}\b[^()\n]*\d{4} ?[–—-] ?[^()\n]*\d{4}\) (?:is|was) )"
        ),
        "place": re.compile(
            r"\A(?:\s*#[^\n]*\n+)?[^.\n]{0,120}?\b(?:is|was) (?:an?|the|one of the) "
            rf"(?:(?!(?:of|in|for|from|by|with|to|at|on)\b)[\w'’-]+,? ){{0,6}}?(?:{_PLACES})s?\b"
            r"(?: \([^()]*\))?,? (?:located |situated |lying |one of [\w ]{1,40} )?"
            r"(?:in|of|on|at|near|between|within)\b"
        ),
    }
)
"""What a text says of itself as a whole, by its form or its opening."""

_HEDGES = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|might|i think|i guess|not sure|apparently|seems?|rumou?r)\b|\?\?",
    re.IGNORECASE,
)


def categorise(content: str, meta: Mapping[str, Any]) -> CategoryVerdict:
    """Return the category with the most evidence; its confidence is that evidence over all evidence plus doubt.

    Metadata (kind, tags, folder) counts most. Words need a strong cue or several, in a fifth of the statements, or a
    form that characterises the whole: steps, turns of a dialogue, an opening that says who or where. A text may have
    further categories, for which a strong cue is enough. A dialogue stays a dialogue whatever is said in it. Manuals
    and change logs are notes unless they list steps or tasks: their "we" is nobody, their "instead of" no decision.
    """
    evidence: dict[str, float] = {}
    reasons: dict[str, list[str]] = {}

    def add(category: str, weight: float, reason: str) -> None:
        evidence[category] = evidence.get(category, 0.0) + weight
        reasons.setdefault(category, []).append(reason)

    kind = _WORDS.get(str(meta.get("kind", "")).lower())
    if kind:
        add(kind, _KIND, f"kind {meta['kind']}")
    for tag in meta.get("tags") or ():
        category = _WORDS.get(str(tag).lower())
        if category:
            add(category, _TAG, f"tag {tag}")
    for folder in str(meta.get("source", "")).split("/")[:-1]:
        category = _WORDS.get(folder.lower())
        if category:
            add(category, _FOLDER, f"folder {folder}")
    for category, weight, reason in _by_words(content, documents(content, meta), frozenset(evidence)):
        add(category, weight, reason)
    # Ties go to the first category of the list, which fades slower.
    ranked = sorted(evidence, key=lambda c: (-evidence[c], _RANK.get(c, len(_RANK)), c))
    contenders = [c for c in ranked if evidence[c] == 0.0 or evidence[c] >= _ENOUGH]
    if not any(evidence.values()):
        return CategoryVerdict(NOTE, 0.3, "no tag, folder or phrase decides", MOST_BITS, tuple(contenders))
    best = ranked[0]
    # What a text says besides is no doubt about what it is.
    doubt = _DOUBT + sum(weight for c, weight in evidence.items() if c not in contenders and c != best)
    confidence = evidence[best] / (evidence[best] + doubt)
    further = tuple(c for c in contenders if c != best)
    return CategoryVerdict(best, round(confidence, 4), ", ".join(reasons[best][:4]), _bits(evidence), further)


def _by_words(content: str, manual: bool, named: frozenset[str]) -> Iterator[tuple[str, float, str]]:
    """Yield (category, weight, reason) for each cue; the weight is 0 where too few statements have it.

    named: categories that the metadata gives; only for those does a weak cue count.
    """
    body = prose(content)
    talk = is_talk(body)
    if talk:
        yield "dialogue", _WHOLE, "turns of several speakers"
    statements = [s for s in _STATEMENT.split(body) if s.strip()]
    for category, cues in _CUES.items():
        if (manual and category not in _OF_MANUALS) or (talk and category not in named):
            continue
        whole = _AS_A_WHOLE.get(category)
        if whole is not None and (match := whole.search(body)):
            yield category, _WHOLE, f"“{' '.join(match[0].split())[:40]}”"
        matches = [[pattern.search(s) for _, pattern in cues] for s in statements]
        hits = [
            (weight, next(m for m in column if m))
            for (weight, _), column in zip(cues, zip(*matches, strict=True), strict=False)
            if any(column)
        ]
        share = sum(map(any, matches)) / max(1, len(matches))
        counts = category in named or (share >= _SHARE and sum(weight for weight, _ in hits) >= _ENOUGH)
        for weight, match in hits:
            if counts or weight >= _ENOUGH:  # a single sentence of a page says what it is besides, and not what it is
                yield category, weight if counts else 0.0, f"“{' '.join(match[0].split())[:40]}”"


def _bits(evidence: Mapping[str, float]) -> float:
    """Return the entropy of the decision in bits, with the doubt spread evenly over all categories."""
    known = {*CATEGORIES, *evidence}
    return round(bits_of(evidence.get(category, 0.0) + _DOUBT / len(known) for category in known), 4)


def decay_of(category: str, profiles: ProfileSettings = DEFAULT_PROFILES, sure: float = 1.0) -> float:
    """Return λ per hour of a category's decay profile; unknown categories are standard.

    sure: confidence of the category. Below SURE, a category that fades slower than a note gets the next faster profile.
    """
    profile = PROFILE_OF.get(category, "standard")
    return profiles.of(profile if sure >= SURE else _LESS.get(profile, profile))


def initial_confidence(content: str, verdict: CategoryVerdict) -> float:
    """Return a block's first confidence, in [0.2, 0.95]: a clear category raises it, hedging words lower it."""
    hedges = min(4, len(_HEDGES.findall(content)))
    return round(min(0.95, max(0.2, 0.55 + 0.35 * verdict.confidence - 0.1 * hedges)), 4)


_TURN = re.compile(r"^\W{0,3}([^\W\d_][\w.'’-]+(?: [\w.'’-]+){0,3}):(?=\s+\S)(.*)$", re.MULTILINE)
_SPOKEN = re.compile(r"\b(?:I|[Yy]ou|[Ww]e|[Mm]y|[Mm]e|[Uu]s|[Yy]our|[Oo]ur|[Yy]eah|[Yy]es|[Oo]kay|[Hh]ey)\b|\?|!")
_FEWEST_TURNS, _FEWEST_SPEAKERS, _OFTEN = 4, 2, 2
_OF_LINES, _OF_TURNS = 0.4, 0.3
"""Least share of lines that begin a turn, and of turns that address or mention a person, in a dialogue."""


def is_talk(text: str) -> bool:
    """Return whether a text is a dialogue: at least two names repeatedly begin lines, followed by speech, unlike
    "Type: …" and "Default: …" in a manual.
    """
    pairs = [(m[1].lower(), m[2]) for m in _TURN.finditer(text)]
    if len(pairs) < _FEWEST_TURNS:
        return False
    counts = Counter(name for name, _ in pairs)
    speakers = {name for name, count in counts.items() if count >= _OFTEN}
    turns = [words for name, words in pairs if name in speakers]
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    spoken = sum(bool(_SPOKEN.search(words)) for words in turns)
    return len(speakers) >= _FEWEST_SPEAKERS and len(turns) >= _OF_LINES * lines and spoken >= _OF_TURNS * len(turns)
