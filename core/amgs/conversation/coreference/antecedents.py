"""Which earlier mention a pronoun means: recency, subjects, parallel roles and agreement, weighed by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Gender, Kind
from amgs.conversation.coreference.words import REFLEXIVES

RELIABILITY = 0.57
"""How often it is right for what it promises, on the he and she of eight episodes of Friends; confidence is
probability times this.
"""
_SUBJECT = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_OBJECT = frozenset({"dobj", "iobj", "dative", "attr", "oprd"})
_QUOTES = frozenset({'"', "“", "”", "``", "''"})
_BACK, _AHEAD = 300, 100
"""Words around an anaphor in which it is counted how often a candidate is said."""

# Log odds, set by hand after what is known of English.
_SENTENCES = (0.0, -0.4, -0.9, -1.5, -1.5, -2.4)
"""By how many sentences lie between; the last for all that are further."""
_WORDS_APART = -0.35
_FOLLOWS = -1.5
_KIND = {Kind.LABEL: -1.6, Kind.NOUN: -0.4, Kind.PERSON: 0.5, Kind.YOU: 0.5}
_ROLE = {0: 0.5, 3: -0.2}
_SAME_ROLE = 0.7
_GENDERS_AGREE, _GENDERS_CLASH, _NUMBERS_CLASH = 1.0, -8.0, -6.0
_CONTAINS = -8.0
_SAME_CLAUSE = -4.0
"""For "he saw him", which is two people; "he saw himself" is one."""
_BETWEEN = -0.5
_OFTEN = 0.3
_QUOTED_ALIKE = 0.3
_NONE = -1.5
"""The score of no candidate at all."""


def chances(passage: CorefPassage, anaphor: int, candidates: Sequence[int]) -> list[float]:
    """How probably a mention means what each of some others means; what is left to 1 is that none of them is meant."""
    one = passage.mentions[anaphor]
    said = _said_around(passage, one)
    quoted = quoted_words(passage, one.turn)
    scores = []
    for index in candidates:
        other = passage.mentions[index]
        low, high = sorted((anaphor, index))
        between = sum(low < i < high and agree(one, passage.mentions[i]) for i in candidates)
        score = _place(passage, one, other) + _grammar(passage, one, other)
        score += _BETWEEN * math.log1p(between) + _OFTEN * math.log1p(said[_key(passage, other)])
        if other.kind is not Kind.LABEL:
            theirs = quoted if other.turn == one.turn else quoted_words(passage, other.turn)
            score += _QUOTED_ALIKE * ((other.word in theirs) == (one.word in quoted))
        scores.append(score)
    top = max([_NONE, *scores])
    weights = [math.exp(score - top) for score in scores]
    total = sum(weights) + math.exp(_NONE - top)
    return [weight / total for weight in weights]


def agree(one: CorefMention, other: CorefMention) -> bool:
    """Whether gender and number do not forbid that two mentions mean the same."""
    return not (_clash(one.gender, other.gender) or _numbers_clash(one, other))


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


def _place(passage: CorefPassage, one: CorefMention, other: CorefMention) -> float:
    apart = abs(_sentence(passage, one) - _sentence(passage, other))
    score = _SENTENCES[min(apart, len(_SENTENCES) - 1)]
    score += _WORDS_APART * math.log1p(abs(one.start - other.start) / 6.0)
    return score + _FOLLOWS * (other.start > one.start)


def _grammar(passage: CorefPassage, one: CorefMention, other: CorefMention) -> float:
    ours, theirs = _role(passage, one), _role(passage, other)
    score = _KIND.get(other.kind, 0.0) + _ROLE.get(theirs, 0.0) + _SAME_ROLE * (ours == theirs != 4)
    known = Gender.UNKNOWN not in (one.gender, other.gender)
    score += _GENDERS_AGREE * (known and one.gender is other.gender)
    score += _GENDERS_CLASH * _clash(one.gender, other.gender)
    score += _NUMBERS_CLASH * _numbers_clash(one, other)
    score += _CONTAINS * (other.start <= one.start and one.end <= other.end)
    possessive = 3 in (ours, theirs)
    if one.word >= 0 and other.word >= 0 and not possessive and one.text.lower() not in REFLEXIVES:
        score += _SAME_CLAUSE * (_clause(passage, one.word) == _clause(passage, other.word))
    return score


def _said_around(passage: CorefPassage, mention: CorefMention) -> Counter[str]:
    """How often words stand around a mention, most of it before."""
    words = passage.turns[mention.turn].words
    at = mention.word if mention.word >= 0 else words.start
    return Counter(word.text.lower() for word in passage.words[max(0, at - _BACK) : at + _AHEAD])


def _role(passage: CorefPassage, mention: CorefMention) -> int:
    """The place of a mention in its clause: subject 0, object 1, after a preposition 2, possessive 3, other 4."""
    if mention.word < 0:
        return 4
    word = passage.words[mention.word]
    if word.tag == "PRP$" or word.role == "poss":
        return 3
    if word.role in _SUBJECT:
        return 0
    return 1 if word.role in _OBJECT else 2 if word.role == "pobj" else 4


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
