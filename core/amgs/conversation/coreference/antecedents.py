"""Which earlier mention "he" or "she" means: the nearest that agrees with it, weighed by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Gender, Kind

RELIABILITY = 0.74
"""How often it is right for what it promises, on the he and she of eight episodes of Friends; confidence is
probability times this.
"""

# Log odds, set by hand after what is known of English.
_SENTENCE, _FURTHEST = -0.5, 5
"""For each sentence that lies between, up to so many."""
_WORDS_APART = -0.35
_LABEL = -1.6
"""Who has only spoken is seldom spoken of."""
_GENDERS_AGREE = 1.0
_BETWEEN = -0.5
"""For the logarithm of how many candidates lie between."""
_NONE = -1.5
"""The score of no candidate at all."""


def chances(passage: CorefPassage, anaphor: int, candidates: Sequence[int]) -> list[float]:
    """How probably a mention means what each of some earlier ones means, in order; what is left to 1 is that none of
    them is meant.
    """
    one = passage.mentions[anaphor]
    scores = []
    for place, index in enumerate(candidates):
        other = passage.mentions[index]
        apart = min(_sentence(passage, one) - _sentence(passage, other), _FURTHEST)
        score = _SENTENCE * apart + _WORDS_APART * math.log1p((one.start - other.start) / 6.0)
        score += _GENDERS_AGREE * (one.gender is other.gender) + _LABEL * (other.kind is Kind.LABEL)
        scores.append(score + _BETWEEN * math.log1p(len(candidates) - 1 - place))
    top = max([_NONE, *scores])
    weights = [math.exp(score - top) for score in scores]
    total = sum(weights) + math.exp(_NONE - top)
    return [weight / total for weight in weights]


def agree(one: Gender, other: Gender) -> bool:
    """Whether two genders may be of one person."""
    return one is other or Gender.UNKNOWN in (one, other)


def _sentence(passage: CorefPassage, mention: CorefMention) -> int:
    if mention.word >= 0:
        return passage.words[mention.word].sentence
    words = passage.turns[mention.turn].words
    return passage.words[words[0]].sentence if words else 0
