"""Sentences of news that state a cause, and which of their words are the cause and the effect.

The connectives that `enhance --kind causes` reads are held against what needs no reading. News counts purposes as
causes.

Sentences of news with what they state of causes: the files of CausalNewsCorpus, second version.
"""

from __future__ import annotations

import ast
import csv
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.errors import InputError
from amgs.text.causality import of_sentence
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult

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


_RESAMPLES = 1_000
_ANY = re.compile(
    r"\b(?:because|due|as|since|so|for|to|by|over|after|following|amid|with|if|led|causing|leaving|demanding"
    r"|protest|therefore|thus)\b",
    re.IGNORECASE,
)
"""Words that often join what news counts as cause and effect, whatever else they do."""

Flags = NDArray[np.bool_]
Spans = tuple[frozenset[int], frozenset[int]]
"""Words of the cause and of the effect, by their places."""


def measure_causal(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """F1 of "states a cause" and of the words of both clauses, with controls."""
    sentences = read(data)
    if not sentences:
        return None
    rig.progress(0, 1, "causes")
    causal = np.array([one.causal for one in sentences])
    rule = np.array([of_sentence(one.text) is not None for one in sentences])
    methods: Mapping[str, Flags] = {
        "connectives, as `enhance` reads them": rule,
        "any of thirty words that may join them": np.array(
            [_ANY.search(one.text) is not None for one in sentences]
        ),
        "all": np.ones_like(causal),
        "the more frequent answer": np.full_like(causal, causal.mean() > 0.5),
    }
    rows = [
        (name, *_figures(found, causal), _interval(found, causal, sentences))
        for name, found in methods.items()
    ]
    table = BenchTable(
        f"Sentences that state a cause, {len(sentences):,} of {len({s.document for s in sentences}):,} documents",
        ("method", "F1", "precision", "recall", "F1, 95 %"),
        tuple(rows),
    )
    metrics = {"causal_rule_precision": rows[0][2], "causal_rule_recall": rows[0][3]}
    tables = [table]
    if any(one.relations for one in sentences):
        title = f"Words of cause and effect, {sum(bool(one.relations) for one in sentences):,} sentences"
        tables.append(BenchTable(title, ("method", "cause", "effect", "mean"), tuple(_spans(sentences))))
    return SubjectResult(metrics, tables=tuple(tables))


def _figures(found: Flags, causal: Flags) -> tuple[float, float, float]:
    """F1, precision, recall."""
    right = float((found & causal).sum())
    f1 = 2 * right / max(float(found.sum() + causal.sum()), 1.0)
    return f1, right / max(float(found.sum()), 1.0), right / max(float(causal.sum()), 1.0)


def _interval(found: Flags, causal: Flags, sentences: Sequence[NewsSentence]) -> str:
    """The 95 % interval of F1, by drawing documents."""
    names = sorted({one.document for one in sentences})
    place = {name: number for number, name in enumerate(names)}
    of = np.array([place[one.document] for one in sentences])
    sums = [np.bincount(of, each, len(names)) for each in (found & causal, found, causal)]
    drawn = np.random.default_rng(0).integers(len(names), size=(_RESAMPLES, len(names)))
    right, said, there = (each[drawn].sum(axis=1) for each in sums)
    low, high = np.quantile(2 * right / np.maximum(said + there, 1), (0.025, 0.975))
    return f"[{low:.3f}, {high:.3f}]"


def _spans(sentences: Sequence[NewsSentence]) -> list[tuple[str, float, float, float]]:
    """F1 of the words of both clauses, mean over the causal sentences; of several relations the best-matching one."""
    chance = random.Random(0)
    methods: Mapping[str, Callable[[NewsSentence], Spans]] = {
        "connectives, else at the first such word": _by_rule,
        "at the first such word, effect first": lambda one: _at_word(one),
        "halves, effect first": lambda one: _halves(len(one.text.split()), 0.5),
        "halves, cause first": lambda one: _halves(len(one.text.split()), 0.5)[::-1],
        "parted at random, effect first": lambda one: _halves(len(one.text.split()), chance.random()),
    }
    made = []
    for name, method in methods.items():
        each = [_match(one, method(one)) for one in sentences if one.relations]
        cause, effect = (float(np.mean([pair[k] for pair in each])) for k in (0, 1))
        made.append((name, cause, effect, (cause + effect) / 2))
    return made


def _match(one: NewsSentence, found: Spans) -> tuple[float, float]:
    pairs = [(_f1(found[0], each.cause), _f1(found[1], each.effect)) for each in one.relations or ()]
    return max(pairs, key=sum)


def _f1(found: frozenset[int], right: frozenset[int]) -> float:
    return 2 * len(found & right) / max(len(found) + len(right), 1)


def _by_rule(one: NewsSentence) -> Spans:
    stated = of_sentence(one.text)
    if stated is None or not stated.cause:
        return _at_word(one)
    return _places(one.text, stated.cause), _places(one.text, stated.effect)


def _places(sentence: str, clause: str) -> frozenset[int]:
    """The words of a sentence that a clause of it has."""
    joined = " ".join(sentence.split())
    start = len(joined[: max(joined.find(clause), 0)].split())
    return frozenset(range(start, start + len(clause.split())))


def _at_word(one: NewsSentence) -> Spans:
    words = one.text.split()
    for place in range(1, len(words) - 1):
        if _ANY.fullmatch(words[place]):
            return frozenset(range(place + 1, len(words))), frozenset(range(place))
    return _halves(len(words), 0.5)


def _halves(count: int, share: float) -> Spans:
    middle = round(count * share)
    return frozenset(range(middle, count)), frozenset(range(middle))
