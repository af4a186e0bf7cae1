"""Words and their grammar by spaCy's small English model, imported and loaded on first use; and the mentions in them,
with kind and gender read from the words.
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
    is_first_name,
    name_gender,
    pronoun,
    with_mentions,
)
from amgs.text.spacy_entities import missing_model, opened

_NOT_NEEDED = ("lemmatizer",)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A passage without mentions, and where names stand in it. labels: (start, end, what the model takes the name for,
    in its own words), in order.
    """

    passage: CorefPassage
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
        return _join(turns, read, sessions or [0] * len(turns))

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


_NAMES = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "WORK_OF_ART", "NORP"})


@dataclass(frozen=True, slots=True)
class _Read:
    """What is taken from a document of spaCy; characters and words counted in it alone."""

    words: list[CorefWord]
    labels: list[tuple[int, int, str]]

    @classmethod
    def of(cls, document: Any) -> _Read:
        words, sentence = [], -1
        for token in document:
            sentence += bool(token.is_sent_start) or sentence < 0
            words.append(
                CorefWord(
                    token.idx, token.idx + len(token.text), token.text, token.tag_, token.dep_, token.head.i, sentence
                )
            )
        return cls(words, [(e.start_char, e.end_char, e.label_) for e in document.ents if e.label_ in _NAMES])


def _join(turns: Sequence[tuple[str, str]], read: Sequence[_Read], sessions: Sequence[int]) -> Parsed:
    parts: list[str] = []
    placed: list[CorefTurn] = []
    words: list[CorefWord] = []
    labels: list[tuple[int, int, str]] = []
    at, sentence = 0, 0
    for (speaker, text), one, session in zip(turns, read, sessions, strict=True):
        label = f"{speaker}: " if speaker else ""
        parts.append(f"{label}{text}")
        start, first = at + len(label), len(words)
        words += [
            replace(w, start=w.start + start, end=w.end + start, head=w.head + first, sentence=w.sentence + sentence)
            for w in one.words
        ]
        placed.append(CorefTurn(speaker, start, start + len(text), range(first, len(words)), session))
        labels += [(a + start, b + start, of) for a, b, of in one.labels]
        sentence += 1 + (one.words[-1].sentence if one.words else 0)
        at = start + len(text) + 1
    return Parsed(CorefPassage("\n".join(parts), tuple(placed), tuple(words)), tuple(labels))


_PROPER = frozenset({"NNP", "NNPS"})


def detect_mentions(parsed: Parsed) -> CorefPassage:
    """The passage with the mentions that were found in it: labels, pronouns, names."""
    passage = parsed.passage
    taken = bytearray(len(passage.text))  # 1 where a mention is
    spans: set[tuple[int, int]] = set()
    people: set[tuple[int, int]] = set()

    def take(found: Iterable[tuple[int, int]], into: set[tuple[int, int]]) -> None:
        for start, end in found:
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                into.add((start, end))

    take(((a, b) for a, b, of in parsed.labels if of == "PERSON"), people)
    # A small model takes "Emily" for a place now and then.
    take(((a, b) for a, b, _ in parsed.labels if is_first_name(passage.text[a:b])), people)
    take(((a, b) for a, b, _ in parsed.labels), spans)
    take(((w.start, w.end) for w in passage.words if _pronoun(w.text, w.tag)), spans)
    # An "Emily" at the head of a sentence is tagged as an adverb.
    proper = (
        w
        for w in passage.words
        if (w.tag in _PROPER or w.tag == "RB") and w.text[:1].isupper() and is_first_name(w.text)
    )
    take(((w.start, w.end) for w in proper), people)
    return place_mentions(passage, sorted(spans | people), people=frozenset(people))


def place_mentions(
    passage: CorefPassage, spans: Iterable[tuple[int, int]], *, people: frozenset[tuple[int, int]] | None = None
) -> CorefPassage:
    """The passage with the pronouns and names among these spans of characters, and the labels of its turns.

    people: which of the names are a person's; None where all are.
    """
    turns = passage.turns
    read = (
        _mention(passage, start, end, turn, people is None or (start, end) in people)
        for start, end, turn in _place(passage, spans)
    )
    found = [one for one in read if one is not None]
    labels = [
        CorefMention(
            t.start - len(t.speaker) - 2, t.start - 2, t.speaker, Kind.LABEL, number, -1, name_gender(t.speaker)
        )
        for number, t in enumerate(turns)
        if t.speaker
    ]
    return with_mentions(passage, found + labels)


def _place(passage: CorefPassage, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Spans with the turn that each lies in; one outside every turn is left out."""
    placed, turn = [], 0
    for start, end in sorted(spans):
        while turn < len(passage.turns) and passage.turns[turn].end <= start:
            turn += 1
        if turn < len(passage.turns) and passage.turns[turn].start <= start and end <= passage.turns[turn].end:
            placed.append((start, end, turn))
    return placed


def _mention(passage: CorefPassage, start: int, end: int, turn: int, person: bool) -> CorefMention | None:
    """None for words that are neither a pronoun nor a name."""
    text = passage.text[start:end]
    word = passage.head_of(start, end, turn)
    found = _pronoun(text, passage.words[word].tag if word >= 0 else "")
    if found is not None:
        return CorefMention(start, end, text, found[0], turn, word, found[1])
    named = any(passage.words[i].tag in _PROPER for i in passage.words_of(start, end, turn))
    if not named and not (text[:1].isupper() and is_first_name(text.split()[0])):
        return None
    gender = name_gender(text) if person else Gender.THING
    return CorefMention(start, end, text, Kind.NAME, turn, word, gender)


def _pronoun(text: str, tag: str) -> tuple[Kind, Gender] | None:
    """What kind of pronoun a word is: "'s" is one in "let's"."""
    return (Kind.WE, Gender.UNKNOWN) if tag == "PRP" and text in ("'s", "’s") else pronoun(text)
