"""Cues beside a name that tell what it names. Each is weak alone: "in" stands before places, languages and moods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

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
