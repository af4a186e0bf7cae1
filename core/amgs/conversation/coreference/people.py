"""Everybody who is spoken of in a passage, by the name under which they are kept; and who is spoken to: by a call to
them, or by who spoke before and who speaks next; and which of their earlier mentions "he" or "she" means: the nearest
that agrees with it, weighed by hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from amgs.conversation.coreference.passage import (
    GREETINGS,
    GROUP_CALLS,
    TITLES,
    CorefMention,
    CorefPassage,
    Gender,
    Kind,
    is_first_name,
    name_gender,
    word_set,
)

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


_SHORTEST = 3  # letters of a short form


class People:
    """Names of who speaks here and of who is known elsewhere, and those that come up.

    here: who speaks; elsewhere: other people's whole names, as a store knows them. A name that fits two of them fits
    nobody, unless one of the two speaks here.
    """

    def __init__(self, here: Sequence[str], elsewhere: Iterable[str] = ()) -> None:
        self.here = tuple(here)
        self._elsewhere = tuple(dict.fromkeys(n for n in elsewhere if n not in self.here))
        self._new: dict[str, str] = {}

    def identify(self, text: str) -> tuple[str, CorefCue]:
        """Who is meant by a name, and by what it fits; a name that fits nobody is a person of its own."""
        words = [w.strip(".,'’\"").removesuffix("'s").removesuffix("’s") for w in text.split()]
        words = [w for w in words if w and w[0].isalpha() and w.lower() not in GREETINGS] or [text]
        for group in (self.here, self._elsewhere, tuple(self._new)):
            found = [name for name in group if _fits(words, name)]
            if len(found) == 1:
                return found[0], CorefCue.NAMED
        for group in (self.here, self._elsewhere, tuple(self._new)):
            found = [name for name in group if _short_form(words, name)]
            if len(found) == 1:
                return found[0], CorefCue.NICKNAME
        self._new[text] = text
        return text, CorefCue.NEW_NAME


def _fits(words: Sequence[str], name: str) -> bool:
    """Whether all words of a mention are of a name, a title aside, in any case of letters."""
    own = {part.strip(".").lower() for part in name.split()}
    said = [w.lower() for w in words if w.lower() not in TITLES] or [w.lower() for w in words]
    if len(said) == len(words):
        return all(w in own for w in said)
    gender = TITLES.get(words[0].lower(), Gender.UNKNOWN)
    return agree(gender, name_gender(name)) and all(w in own for w in said)


def _short_form(words: Sequence[str], name: str) -> bool:
    """Whether one word is the beginning of a name's first word: "Rach", "Phoebs"."""
    if len(words) != 1 or len(words[0]) < _SHORTEST:
        return False
    said, first = words[0].lower(), name.split()[0].lower()
    if not is_first_name(first) or not agree(name_gender(said), name_gender(first)):  # no "Ann" is "Announcement"
        return False
    return first.startswith(said) or (said.endswith("s") and len(said) > _SHORTEST and first.startswith(said[:-1]))


_ENDS = word_set(", . ! ? ; : - -- … ...")
_GENERIC = frozenset({"know", "see"})


class CorefCue(StrEnum):
    """By what somebody is held to be meant."""

    SPEAKER = "speaker"
    QUOTED = "inside quotation marks"
    ONLY_TWO = "the only other speaker"
    CALLED = "called by name"
    BETWEEN = "spoke before and speaks next"
    BEFORE = "spoke before"
    NEXT = "speaks next"
    ASKED = "answers the question"
    WITH_ADDRESSEE = "speaker and who is spoken to"
    NAMED = "named"
    NICKNAME = "a short form of the name"
    NEW_NAME = "a name not met before"
    ANTECEDENT = "named before"


@dataclass(frozen=True, slots=True)
class Addressee:
    """names: who is spoken to, nobody where nothing tells; cue: by what."""

    names: tuple[str, ...]
    cue: CorefCue


def is_call(passage: CorefPassage, mention: CorefMention) -> bool:
    """Whether a mention calls somebody: set off by commas at an end of its sentence, or after a greeting."""
    if mention.word < 0 or mention.kind not in (Kind.NAME, Kind.YOU):
        return False
    inside = passage.words_of(mention.start, mention.end, mention.turn)
    before = _word(passage, inside[0] - 1, mention)
    after = _word(passage, inside[-1] + 1, mention)
    if before == "on" and _word(passage, inside[0] - 2, mention) == "come":
        before = "come"
    if after and after not in _ENDS and not (before in GREETINGS and after in GREETINGS):
        return before in GREETINGS and before not in ("and", "but", "so", "god", "what", "look") and after in (
            "you", "what", "how", "where", "can", "i", "do", "did", "are", "it", "this", "that", "we", "would",
        )  # fmt: skip
    if not before:
        return bool(after)
    return before in (",", "!", "?", "-", "--") or before in GREETINGS


def addressees(passage: CorefPassage, called: Sequence[tuple[int, str]], turn: int, at: int) -> Addressee:
    """Who is spoken to at a character of a turn. called: calls of this turn, (character, whom)."""
    speaker = passage.turns[turn].speaker
    session = passage.session_of(turn)
    earlier = [passage.turns[i].speaker for i in session if i < turn]
    later = [passage.turns[i].speaker for i in session if i > turn]
    if called:
        before = [name for start, name in called if start <= at]
        return Addressee((before[-1] if before else called[0][1],), CorefCue.CALLED)
    others = tuple(dict.fromkeys(name for name in (*earlier, *later) if name not in ("", speaker)))
    if len(others) == 1:
        return Addressee(others, CorefCue.ONLY_TWO)
    last = next((name for name in reversed(earlier) if name not in ("", speaker)), "")
    following = next((name for name in later if name not in ("", speaker)), "")
    if last and last == following:
        return Addressee((last,), CorefCue.BETWEEN)
    if following and (not last or (_asks(passage, turn, at))):
        return Addressee((following,), CorefCue.ASKED if last else CorefCue.NEXT)
    return Addressee((last,), CorefCue.BEFORE) if last else Addressee((), CorefCue.BEFORE)


_QUOTES = frozenset({'"', "“", "”", "``", "''"})


def quoted_words(passage: CorefPassage, turn: int) -> frozenset[int]:
    """The words of a turn that stand between quotation marks: somebody else's, most often."""
    inside, found = False, []
    for i in passage.turns[turn].words:
        if passage.words[i].text in _QUOTES:
            inside = passage.words[i].text in ("“", "``") or (passage.words[i].text not in ("”", "''") and not inside)
        elif inside:
            found.append(i)
    return frozenset(found)


def is_group_call(passage: CorefPassage, mention: CorefMention) -> bool:
    """Whether "you" means several: "you guys", "you two"."""
    after = _word(passage, mention.word + 1, mention)
    return after in GROUP_CALLS or mention.text.lower() in ("yourselves", "y'all")


def is_filler(passage: CorefPassage, mention: CorefMention) -> bool:
    """Whether "you" stands in "you know" or "you see", said to nobody in particular."""
    return _word(passage, mention.word + 1, mention) in _GENERIC


def _asks(passage: CorefPassage, turn: int, at: int) -> bool:
    """Whether the sentence around a character ends with a question mark."""
    words = [passage.words[i] for i in passage.turns[turn].words]
    here = next((w.sentence for w in words if w.end > at), None)
    return any(w.text.endswith("?") for w in words if w.sentence == here)


def _word(passage: CorefPassage, at: int, mention: CorefMention) -> str:
    words = passage.turns[mention.turn].words
    return passage.words[at].text.lower() if words and words[0] <= at <= words[-1] else ""
