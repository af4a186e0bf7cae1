"""Names of people, organisations, places and the like, as a parsed conversation has them; one type for each name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from amgs.conversation.coreference.parser import GrammarParser, Parsed, detect_mentions
from amgs.conversation.coreference.passage import GREETINGS, CorefPassage, Gender, Kind, is_first_name
from amgs.conversation.coreference.resolver import Resolution, resolve
from amgs.conversation.resolved.patterns import LONGEST
from amgs.text import names
from amgs.text.name_cues import cues_beside
from amgs.text.stop_words import COMMON_WORDS
from amgs.types.conversation import Message
from amgs.types.mentions import MentionType

_SPOKEN = frozenset({"user", "assistant"})
_PAUSE = timedelta(hours=6)
"""After so long a pause another session begins: who was there need not be there."""


@dataclass(frozen=True, slots=True)
class SpokenPassage:
    """What is said in a conversation, read as one passage. spoken: the messages that its turns are of; parsed: with the
    names that the parser found; resolutions: of the mentions of `passage`.
    """

    spoken: tuple[Message, ...]
    parsed: Parsed
    passage: CorefPassage
    resolutions: tuple[Resolution, ...]

    def place(self, start: int, turn: int) -> int:
        """A character of the passage as one of its message."""
        return start - self.passage.turns[turn].start

    def span_of(self, mention: int) -> tuple[int, int, int]:
        """The number of the message and the characters of a mention."""
        one = self.passage.mentions[mention]
        message = self.spoken[one.turn].number
        return message, self.place(one.start, one.turn), self.place(one.end, one.turn)


def read_spoken(messages: Sequence[Message], parser: GrammarParser) -> SpokenPassage | None:
    """What user and assistant say; None where they say nothing.

    What is quoted to a tool or by it, and system prompts, are nobody's speech. Of a longer message the first 20,000
    characters are read. Raises ModelError without a parser.
    """
    spoken = [m for m in messages if m.role in _SPOKEN and m.text.strip()]
    if not spoken:
        return None
    turns = [(m.speaker or m.role, m.text[:LONGEST]) for m in spoken]
    parsed = parser.parse(turns, _sessions(spoken))
    passage = detect_mentions(parsed)
    return SpokenPassage(tuple(spoken), parsed, passage, resolve(passage))


def _sessions(messages: Sequence[Message]) -> list[int]:
    found, before = [0], messages[0].at
    for message in messages[1:]:
        paused = before is not None and message.at is not None and message.at - before >= _PAUSE
        found.append(found[-1] + paused)
        before = message.at or before
    return found


NameEvidence = Literal["speaker", "agreed", "few", "torn"]
"""What speaks for the type of a name: who bears it speaks here; three cues or more, nearly all of them; fewer; or cues
that do not agree.
"""
BY_EVIDENCE: Mapping[NameEvidence, float] = {"speaker": 0.95, "agreed": 0.93, "few": 0.6, "torn": 0.25}
BY_NAME: Mapping[tuple[MentionType, NameEvidence], float] = {
    ("group", "few"): 0.9,
    ("work", "few"): 0.8,
    ("place", "few"): 0.7,
    ("person", "few"): 0.5,
    ("organisation", "few"): 0.4,
    ("product", "few"): 0.3,
    ("organisation", "agreed"): 0.75,
}
"""Of a type where it differs. Both are counted, and rounded, on 210 names of chats and meetings that were drawn at
random and read.
"""

TYPES: Mapping[str, MentionType] = {
    "PERSON": "person",
    "ORG": "organisation",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "PRODUCT": "product",
    "EVENT": "event",
    "WORK_OF_ART": "work",
    "NORP": "group",
}
"""What the parser's labels are called here."""
_WORD = re.compile(r"[^\W\d_]+")
_EDGE_BEFORE, _EDGE_AFTER = (
    re.compile(r"^(?:(?:the|a|an)\s|[^\w])+", re.IGNORECASE),
    re.compile(r"(?:['’]s?|[^\w+#])+$"),
)
_NO_NAMES = frozenset(COMMON_WORDS) | GREETINGS | {"kay", "mm", "hmm", "hm", "yep", "yup", "nope", "ha", "haha", "lol"}
_OFTEN, _SHARE = 3, 0.75
_CUES: Mapping[str, MentionType] = {
    "person": "person",
    "place": "place",
    "organisation": "organisation",
    "project": "product",
}


