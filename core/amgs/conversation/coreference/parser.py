"""Words and their grammar by spaCy's small English model; imported and loaded on first use."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from amgs.conversation.coreference.passage import CorefPassage, CorefTurn, CorefWord
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
