"""A conversation or a text as coreference reads it: one string, its words with their grammar, and its mentions; and
what English words tell of whom they mean: pronouns, titles, greetings, first names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from importlib import resources


def word_set(words: str) -> frozenset[str]:
    """Words that are written with blanks between them."""
    return frozenset(words.split())


class Kind(StrEnum):
    """What a mention is made of."""

    I = "i"  # noqa: E741
    YOU = "you"
    WE = "we"
    PERSON = "person"
    """he, she and their forms."""
    NAME = "name"
    LABEL = "label"
    """The name of who speaks, before a turn."""


class Gender(StrEnum):
    """Of what is meant, as far as the words tell."""

    FEMALE = "female"
    MALE = "male"
    THING = "thing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CorefWord:
    """A word with its grammar. start, end: characters of the passage. tag: of the Penn Treebank. role: its dependency
    on the word `head`. sentence: counted through the whole passage.
    """

    start: int
    end: int
    text: str
    tag: str
    role: str
    head: int
    sentence: int


@dataclass(frozen=True, slots=True)
class CorefMention:
    """Words that mean somebody or something. start, end: characters of the passage; word: the one that heads it."""

    start: int
    end: int
    text: str
    kind: Kind
    turn: int
    word: int
    gender: Gender = Gender.UNKNOWN


@dataclass(frozen=True, slots=True)
class CorefTurn:
    """What one speaker says at a time. start, end: of what is said, without the label; speaker: empty for a text.
    session: who was there in another one need not be here.
    """

    speaker: str
    start: int
    end: int
    words: range
    session: int = 0


@dataclass(frozen=True, slots=True)
class CorefPassage:
    """A text in which mentions are resolved; mentions are in the order of their starts."""

    text: str
    turns: tuple[CorefTurn, ...]
    words: tuple[CorefWord, ...]
    mentions: tuple[CorefMention, ...] = field(default=())

    @property
    def speakers(self) -> tuple[str, ...]:
        """Everybody who speaks, in the order in which they begin to."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.turns if turn.speaker))

    def session_of(self, turn: int) -> range:
        """The turns of the session that a turn is of."""
        first = last = turn
        while first > 0 and self.turns[first - 1].session == self.turns[turn].session:
            first -= 1
        while last + 1 < len(self.turns) and self.turns[last + 1].session == self.turns[turn].session:
            last += 1
        return range(first, last + 1)

    def words_of(self, start: int, end: int, turn: int) -> list[int]:
        """The words of a turn that lie in a span of characters."""
        return [i for i in self.turns[turn].words if self.words[i].start < end and self.words[i].end > start]

    def head_of(self, start: int, end: int, turn: int) -> int:
        """The word of a span that the others depend on; the last one where several do not."""
        inside = self.words_of(start, end, turn)
        if not inside:
            return -1
        free = [i for i in inside if self.words[i].head not in inside or self.words[i].head == i]
        return free[-1] if free else inside[-1]


def with_mentions(passage: CorefPassage, mentions: Sequence[CorefMention]) -> CorefPassage:
    """The same passage with these mentions, in order."""
    ordered = sorted(mentions, key=lambda m: (m.start, -m.end))
    return CorefPassage(passage.text, passage.turns, passage.words, tuple(ordered))


_PRONOUNS = {
    (Kind.I, Gender.UNKNOWN): "i me my mine myself",
    (Kind.YOU, Gender.UNKNOWN): "you your yours yourself yourselves ya ye y'all",
    (Kind.WE, Gender.UNKNOWN): "we us our ours ourselves",
    (Kind.PERSON, Gender.FEMALE): "she her hers herself",
    (Kind.PERSON, Gender.MALE): "he him his himself",
}
PRONOUNS = {word: of for of, words in _PRONOUNS.items() for word in words.split()}
_STUTTER = re.compile(r"(?P<word>[a-z]+)(?:-(?P=word))+")


def pronoun(text: str) -> tuple[Kind, Gender] | None:
    """What kind of pronoun a word is, in a stutter ("I-I") or a contraction ("d'you") too; None for others."""
    word = text.lower().replace("’", "'")
    stuttered = _STUTTER.fullmatch(word)
    return PRONOUNS.get(stuttered["word"] if stuttered else word.removeprefix("d'"))


_TITLES = {
    Gender.FEMALE: "mrs ms miss madam lady queen princess duchess countess dame sister aunt mother madame",
    Gender.MALE: "mr sir lord king prince duke count baron brother uncle father monsieur",
}
TITLES = {word: gender for gender, words in _TITLES.items() for word in words.split()}
GROUP_CALLS = word_set("guys everyone everybody people folks fellas ladies gentlemen all both two three")
GREETINGS = word_set(
    "hey hi hello oh ok okay look listen thanks thank bye goodbye come please god yes yeah no sorry well now so and "
    "but alright right morning you night uh um ah what"
)


def name_gender(name: str) -> Gender:
    """What a title or a first name tells, UNKNOWN where it is given to both or is not known."""
    words = [word.strip(".,'’").lower() for word in name.split()]
    if not words:
        return Gender.UNKNOWN
    if words[0] in TITLES and len(words) > 1:
        return TITLES[words[0]]
    female, male = _first_names()
    if (words[0] in female) == (words[0] in male):
        return Gender.UNKNOWN
    return Gender.FEMALE if words[0] in female else Gender.MALE


def is_first_name(word: str) -> bool:
    """Whether the lists hold a word as a first name."""
    return any(word.lower() in names for names in _first_names())


@lru_cache(maxsize=1)
def _first_names() -> tuple[frozenset[str], frozenset[str]]:
    text = resources.files("amgs.conversation.coreference").joinpath("data/names.txt").read_text(encoding="utf-8")
    female, male = text.removeprefix("# female\n").split("# male\n")
    return frozenset(female.split()), frozenset(male.split())
