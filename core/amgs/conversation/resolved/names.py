"""Names of people, organisations, places and the like, as a parsed conversation has them; one type for each name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from amgs.conversation.coreference.passage import Gender, Kind
from amgs.conversation.coreference.words import GREETINGS, is_first_name
from amgs.conversation.resolved.confidence import BY_EVIDENCE, BY_NAME, NameEvidence
from amgs.conversation.resolved.spoken import SpokenPassage
from amgs.text import names
from amgs.text.name_cues import cues_beside
from amgs.text.stop_words import COMMON_WORDS
from amgs.types.mentions import MentionType

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
_NO_NAMES = (
    frozenset(COMMON_WORDS)
    | GREETINGS
    | {"kay", "mm", "hmm", "hm", "yep", "yup", "nope", "ha", "haha", "lol"}
)
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


def named_in(read: SpokenPassage) -> Iterator[NamedMention]:
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
            {
                _CUES[of]
                for of, _ in cues_beside(line, start - said.start, end - said.start, text)
                if of in _CUES
            }
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
        if one.kind is Kind.NAME
        and one.gender is not Gender.THING
        and taken.isdisjoint(range(one.start, one.end))
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
