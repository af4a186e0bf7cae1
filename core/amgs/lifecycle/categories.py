"""What kind of knowledge a block is, by rules that say why.

Tags, folder, and the words it uses (AMGS §8.2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from amgs.lifecycle.category_feedback import NO_LESSONS, Lessons
from amgs.settings import DEFAULT_PROFILES, ProfileSettings

NOTE = "note"
"""The category of what fits no rule."""

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
_RANK = {category: n for n, category in enumerate(CATEGORIES)}


@dataclass(frozen=True, slots=True)
class CategoryVerdict:
    """A category, how sure the rules are in [0, 1], and the evidence in a few words."""

    category: str
    confidence: float
    because: str


_WORDS: Mapping[str, str] = MappingProxyType(
    {
        word: category
        for category, words in {
            "value": "value values principle principles belief beliefs identity self creed",
            "preference": "preference preferences likes dislikes taste",
            "person": "person people contact contacts staff biography team who",
            "place": "place places location locations room rooms site map",
            "project": "project projects initiative plan plans",
            "procedure": "procedure procedures howto how-to guide runbook checklist recipe recipes manual "
            "rules",
            "decision": "decision decisions minutes adr resolution",
            "observation": "observation observations log logbook diary journal event events report incident",
            "task": "task tasks todo to-do todos reminder reminders action actions chore chores",
            "fact": "fact facts reference glossary knowledge definition",
            "dialogue": "dialogue dialogues conversation conversations chat transcript meeting",
        }.items()
        for word in re.findall(r"[\w-]+", words)
    }
)

_TAG, _FOLDER, _KIND = 3.0, 2.5, 4.0
# What it takes to be sure: evidence of this weight, unopposed, gives a confidence of one half.
_DOUBT = 0.8


def _cue(weight: float, pattern: str) -> tuple[float, re.Pattern[str]]:
    return weight, re.compile(pattern, re.IGNORECASE | re.MULTILINE)


_CUES: Mapping[str, tuple[tuple[float, re.Pattern[str]], ...]] = MappingProxyType(
    {
        "value": (
            _cue(
                1.2,
                r"\b(?:i|we) (?:believe|value|stand for)\b|\bmatters (?:most )?to (?:me|us)\b",
            ),
            _cue(0.8, r"\b(?:we|i) (?:never|always) \w+"),
        ),
        "preference": (
            _cue(
                1.6,
                r"\b(?:i|we|he|she|they) (?:\w+ )?(?:prefers?|likes?|loves?|hates?|dislikes?|can't stand)\b",
            ),
            _cue(1.2, r"\b(?:my|our|his|her|their) favou?rite\b|\bwould rather\b|\b(?:i|we)'d rather\b"),
        ),
        "person": (
            _cue(1.2, r"\b(?:born (?:in|on)|birthday|years old|lives in|works? (?:as|at|for))\b"),
            _cue(
                0.8,
                r"\b(?:his|her|their) (?:wife|husband|sister|brother|mother|father|daughter|son|grand\w+)\b",
            ),
            _cue(
                0.8, r"\bmy (?:wife|husband|sister|brother|mother|father|daughter|son|grand\w+|friend|boss)\b"
            ),
        ),
        "place": (
            _cue(1.0, r"\b(?:is|lies|stands) (?:in|on|at|near|below|above|next to) the\b"),
            _cue(0.8, r"\b(?:north|south|east|west|upstairs|downstairs|floor|metres above|minutes from)\b"),
        ),
        "procedure": (
            _cue(1.4, r"^\s*(?:1[.)]|- \[ ?\]|step 1)\s"),
            _cue(1.0, r"^\s*2[.)]\s"),
            _cue(
                0.8,
                r"\b(?:first|then|finally|before you|make sure|never)\b.{0,80}\b(?:then|turn|press|check)\b",
            ),
        ),
        "decision": (
            _cue(1.8, r"\b(?:we|i|they|it was) (?:have )?(?:decided|agreed|chose|resolved)\b|\bdecision:"),
            _cue(1.0, r"\b(?:instead of|in favour of|from now on|ruled out|voted)\b"),
        ),
        "task": (
            _cue(1.8, r"\b(?:todo|to do|fixme|remind (?:me|us)|don't forget|deadline)\b|^\s*- \[[ x]\]"),
            _cue(
                1.0,
                r"\b(?:must|needs? to|has to|have to|should) .{0,60}\b(?:by|before|until|next|tomorrow)\b",
            ),
        ),
        "observation": (
            _cue(1.0, r"\b(?:saw|seen|noticed|observed|measured|counted|heard|found that)\b"),
            _cue(0.6, r"\b(?:yesterday|today|this morning|tonight|last night|at \d{1,2}:\d{2})\b"),
            _cue(0.6, r"[-+]?\d+(?:\.\d+)? ?(?:°|°C|mm|km/h|hPa|kg|lux|mag|V|mA|Hz)\b"),
        ),
        "fact": (
            _cue(0.9, r"\b(?:is|are|was|were) (?:a|an|the)\b"),
            _cue(0.7, r"\b(?:means|consists of|is called|part number|serial number|is known as|was built)\b"),
        ),
    }
)

_HEDGES = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|might|i think|i guess|not sure|apparently|seems?|rumou?r)\b|\?\?",
    re.IGNORECASE,
)


def categorise(content: str, meta: Mapping[str, Any], lessons: Lessons = NO_LESSONS) -> CategoryVerdict:
    """The category with the most evidence; confidence = evidence for it / (all evidence + doubt).

    lessons: what the operator's corrections taught; a category of the operator's own can win by them.
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
    for category, cues in _CUES.items():
        for weight, pattern in cues:
            match = pattern.search(content)
            if match:
                add(category, weight, f"“{' '.join(match[0].split())[:40]}”")
    for lesson in lessons.of(content, meta):
        weight = max(lesson.weight, -evidence.get(lesson.category, 0.0))
        if weight:
            add(lesson.category, weight, lesson.because if weight > 0 else f"less by {lesson.because}")
    evidence = {category: weight for category, weight in evidence.items() if weight > 0}
    if not evidence:
        return CategoryVerdict(NOTE, 0.3, "no tag, folder or phrase decides")
    # Equal evidence goes to the category that the list names first: the longer-lived one.
    best = min(evidence, key=lambda c: (-evidence[c], _RANK.get(c, len(_RANK)), c))
    # A lesson that decided is told, however many reasons stand before it.
    taught = [r for r in reasons[best][4:] if "your corrections" in r]
    confidence = evidence[best] / (sum(evidence.values()) + _DOUBT)
    return CategoryVerdict(best, round(confidence, 4), ", ".join([*reasons[best][:4], *taught]))


def decay_of(category: str, profiles: ProfileSettings = DEFAULT_PROFILES) -> float:
    """λ per hour of a category's profile; unknown categories are standard."""
    return profiles.of(PROFILE_OF.get(category, "standard"))


def initial_confidence(content: str, verdict: CategoryVerdict) -> float:
    """How far to believe a block at first, in [0.2, 0.95].

    A clear category lifts it, hedging words lower it.
    """
    hedges = min(4, len(_HEDGES.findall(content)))
    return round(min(0.95, max(0.2, 0.55 + 0.35 * verdict.confidence - 0.1 * hedges)), 4)
