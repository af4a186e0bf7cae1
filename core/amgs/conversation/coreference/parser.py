"""Words and their grammar by spaCy's small English model, imported and loaded on first use; and the mentions in them,
with kind, number and gender read from the words.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from amgs.conversation.coreference.passage import (
    CorefMention,
    CorefPassage,
    CorefTurn,
    CorefWord,
    Gender,
    Kind,
    with_mentions,
)
from amgs.conversation.coreference.words import (
    NOUNS,
    PLURAL_PRONOUNS,
    is_first_name,
    kinship,
    name_gender,
    pronoun,
)
from amgs.text.spacy_entities import missing_model, opened

_NOT_NEEDED = ("lemmatizer",)


@dataclass(frozen=True, slots=True)
class Group:
    """A noun phrase. head: the word that heads it; proper: that is a name."""

    start: int
    end: int
    head: str
    proper: bool


@dataclass(frozen=True, slots=True)
class Parsed:
    """A passage without mentions, and where names of people and groups of words stand in it.

    people: spans of names that are a person's, as characters; names: of other names; groups: noun phrases; labels: what
    the model takes each name for, in its own words, in order.
    """

    passage: CorefPassage
    people: tuple[tuple[int, int], ...] = ()
    names: tuple[tuple[int, int], ...] = ()
    groups: tuple[Group, ...] = ()
    labels: tuple[tuple[int, int, str], ...] = ()


class GrammarParser:
    """Reads turns as one passage: "speaker: text" in a line each.

    model: a path or an installed package; empty means the packaged small model. Raises ModelError on first use when it
    is missing.
    """

    def __init__(self, model: str = "") -> None:
        self._model = model
        self._loaded: Any = None
        self._lock = threading.Lock()

    @property
    def loaded(self) -> bool:
        return self._loaded is not None

    def load(self) -> None:
        self._pipeline()

    def parse(self, turns: Sequence[tuple[str, str]], sessions: Sequence[int] = ()) -> Parsed:
        """(speaker, text) in order. A speaker may be empty: then the text stands without a label. sessions: the one
        that each turn is of; none where all are of one.
        """
        # What one thread reads would go from the vocabulary when another one leaves its zone.
        with self._lock, (pipeline := self._pipeline()).memory_zone():
            read = [_Read.of(document) for document in pipeline.pipe((t for _, t in turns), batch_size=64)]
        return _joined(turns, read, sessions or [0] * len(turns))

    def _pipeline(self) -> Any:
        if self._loaded is None:
            try:
                self._loaded = opened(self._model, _NOT_NEEDED)
            except (ImportError, OSError, ValueError, AttributeError) as error:
                raise missing_model(self._model, error) from error
        return self._loaded


@lru_cache(maxsize=1)
def packaged_parser() -> GrammarParser:
    """The one of the packaged model that a process shares: it takes three seconds to load."""
    return GrammarParser()


_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Read:
    """What is taken from a document of spaCy; characters and words counted in it alone."""

    words: list[CorefWord]
    people: list[_Span]
    names: list[_Span]
    groups: list[Group]
    labels: list[tuple[int, int, str]]

    @classmethod
    def of(cls, document: Any) -> _Read:
        words, sentence = [], -1
        for token in document:
            sentence += bool(token.is_sent_start) or sentence < 0
            words.append(
                CorefWord(
                    token.idx,
                    token.idx + len(token.text),
                    token.text,
                    token.tag_,
                    token.dep_,
                    token.head.i,
                    sentence,
                )
            )
        spans = [(e.start_char, e.end_char, e.label_) for e in document.ents]
        return cls(
            words,
            [(a, b) for a, b, label in spans if label == "PERSON"],
            [(a, b) for a, b, label in spans if label in _NAMES],
            [
                Group(g.start_char, g.end_char, g.root.text, g.root.tag_.startswith("NNP"))
                for g in document.noun_chunks
            ],
            [one for one in spans if one[2] == "PERSON" or one[2] in _NAMES],
        )


_NAMES = frozenset({"ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "WORK_OF_ART", "NORP"})


def _joined(turns: Sequence[tuple[str, str]], read: Sequence[_Read], sessions: Sequence[int]) -> Parsed:
    parts: list[str] = []
    placed: list[CorefTurn] = []
    words: list[CorefWord] = []
    people: list[_Span] = []
    names: list[_Span] = []
    groups: list[Group] = []
    labels: list[tuple[int, int, str]] = []
    at, sentence = 0, 0
    for (speaker, text), one, session in zip(turns, read, sessions, strict=True):
        label = f"{speaker}: " if speaker else ""
        parts.append(f"{label}{text}")
        start, first = at + len(label), len(words)
        words += [
            CorefWord(
                w.start + start,
                w.end + start,
                w.text,
                w.tag,
                w.role,
                w.head + first,
                w.sentence + sentence,
            )
            for w in one.words
        ]
        placed.append(CorefTurn(speaker, start, start + len(text), range(first, len(words)), session))
        people += _moved(one.people, start)
        names += _moved(one.names, start)
        groups += [replace(g, start=g.start + start, end=g.end + start) for g in one.groups]
        labels += [(a + start, b + start, label) for a, b, label in one.labels]
        sentence += 1 + (one.words[-1].sentence if one.words else 0)
        at = start + len(text) + 1
    passage = CorefPassage("\n".join(parts), tuple(placed), tuple(words))
    return Parsed(passage, tuple(people), tuple(names), tuple(groups), tuple(labels))


def _moved(spans: Iterable[_Span], by: int) -> list[_Span]:
    return [(a + by, b + by) for a, b in spans]


_PROPER = frozenset({"NNP", "NNPS"})
_KIN_TAGS = frozenset({"NN", "NNP"})
_PLURAL_TAGS = frozenset({"NNS", "NNPS"})


def detected(parsed: Parsed) -> CorefPassage:
    """The passage with the mentions that were found in it: labels, pronouns, names, nouns of people."""
    passage = parsed.passage
    taken = bytearray(len(passage.text))  # 1 where a mention is
    spans: set[tuple[int, int]] = set()
    names: set[tuple[int, int]] = set()

    def take(found: Iterable[tuple[int, int]], into: set[tuple[int, int]]) -> None:
        for start, end in found:
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                into.add((start, end))

    take(parsed.people, names)
    # A small model takes "Emily" for a place now and then.
    take((span for span in parsed.names if is_first_name(passage.text[slice(*span)])), names)
    take(parsed.names, spans)
    take(((w.start, w.end) for w in passage.words if _pronoun(w.text, w.tag)), spans)
    # An "Emily" at the head of a sentence is tagged as an adverb.
    proper = (
        w
        for w in passage.words
        if (w.tag in _PROPER or w.tag == "RB") and w.text[:1].isupper() and is_first_name(w.text)
    )
    take(((w.start, w.end) for w in proper), names)
    spans |= names
    # "my sister" holds a pronoun and is a mention of its own.
    groups = {(g.start, g.end) for g in parsed.groups if g.head.lower() in NOUNS and not g.proper}
    spans |= groups
    # "Oh, dad, come in": a call is no group of words.
    ends = {end for _, end in groups}
    kin = (w for w in passage.words if kinship(w.text) and w.tag in _KIN_TAGS and w.end not in ends)
    take(((w.start, w.end) for w in kin), spans)
    return given(passage, sorted(spans), people=frozenset(names))


def given(
    passage: CorefPassage,
    spans: Iterable[tuple[int, int]],
    *,
    people: frozenset[tuple[int, int]] | None = None,
) -> CorefPassage:
    """The passage with the mentions of these spans of characters and the labels of its turns.

    people: which of the names are a person's; None where all are.
    """
    turns = passage.turns
    found = [
        _mention(passage, start, end, turn, people is None or (start, end) in people)
        for start, end, turn in _placed(passage, spans)
    ]
    labels = [
        CorefMention(
            t.start - len(t.speaker) - 2,
            t.start - 2,
            t.speaker,
            Kind.LABEL,
            number,
            -1,
            name_gender(t.speaker),
        )
        for number, t in enumerate(turns)
        if t.speaker
    ]
    return with_mentions(passage, found + labels)


def _placed(passage: CorefPassage, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Spans with the turn that each lies in; one outside every turn is left out."""
    placed, turn = [], 0
    for start, end in sorted(spans):
        while turn < len(passage.turns) and passage.turns[turn].end <= start:
            turn += 1
        if (
            turn < len(passage.turns)
            and passage.turns[turn].start <= start
            and end <= passage.turns[turn].end
        ):
            placed.append((start, end, turn))
    return placed


