"""Names that are likely of one person: a name and its parts, short forms, misspellings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from rapidfuzz.distance import OSA

from amgs.conversation.coreference.passage import Gender
from amgs.conversation.coreference.words import TITLES, name_gender, word_set
from amgs.types.entity_merges import AliasCue, AlikeEntities
from amgs.types.mentions import ConversationEntity

CONFIDENCE: Mapping[tuple[AliasCue, bool], float] = {
    ("given name", False): 0.9,
    ("given name", True): 0.8,
    ("family name", False): 0.85,
    ("family name", True): 0.6,
    ("family name, with a title", False): 0.75,
    ("family name, with a title", True): 0.6,
    ("title", False): 0.7,
    ("title", True): 0.35,
    ("short form", False): 0.5,
    ("short form", True): 0.35,
    ("spelling", False): 0.5,
    ("spelling", True): 0.25,
}
"""How often two such names are of one, without and with a third that one of them fits: counted, and rounded, in half of
LitBank and of GUM (145 pairs). Short forms and misspellings are too rare there; theirs are guesses.
"""
PROPOSED = 0.5
_TITLES = frozenset(TITLES) | word_set(
    "dr doctor captain capt colonel col judge professor prof saint st major general president master mistress miss"
)
_WORD = re.compile(r"[^\W_](?:[^\W_]|[-'’](?=[^\W_]))*")
_SHORTEST, _LONG = 3, 4  # letters of a short form; of a word in which one may be wrong
_PLURAL = ("s", "es", "'s", "’s")


def alike(entities: Sequence[ConversationEntity], speakers: Collection[str]) -> tuple[AlikeEntities, ...]:
    """Pairs of people whose names go together, the surest first. Two who speak are two. speakers: their names."""
    people = [one for one in entities if one.type == "person" and one.mentions]
    cues: dict[tuple[int, int], AliasCue] = {}
    near: dict[int, set[int]] = defaultdict(set)
    for (a, one), (b, other) in combinations(enumerate(people), 2):
        if (cue := cue_of(one.name, other.name)) is not None:
            cues[a, b] = cue
            near[a].add(b)
            near[b].add(a)
    found = []
    for (a, b), cue in cues.items():
        if all(speaks(people[n].name, speakers) for n in (a, b)):
            continue
        several = bool(near[a] - near[b] - {b} or near[b] - near[a] - {a})
        kept, gone = sorted((people[a], people[b]), key=lambda one: (-len(one.name), -len(one.mentions)))
        found.append(
            AlikeEntities(
                kept.name,
                gone.name,
                "person",
                kept.handles,
                gone.handles,
                cue,
                several,
                CONFIDENCE[cue, several],
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.confidence, one.name, one.other)))


def speaks(name: str, speakers: Collection[str]) -> bool:
    """Whether somebody of that name speaks; a first name will do."""
    return any(name.casefold() in (each.casefold(), each.casefold().split()[0]) for each in speakers if each)


def cue_of(one: str, other: str) -> AliasCue | None:
    """What two names share that are likely of one person; None for nothing, or for a man's and a woman's."""
    genders = {name_gender(one), name_gender(other)} - {Gender.UNKNOWN}
    if len(genders) > 1:
        return None
    (long_title, long), (short_title, short) = sorted(
        (_parts(one), _parts(other)), key=lambda parts: -len(parts[1])
    )
    if not short:
        return None
    if long == short:
        return "title" if long_title != short_title else "spelling"
    if len(short) < len(long):
        if not set(short) <= set(long):
            return None
        if short[0] == long[0]:
            return "given name"
        if short[-1] == long[-1]:
            return "family name, with a title" if short_title else "family name"
        return None
    differ = [pair for pair in zip(long, short, strict=True) if pair[0] != pair[1]]
    return _cue_of_words(*differ[0]) if len(differ) == 1 else None


def _cue_of_words(one: str, other: str) -> AliasCue | None:
    short, long = sorted((one, other), key=len)
    if long in {short + end for end in _PLURAL}:
        return None
    if len(short) >= _SHORTEST and long.startswith(short):
        return "short form"
    return "spelling" if len(short) >= _LONG and OSA.distance(one, other) == 1 else None


def _parts(name: str) -> tuple[frozenset[str], list[str]]:
    """Titles and the other words, in small letters; words alone where there are only titles."""
    words = [word.lower() for word in _words(name)]
    rest = [word for word in words if word not in _TITLES]
    return (frozenset(words) & _TITLES, rest) if rest else (frozenset(), words)


def _words(name: str) -> Iterator[str]:
    for found in _WORD.finditer(name):
        yield re.sub(r"['’]s?$", "", found[0])
