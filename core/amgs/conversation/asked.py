"""Which class of words a question asks for ("when", "which file"), and whether it names nothing else.

A question that names a class and no subject ("What was the path?") has no words that a search could go by: what holds
one of the class may be meant, and nothing else is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from amgs.conversation.elements import ElementClass, elements_of
from amgs.conversation.names import NO_NAMES
from amgs.text.stop_words import COMMON_WORDS

_ASKED: Mapping[ElementClass, re.Pattern[str]] = {
    "date": re.compile(
        r"\b(?:when|since when|how long ago|what (?:time|year|month)|(?:on )?(?:which|what) (?:day|date|week))\b|"
        r"\b(?:the )?(?:dates?|deadlines?)\b",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\bhow (?:many|much|long|old|far|big|large|often|fast|high|heavy)\b|\b(?:numbers?|figures?|amounts?|prices?|"
        r"counts?|values?|measurements?|percentages?)\b",
        re.IGNORECASE,
    ),
    "path": re.compile(r"\b(?:paths?|files?|folders?|director(?:y|ies)|filenames?)\b", re.IGNORECASE),
    "command": re.compile(r"\bcommands?\b|\bhow (?:do|did|can) (?:i|we|you) run\b", re.IGNORECASE),
    "id": re.compile(
        r"\b(?:ids?|identifiers?|hash(?:es)?|digests?|commits?|tickets?|issues?|versions?|urls?|links?|address(?:es)?|"
        r"e-?mails?)\b",
        re.IGNORECASE,
    ),
    "decision": re.compile(r"\b(?:decisions?|decided?|agreed?|chose|chosen|settled)\b", re.IGNORECASE),
    "commitment": re.compile(
        r"\b(?:promised?|promises|commitments?|committed|will (?:you|we|i) do|(?:open )?todos?)\b",
        re.IGNORECASE,
    ),
}
_WORD = re.compile(r"[^\W\d_]+")
_BLAND = frozenset(COMMON_WORDS) | frozenset(
    re.findall(
        r"\w+",
        "again tell remind give gave given show say said told find found use used look please remember recall mention "
        "mentioned need want know got get see happen happened make made take exact exactly last first earlier before "
        "one ones thing things conversation old long many much ago now",
    )
)


def asked_classes(query: str) -> frozenset[ElementClass]:
    """The classes of words that a question names."""
    return frozenset(kind for kind, form in _ASKED.items() if form.search(query))


def is_bare(query: str) -> bool:
    """Whether a question names a class of words and no subject."""
    if not asked_classes(query):
        return False
    rest = query
    for form in _ASKED.values():
        rest = form.sub(" ", rest)
    return all(word.lower() in _BLAND for word in _WORD.findall(rest)) and not any(map(str.isdigit, rest))


def holding(text: str, classes: frozenset[ElementClass]) -> list[tuple[int, int]]:
    """(start, end) of what a text holds of classes; of names nothing, which no question of one class asks for."""
    return [(start, end) for kind, start, end in elements_of(text, None, NO_NAMES) if kind in classes]
