"""A conversation or a text as coreference reads it: one string, its words with their grammar, and its mentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum


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
