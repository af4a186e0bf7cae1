"""What is somebody's: "my car", "your sister", "Anna's boss". The owner speaks, is spoken to, or is named."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from amgs.conversation.coreference.passage import Kind
from amgs.conversation.coreference.words import KIN, NOUNS, word_set
from amgs.conversation.resolved.confidence import OBJECT, RELATIONSHIP
from amgs.conversation.resolved.spoken import SpokenPassage
from amgs.types.mentions import MentionType

_RELATIONS = (
    KIN | frozenset(NOUNS) | word_set("mate teammate classmate coworker mentor coach family parents kids")
)
_NOTHING = word_set(
    "mind heart head eye hand foot face back body hair skin muscle nail strength soul life way opinion view "
    "thought thinking idea feeling love best favorite favourite own turn fault pleasure thing stuff side time "
    "lot kind part rest day week weekend month year morning evening night name self sense experience interest "
    "point case place end help support advice question answer response reply suggestion choice guess hope "
    "wish luck mood taste style passion goal dream word message share attention journey first number age "
    "birthday pace progress horizon seat moment description dedication precision reputation motivation "
    "ambition imagination appreciation satisfaction energy beauty one someone somebody anyone anybody "
)
"""Heads that are hardly ever a thing that can be spoken of again."""
_NOUNS = ("NN", "NNS")
_JOINS = ("-", "'s", "’s", "'", "’")
_ABSTRACT = ("ness", "ity", "ence", "ance", "ism")
_LONGEST = 6  # words
_POSSESSIVE = re.compile(r"['’]s?$")
_PERSONS = {
    Kind.I: "I",
    Kind.WE: "we",
    Kind.YOU: "you",
    Kind.PERSON: "he or she",
    Kind.THEY: "they",
    Kind.NAME: "named",
}


@dataclass(frozen=True, slots=True)
class PersonalMention:
    """Whose something is, at characters [start, end) of the passage. owner_mention: the number of the mention that
    tells the owner.
    """

    start: int
    end: int
    turn: int
    type: MentionType
    owner: str
    head: str
    confidence: float
    owner_mention: int

    @property
    def means(self) -> str:
        return f"{self.owner}’s {self.head}"


def bare_name(name: str) -> str:
    """A name without the possessive with which it was first said."""
    return _POSSESSIVE.sub("", name)


def personal_in(read: SpokenPassage, people: Collection[int]) -> Iterator[PersonalMention]:
    """What is somebody's, in order; nothing where the owner is not told, or is not to be had.

    people: where the names of people stand; what is a place's or a firm's is nobody's.
    """
    passage = read.passage
    for one in read.resolutions:
        mention = passage.mentions[one.mention]
        if not one.names or mention.word < 0 or mention.kind not in _PERSONS:
            continue
        word = passage.words[mention.word]
        if word.role != "poss" or word.head <= mention.word:
            continue
        head = passage.words[word.head]
        if head.tag not in _NOUNS or word.head - mention.word > _LONGEST or not head.text.isalpha():
            continue
        bare = head.text.lower()
        if bare.endswith(_ABSTRACT) or {bare, bare.removesuffix("s"), bare.removesuffix("es")} & _NOTHING:
            continue
        if mention.kind is Kind.NAME and mention.start not in people:
            continue
        between = passage.words[mention.word + 1 : word.head]
        if not all(w.text.replace("-", "").isalpha() or w.text in _JOINS for w in between):
            continue  # what breaks off, or is a mark of a transcript
        if word.head + 1 < len(passage.words) and passage.words[word.head + 1].tag in _NOUNS:
            continue  # the phrase goes on, whatever the parser says
        beside = [
            w.text.lower()
            for w in between
            if w.head == word.head and w.role == "compound" and w.text.isalpha() and w.end < head.start
        ]
        related = bare in _RELATIONS or bare.removesuffix("s") in _RELATIONS
        names = [bare_name(name) for name in one.names]
        owner = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        sure = (RELATIONSHIP if related else OBJECT)[_PERSONS[mention.kind]] * one.confidence
        yield PersonalMention(
            mention.start,
            head.end,
            mention.turn,
            "personal_relationship" if related else "personal_object",
            owner,
            " ".join([*beside, bare]),
            sure,
            one.mention,
        )