def _mention(passage: CorefPassage, start: int, end: int, turn: int, person: bool) -> CorefMention:
    text = passage.text[start:end]
    word = passage.head_of(start, end, turn)
    tag = passage.words[word].tag if word >= 0 else ""
    found = _pronoun(text, tag)
    if found is not None:
        kind, gender = found
        return CorefMention(start, end, text, kind, turn, word, gender, kind in PLURAL_PRONOUNS)
    head = passage.words[word].text if word >= 0 else text
    named = any(passage.words[i].tag in _PROPER for i in passage.words_of(start, end, turn))
    if named or (not NOUNS.get(head.lower()) and text[:1].isupper() and is_first_name(text.split()[0])):
        gender = name_gender(text)
        return CorefMention(
            start, end, text, Kind.NAME, turn, word, gender if person else Gender.THING, tag == "NNPS"
        )
    plural = tag in _PLURAL_TAGS
    singular = head.lower().removesuffix("s") if plural else head.lower()
    return CorefMention(start, end, text, Kind.NOUN, turn, word, NOUNS.get(singular, Gender.UNKNOWN), plural)


def _pronoun(text: str, tag: str) -> tuple[Kind, Gender] | None:
    """What kind of pronoun a word is: "'s" is one in "let's"."""
    return (Kind.WE, Gender.UNKNOWN) if tag == "PRP" and text in ("'s", "’s") else pronoun(text)
