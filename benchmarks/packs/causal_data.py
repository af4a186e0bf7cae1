"""Sentences of news with what they state of causes: the files of CausalNewsCorpus, second version."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from amgs.errors import InputError

SENTENCES, SPANS = "_subtask1.csv", "_subtask2_grouped.csv"
_MARK = re.compile(r"</?(ARG[01]|SIG\d+)>")
_KINDS = {"S": 0, "ARG0": 1, "ARG1": 2}


@dataclass(frozen=True, slots=True)
class AnnotatedRelation:
    """The words of the signals, of the cause and of the effect, by their places in the sentence."""

    signal: frozenset[int]
    cause: frozenset[int]
    effect: frozenset[int]


@dataclass(frozen=True, slots=True)
class NewsSentence:
    """document: what is kept together when data is parted. relations: None where its clauses are not annotated."""

    text: str
    document: str
    causal: bool
    relations: tuple[AnnotatedRelation, ...] | None


def read(folder: Path) -> tuple[NewsSentence, ...]:
    """The sentences of `causal/*_subtask2_grouped.csv`, and of `*_subtask1.csv` where there is none of that name beside
    it; () where there is neither. Raises InputError for another layout.
    """
    found: list[NewsSentence] = []
    place = folder / "causal"
    spans = sorted(place.glob(f"*{SPANS}"))
    plain = [
        one for one in place.glob(f"*{SENTENCES}") if place / one.name.replace(SENTENCES, SPANS) not in spans
    ]
    for path in (*spans, *sorted(plain)):
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                found += [_sentence(row, path.name) for row in csv.DictReader(file)]
        except (OSError, ValueError, KeyError, TypeError, SyntaxError) as error:
            raise InputError(f"{path} cannot be read as sentences with causes: {error!r}.") from error
    return tuple(found)


def _sentence(row: dict[str, str], name: str) -> NewsSentence:
    if name.endswith(SENTENCES):
        return NewsSentence(row["text"], row["index"].rpartition("_")[0], bool(int(row["label"])), None)
    marked = [str(one) for one in ast.literal_eval(row["causal_text_w_pairs"])]
    return NewsSentence(row["text"], row["doc_id"], bool(marked), tuple(map(_relation, marked)))


def _relation(marked: str) -> AnnotatedRelation:
    words: tuple[set[int], set[int], set[int]] = (set(), set(), set())
    inside: list[int] = []
    place = 0
    for kind, opens, piece in _pieces(marked):
        if kind is not None:
            inside = [*inside, kind] if opens else [one for one in inside if one != kind]
            continue
        count = len(piece.split())
        for one in inside:
            words[one].update(range(place, place + count))
        place += count
    return AnnotatedRelation(*map(frozenset, words))


def _pieces(marked: str) -> Iterator[tuple[int | None, bool, str]]:
    """Marks as (kind, whether it opens, ""), and the text between as (None, False, text)."""
    last = 0
    for found in _MARK.finditer(marked):
        yield None, False, marked[last : found.start()]
        name = found[1]
        yield _KINDS["S" if name.startswith("SIG") else name], found[0][1] != "/", ""
        last = found.end()
    yield None, False, marked[last:]