@dataclass(frozen=True, slots=True)
class NamedMention:
    """A name at characters [start, end) of the passage. means: the whole name that it stands for."""

    start: int
    end: int
    turn: int
    type: MentionType
    means: str
    confidence: float
    because: str


def find_names(read: SpokenPassage) -> Iterator[NamedMention]:
    """The names of a passage in order. A name has one type throughout: that for which most speaks of what the parser
    takes it for at each place and of what stands beside it ("lives in", "works for"). Who speaks is a person.
    """
    passage = read.passage
    speakers = {name.casefold() for speaker in passage.speakers for name in (speaker, speaker.split()[0])}
    found = list(_runs(read))
    votes: dict[str, Counter[MentionType]] = defaultdict(Counter)
    for start, end, turn, text, type_ in found:
        vote = votes[names.key(text)]
        vote[type_] += 1
        said = passage.turns[turn]
        line = passage.text[said.start : said.end]
        vote.update(
            {_CUES[of] for of, _ in cues_beside(line, start - said.start, end - said.start, text) if of in _CUES}
        )
        if is_first_name(text.split()[0]) and type_ == "person":
            vote["person"] += 1
    bearers = {
        passage.mentions[one.mention].start: one.names[0]
        for one in read.resolutions
        if len(one.names) == 1 and passage.mentions[one.mention].kind is Kind.NAME
    }
    for start, end, turn, text, type_ in found:
        vote = votes[names.key(text)]
        best = max(vote, key=lambda t: (vote[t], t == type_, t))
        evidence: NameEvidence
        if text.casefold() in speakers:
            best, evidence, because = "person", "speaker", "somebody who speaks here"
        else:
            because = f"{vote[best]} of {vote.total()} cues"
            if vote[best] < _SHARE * vote.total():
                evidence = "torn"
            elif vote[best] >= _OFTEN:
                evidence = "agreed"
            else:
                evidence = "few"
        means = bearers.get(start, text) if best == "person" else text
        sure = BY_NAME.get((best, evidence), BY_EVIDENCE[evidence])
        yield NamedMention(start, end, turn, best, means, sure, because)


def _runs(read: SpokenPassage) -> Iterator[tuple[int, int, int, str, MentionType]]:
    """(start, end, turn, text, type) of what the parser takes for names, without articles and possessives at their
    ends, and without what the passage writes mostly in small letters.
    """
    passage = read.passage
    small = Counter(w for w in _WORD.findall(passage.text) if w.islower())
    capitals = Counter(w for w in _WORD.findall(passage.text) if not w.islower())
    starts = [turn.start for turn in passage.turns]
    labelled = [(start, end, TYPES[label]) for start, end, label in read.parsed.labels]
    taken = {i for start, end, _ in labelled for i in range(start, end)}
    # First names that the parser passes over.
    labelled += [
        (one.start, one.end, "person")
        for one in passage.mentions
        if one.kind is Kind.NAME and one.gender is not Gender.THING and taken.isdisjoint(range(one.start, one.end))
    ]
    for start, end, type_ in sorted(labelled):
        turn = bisect_right(starts, start) - 1
        if turn < 0 or end > passage.turns[turn].end:
            continue
        text = passage.text[start:end].split("\n", 1)[0]
        end = start + len(text)
        if opening := _EDGE_BEFORE.match(text):
            start, text = start + opening.end(), text[opening.end() :]
        if closing := _EDGE_AFTER.search(text):
            end, text = end - len(closing[0]), text[: closing.start()]
        words = _WORD.findall(text)
        if not words or not names.cleaned(text) or not any(w[0].isupper() for w in words):
            continue
        if all(w.lower() in _NO_NAMES for w in words):
            continue
        if len(words) == 1 and small[text.lower()] > capitals[text]:
            continue
        yield start, end, turn, text, type_
