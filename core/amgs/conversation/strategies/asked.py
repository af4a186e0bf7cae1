"""What a question asks for by its class alone ("What was the path?") is cited first, the newest before the older."""

from __future__ import annotations

import re
from collections.abc import Mapping

from amgs.conversation.citing import source
from amgs.conversation.material import KEPT, Cited, Draft, Fate, Material
from amgs.conversation.slots import NO_NAMES, ElementClass, elements_of
from amgs.text.stop_words import COMMON_WORDS

_SHARE = 0.75
"""Of the room that is left, at most: all but what the last messages may take."""
_LONGEST = 80
"""Tokens of a sentence that is cited whole; of a longer one the words that are asked for."""


def cite_asked(draft: Draft) -> int:
    """Cite the sentences that hold the class of words which a question without a subject names, while they take no more
    than their share of the room; how many messages that is.
    """
    material = draft.material
    if not is_bare(material.query):
        return 0
    classes = asked_classes(material.query)
    room = draft.used + int((material.budget - draft.used) * _SHARE)
    cited = 0
    for atom in sorted(material.atoms, key=lambda a: -a[-1]):
        if not draft.is_dropped(atom):
            continue
        cites: dict[int, Cited] = {}
        whole = False
        for place in atom:
            found = _pieces(material, place, classes)
            whole |= found is None
            if found:
                cites[place] = found
        if not cites and not whole:
            continue
        changes: dict[int, Fate] = material.cite(atom, cites)
        if whole and not changes:
            changes = dict.fromkeys(atom, KEPT)
        if draft.used + draft.cost(changes) <= room:
            draft.change(changes, "holds what the question asks for")
            cited += len(changes)
    return cited


def _pieces(material: Material, place: int, classes: frozenset[ElementClass]) -> Cited | None:
    """Numbers of the pieces of a message that hold the classes; None where it holds some in what cannot be cited."""
    message = material.messages[place]
    spans = find_holding(source(message), classes)
    if not spans:
        return ()
    pieces = material.pieces(place)
    chosen = set[int]()
    for start, end in spans:
        within = [
            number
            for number, (slot, a, b) in enumerate(pieces)
            if a < end and start < b and (slot != "sentence" or material.piece_cost(place, number) <= _LONGEST)
        ]
        chosen.update([n for n in within if pieces[n][0] == "sentence"] or within)
    return tuple(sorted(chosen)) if chosen else None


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
        r"\b(?:promised?|promises|commitments?|committed|will (?:you|we|i) do|(?:open )?todos?)\b", re.IGNORECASE
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


def find_holding(text: str, classes: frozenset[ElementClass]) -> list[tuple[int, int]]:
    """(start, end) of what a text holds of classes; of names nothing, which no question of one class asks for."""
    return [(start, end) for kind, start, end in elements_of(text, None, NO_NAMES) if kind in classes]
