"""Sentences of news that state a cause, and which of their words are the cause and the effect.

Held against each other are the connectives that `enhance --kind causes` reads, a classifier over MiniLM's token
states and spaCy's parse, fitted on other documents (five folds), and what needs no reading. News counts purposes as
causes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.errors import InputError
from amgs.text.causality import of_sentence
from benchmarks.bench_results import BenchTable, Comparator
from benchmarks.packs.causal_data import NewsSentence, read
from benchmarks.packs.cause_tagger import CAUSE, EFFECT, THRESHOLD, Scores, clauses
from benchmarks.packs.cause_tagger_fit import FOLDS, CauseTaggerFit, examples, shuffled
from benchmarks.rig import MemoryRig
from benchmarks.subject import SubjectResult

GOALS: dict[str, tuple[Comparator, float]] = {"causal_f1": (">=", 0.8)}
_RESAMPLES = 1_000
_BINS = 10
_LEAST = 20
"""Sentences to part into folds."""
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
    """F1 of "states a cause" and of the words of both clauses, with controls. Raises InputError for too few."""
    sentences = read(data)
    if not sentences:
        return None
    if len(sentences) < _LEAST or len({one.document for one in sentences}) < FOLDS:
        raise InputError(f"{data / 'causal'} has {len(sentences)} sentences; {_LEAST} at least are needed.")
    made = examples(sentences, rig.progress)
    scores, chances = CauseTaggerFit(made).across()
    _, dealt = CauseTaggerFit(shuffled(made)).across()
    causal = np.array([one.causal for one in sentences])
    rule = np.array([of_sentence(one.text) is not None for one in sentences])
    methods: Mapping[str, Flags] = {
        "fitted on other documents": chances > THRESHOLD,
        "connectives, as `enhance` reads them": rule,
        "any of thirty words that may join them": np.array(
            [_ANY.search(one.text) is not None for one in sentences]
        ),
        "all": np.ones_like(causal),
        "the more frequent answer": np.full_like(causal, causal.mean() > 0.5),
        "fitted on labels dealt out at random": dealt > THRESHOLD,
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
    reliability, error = _reliability(chances, causal)
    metrics = {
        "causal_f1": rows[0][1],
        "causal_ece": error,
        "causal_rule_precision": rows[1][2],
        "causal_rule_recall": rows[1][3],
    }
    tables = [table, reliability]
    if any(one.relations for one in sentences):
        spans = _spans(sentences, scores)
        metrics["causal_span_f1"] = spans[0][3]
        title = f"Words of cause and effect, {sum(bool(one.relations) for one in sentences):,} sentences"
        tables.append(BenchTable(title, ("method", "cause", "effect", "mean"), tuple(spans)))
    return SubjectResult(metrics, GOALS, tuple(tables))


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


def _reliability(chances: NDArray[np.float64], causal: Flags) -> tuple[BenchTable, float]:
    """How often what is fitted says comes true, by tenths of the sentences, and the expected calibration error."""
    rows = []
    error = 0.0
    for part in np.array_split(np.argsort(chances, kind="stable"), _BINS):
        said, true = float(chances[part].mean()), float(causal[part].mean())
        error += abs(said - true) * len(part) / len(chances)
        rows.append((len(part), said, true))
    table = BenchTable("How often what is fitted says comes true", ("sentences", "said", "true"), tuple(rows))
    return table, error


def _spans(
    sentences: Sequence[NewsSentence], scores: Sequence[Scores]
) -> list[tuple[str, float, float, float]]:
    """F1 of the words of both clauses, mean over the causal sentences; of several relations the best-matching one."""
    chance = random.Random(0)
    methods: Mapping[str, Callable[[NewsSentence, Scores], Spans]] = {
        "fitted on other documents": lambda _, given: _tagged(given),
        "connectives, else at the first such word": _by_rule,
        "at the first such word, effect first": lambda one, _: _at_word(one),
        "halves, effect first": lambda one, _: _halves(len(one.text.split()), 0.5),
        "halves, cause first": lambda one, _: _halves(len(one.text.split()), 0.5)[::-1],
        "parted at random, effect first": lambda one, _: _halves(len(one.text.split()), chance.random()),
    }
    made = []
    for name, method in methods.items():
        each = [
            _match(one, method(one, given))
            for one, given in zip(sentences, scores, strict=True)
            if one.relations
        ]
        cause, effect = (float(np.mean([pair[k] for pair in each])) for k in (0, 1))
        made.append((name, cause, effect, (cause + effect) / 2))
    return made


def _match(one: NewsSentence, found: Spans) -> tuple[float, float]:
    pairs = [(_f1(found[0], each.cause), _f1(found[1], each.effect)) for each in one.relations or ()]
    return max(pairs, key=sum)


def _f1(found: frozenset[int], right: frozenset[int]) -> float:
    return 2 * len(found & right) / max(len(found) + len(right), 1)


def _tagged(scores: Scores) -> Spans:
    runs = clauses(scores)
    return frozenset(range(*runs[CAUSE])), frozenset(range(*runs[EFFECT]))


def _by_rule(one: NewsSentence, given: Scores) -> Spans:
    del given
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
