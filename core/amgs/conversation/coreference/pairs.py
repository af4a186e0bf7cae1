"""What the grammar tells of a pronoun and what it may mean: one row of named features for each candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Gender, Kind
from amgs.conversation.coreference.words import REFLEXIVES
from amgs.types import Vector

_SUBJECT = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_OBJECT = frozenset({"dobj", "iobj", "dative", "attr", "oprd"})
_ROLES = ("subject", "object", "after a preposition", "possessive", "other role")
_DISTANCES = ("same sentence", "1 sentence", "2 sentences", "3 or 4 sentences", "5 or more sentences")
_CANDIDATES = (Kind.NAME, Kind.NOUN, Kind.PERSON, Kind.THEY, Kind.IT, Kind.LABEL)
_ANAPHORS = (Kind.PERSON, Kind.THEY, Kind.IT, Kind.NOUN, Kind.NAME)
_QUOTES = frozenset({'"', "“", "”", "``", "''"})

FEATURES = (
    *_DISTANCES,
    "words apart",
    "follows",
    "turns apart",
    "said by the same speaker",
    *(f"candidate is {kind}" for kind in _CANDIDATES),
    *(f"candidate: {role}" for role in _ROLES),
    *(f"anaphor: {role}" for role in _ROLES),
    "same role",
    *(f"anaphor is {kind}" for kind in _ANAPHORS),
    "genders agree",
    "genders clash",
    "numbers clash",
    "same word",
    "same clause",
    "contains the anaphor",
    "candidates between",
    "how often said",
    "begins its sentence",
    "quoted as the anaphor is",
    "reflexive",
)
"""Names of the columns of `pair_features`."""
_AT = {name: column for column, name in enumerate(FEATURES)}


def pair_features(passage: CorefPassage, anaphor: int, candidates: Sequence[int]) -> Vector:
    """One row for each candidate, (n, len(FEATURES)); yes and no are 1 and 0, counts are logarithms."""
    one = passage.mentions[anaphor]
    others = [passage.mentions[i] for i in candidates]
    rows = np.zeros((len(others), len(FEATURES)), dtype=np.float32)
    said = _said_around(passage, one)
    quoted = quoted_words(passage, one.turn)
    for row, (index, other) in zip(rows, zip(candidates, others, strict=True), strict=True):
        _place(row, passage, one, other)
        _grammar(row, passage, one, other)
        low, high = sorted((anaphor, index))
        between = sum(low < i < high and agree(one, passage.mentions[i]) for i in candidates)
        row[_AT["candidates between"]] = np.log1p(between)
        row[_AT["how often said"]] = np.log1p(said[_key(passage, other)])
        if other.kind is not Kind.LABEL:
            other_quoted = quoted if other.turn == one.turn else quoted_words(passage, other.turn)
            row[_AT["quoted as the anaphor is"]] = (other.word in other_quoted) == (one.word in quoted)
    return rows


def _said_around(passage: CorefPassage, mention: CorefMention) -> Counter[str]:
    """How often words stand around a mention, most of it before."""
    words = passage.turns[mention.turn].words
    at = mention.word if mention.word >= 0 else words.start
    return Counter(word.text.lower() for word in passage.words[max(0, at - _BACK) : at + _AHEAD])


_BACK, _AHEAD = 300, 100  # words


def agree(one: CorefMention, other: CorefMention) -> bool:
    """Whether gender and number do not forbid that two mentions mean the same."""
    return not (_clash(one.gender, other.gender) or _numbers_clash(one, other))


def role(passage: CorefPassage, mention: CorefMention) -> int:
    """The place of a mention in its clause, as a number of a role: subject 0, object 1, after a preposition 2,
    possessive 3, other 4.
    """
    if mention.word < 0:
        return 4
    word = passage.words[mention.word]
    return 3 if word.tag == "PRP$" else _plain(word.role)


def _plain(name: str) -> int:
    if name in _SUBJECT:
        return 0
    if name in _OBJECT:
        return 1
    return 2 if name == "pobj" else 3 if name == "poss" else 4


def _place(row: Vector, passage: CorefPassage, one: CorefMention, other: CorefMention) -> None:
    apart = abs(_sentence(passage, one) - _sentence(passage, other))
    row[0 if apart == 0 else 1 if apart == 1 else 2 if apart == 2 else 3 if apart <= 4 else 4] = 1.0
    row[_AT["words apart"]] = np.log1p(abs(one.start - other.start) / 6.0)
    row[_AT["follows"]] = other.start > one.start
    row[_AT["turns apart"]] = np.log1p(abs(one.turn - other.turn))
    speaker = passage.turns[one.turn].speaker
    row[_AT["said by the same speaker"]] = bool(speaker) and speaker == passage.turns[other.turn].speaker
    if other.word >= 0:
        first = passage.words[other.word - 1].sentence if other.word else -1
        row[_AT["begins its sentence"]] = first != passage.words[other.word].sentence


def _grammar(row: Vector, passage: CorefPassage, one: CorefMention, other: CorefMention) -> None:
    kind = Kind.PERSON if other.kind is Kind.YOU else other.kind
    row[_AT[f"candidate is {kind}"]] = 1.0
    if one.kind in _ANAPHORS:
        row[_AT[f"anaphor is {one.kind}"]] = 1.0
    ours, theirs = role(passage, one), role(passage, other)
    row[_AT[f"anaphor: {_ROLES[ours]}"]] = 1.0
    row[_AT[f"candidate: {_ROLES[theirs]}"]] = 1.0
    row[_AT["same role"]] = ours == theirs != 4
    known = Gender.UNKNOWN not in (one.gender, other.gender)
    row[_AT["genders agree"]] = known and one.gender is other.gender
    row[_AT["genders clash"]] = _clash(one.gender, other.gender)
    row[_AT["numbers clash"]] = _numbers_clash(one, other)
    row[_AT["same word"]] = _key(passage, one) == _key(passage, other)
    row[_AT["contains the anaphor"]] = other.start <= one.start and one.end <= other.end
    row[_AT["reflexive"]] = one.text.lower() in REFLEXIVES
    if one.word >= 0 and other.word >= 0:
        row[_AT["same clause"]] = _clause(passage, one.word) == _clause(passage, other.word)


def _clause(passage: CorefPassage, word: int) -> int:
    """The word that governs the clause: the nearest verb above, through prepositions."""
    at = passage.words[word].head
    for _ in range(4):
        if passage.words[at].tag.startswith("VB") or passage.words[at].head == at:
            break
        at = passage.words[at].head
    return at


def _sentence(passage: CorefPassage, mention: CorefMention) -> int:
    if mention.word >= 0:
        return passage.words[mention.word].sentence
    words = passage.turns[mention.turn].words
    return passage.words[words[0]].sentence if words else 0


def _clash(one: Gender, other: Gender) -> bool:
    return Gender.UNKNOWN not in (one, other) and one is not other


def _numbers_clash(one: CorefMention, other: CorefMention) -> bool:
    return one.plural != other.plural and not (one.kind is Kind.THEY and other.kind is Kind.NAME)


def _key(passage: CorefPassage, mention: CorefMention) -> str:
    return passage.words[mention.word].text.lower() if mention.word >= 0 else mention.text.split()[0].lower()


def quoted_words(passage: CorefPassage, turn: int) -> frozenset[int]:
    """The words of a turn that stand between quotation marks: somebody else's, most often."""
    inside, found = False, []
    for i in passage.turns[turn].words:
        if passage.words[i].text in _QUOTES:
            inside = passage.words[i].text in ("“", "``") or (
                passage.words[i].text not in ("”", "''") and not inside
            )
        elif inside:
            found.append(i)
    return frozenset(found)
