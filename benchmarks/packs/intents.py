"""What a question asks for: LoCoMo's categories told from the question alone, conversation left out, and on REALTALK by
what was fitted on LoCoMo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.wings.packs.engine.intents import BIAS, IntentModel, rule, signs
from amgs.wings.packs.values import INTENTS, QuestionIntent
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.listwise import fit_classes
from benchmarks.locomo_data import ADVERSARIAL, CATEGORIES, Conversation, read_folder

GOALS: Mapping[str, tuple[Comparator, float]] = {"intent_ece": ("<=", 0.05), "intent_ahead_of_rule_low": (">=", 0.0)}
_LEAST = 5
"""Questions that must show a sign for it to have weights."""
_RIDGE = 1e-3
_TEMPERATURES = [0.5 * 1.1**n for n in range(20)]
_WORDS = ("word ", "first ")
_BINS = 10
_DRAWS = 2_000

Chances = NDArray[np.float64]
"""(n, intents): how likely each intent is for each question."""
Method = Callable[["IntentQuestions", "IntentQuestions"], Chances]
"""Taught by some questions, it tells the intents of others."""


class IntentQuestions:
    """Questions with their intents (n,), by place in INTENTS, and conversations."""

    def __init__(self, texts: Sequence[str], labels: NDArray[np.int64], conversations: Sequence[str]) -> None:
        self.texts, self.labels = list(texts), labels
        self.conversations = np.array(conversations)

    def only(self, kept: NDArray[np.bool_]) -> IntentQuestions:
        """Those of a mask (n,)."""
        places = np.flatnonzero(kept).tolist()
        return IntentQuestions(
            [self.texts[n] for n in places], self.labels[places], [str(one) for one in self.conversations[places]]
        )


def dialogues(data: Path, corpus: str) -> tuple[Conversation, ...]:
    """The conversations of `locomo` or `realtalk` below a folder; none where it is not there."""
    return read_folder(data / corpus) if (data / corpus).is_dir() else ()


def asked(conversation: Conversation) -> Iterator[tuple[str, QuestionIntent]]:
    """Its questions with their intents, without the adversarial ones."""
    for one in conversation.questions:
        if one.category != ADVERSARIAL:
            name = CATEGORIES[one.category]
            yield one.text, next(intent for intent in INTENTS if intent == name)


def fit_intents(questions: IntentQuestions) -> IntentModel:
    """The model of the questions' signs. It is as sure as is likeliest for conversations that are left out (temperature
    scaling, Guo et al. 2017).
    """
    names, weights = _fitted(questions)
    temperature = 1.0
    groups = sorted(set(questions.conversations.tolist()))
    if len(groups) > 1:
        scores = np.zeros((len(questions.texts), len(INTENTS)))
        for group in groups:
            own = questions.conversations == group
            named, fitted = _fitted(questions.only(~own))
            scores[own] = _values(questions.only(own).texts, named) @ fitted
        temperature = min(_TEMPERATURES, key=lambda one: _surprise(scores / one, questions.labels))
    rounded = np.round(weights / temperature, 3).tolist()
    return IntentModel({name: tuple(row) for name, row in zip(names, rounded, strict=True)})


def _fitted(questions: IntentQuestions) -> tuple[list[str], NDArray[np.float64]]:
    """The signs that are common enough, and their weights (k, intents)."""
    counts = Counter(name for text in questions.texts for name in signs(text))
    names = sorted(name for name, count in counts.items() if count >= _LEAST)
    values = _values(questions.texts, names)
    return names, fit_classes(values, questions.labels, len(INTENTS), ridge=_RIDGE)


def _values(texts: Sequence[str], names: Sequence[str]) -> NDArray[np.float64]:
    shown = [signs(text) for text in texts]
    return np.array([[one.get(name, 0.0) for name in names] for one in shown])


def _surprise(scores: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    top = scores.max(axis=1)
    whole = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return float((whole - scores[np.arange(labels.size), labels]).mean())


def measure_intents(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """Macro-F1, accuracy and calibration error by method; None where there is no LoCoMo."""
    del rig
    seen, beyond = _read(data, "locomo"), _read(data, "realtalk")
    if seen is None or len(set(seen.conversations.tolist())) < 2:
        return None
    forms = [("LoCoMo", "", seen, {name: _left_out(method, seen) for name, method in METHODS.items()})]
    if beyond is not None:
        told = {name: method(seen, beyond) for name, method in METHODS.items()}
        of_these = {name: _among(chances, beyond.labels) for name, chances in told.items()}
        forms += [("REALTALK", "_realtalk", beyond, told)]
        forms += [("REALTALK, of its three", "_realtalk_three", beyond, of_these)]
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for form, mark, questions, each in forms:
        for name, chances in each.items():
            accuracy, f1, error = _figures(chances, questions.labels)
            low, high = _ahead(questions, chances, each[RULE])
            rows.append((form, name, accuracy, f1, error, f"[{low:+.1f}, {high:+.1f}]"))
            own = "" if name == OURS else "_" + name.replace(",", "").replace(" ", "_")
            metrics |= {f"intent_accuracy{own}{mark}": accuracy, f"intent_macro_f1{own}{mark}": f1}
            if name == OURS:
                metrics |= {f"intent_ece{mark}": error, f"intent_ahead_of_rule_low{mark}": low}
    columns = ("questions of", "told by", "accuracy", "macro-F1", "ECE", "F1 less the rule, 95 %")
    return SubjectResult(metrics, GOALS, (BenchTable("What a question asks for", columns, tuple(rows)),))


def _among(chances: Chances, labels: NDArray[np.int64]) -> Chances:
    """The same where it is known which intents there are."""
    found = np.where(np.isin(np.arange(len(INTENTS)), labels), chances + 1e-12, 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _read(data: Path, corpus: str) -> IntentQuestions | None:
    found = [(text, intent, one.name) for one in dialogues(data, corpus) for text, intent in asked(one)]
    if not found:
        return None
    texts = [text for text, _, _ in found]
    labels = np.array([INTENTS.index(intent) for _, intent, _ in found], dtype=np.int64)
    return IntentQuestions(texts, labels, [name for _, _, name in found])


# --- methods ----------------------------------------------------------------------------------------------


def _ours(taught: IntentQuestions, given: IntentQuestions) -> Chances:
    model = fit_intents(taught)
    return np.array([list(model.of(text).values()) for text in given.texts])


def _shuffled(taught: IntentQuestions, given: IntentQuestions) -> Chances:
    mixed = np.random.default_rng(0).permutation(taught.labels)
    return _ours(IntentQuestions(taught.texts, mixed, taught.conversations.tolist()), given)


def _majority(taught: IntentQuestions, given: IntentQuestions) -> Chances:
    shares = np.bincount(taught.labels, minlength=len(INTENTS)) / taught.labels.size
    return np.tile(shares, (len(given.texts), 1))


def _ruled(taught: IntentQuestions, given: IntentQuestions) -> Chances:
    """The rule, as sure as it was right: one more than was seen of each, and of its own verdict most."""
    counts = np.ones((len(INTENTS), len(INTENTS)))
    for text, label in zip(taught.texts, taught.labels.tolist(), strict=True):
        counts[INTENTS.index(rule(text)), label] += 1
    for place in range(len(INTENTS)):
        counts[place, place] = max(counts[place, place], counts[place].max() + 1e-6)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.array([shares[INTENTS.index(rule(text))] for text in given.texts])


def _by_words(taught: IntentQuestions, given: IntentQuestions) -> Chances:
    """The signs without what the rule says."""
    names = [name for name in _fitted(taught)[0] if name == BIAS or name.startswith(_WORDS)]
    weights = fit_classes(_values(taught.texts, names), taught.labels, len(INTENTS), ridge=_RIDGE)
    scores = _values(given.texts, names) @ weights
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))


OURS, RULE = "amgs", "word rule"
METHODS: Mapping[str, Method] = {
    OURS: _ours,
    RULE: _ruled,
    "words, without the rule": _by_words,
    "majority": _majority,
    "amgs, labels shuffled": _shuffled,
}


# --- figures ----------------------------------------------------------------------------------------------


def _left_out(method: Method, questions: IntentQuestions) -> Chances:
    """Each conversation by what the others teach."""
    found = np.zeros((len(questions.texts), len(INTENTS)))
    for name in sorted(set(questions.conversations.tolist())):
        own = questions.conversations == name
        found[own] = method(questions.only(~own), questions.only(own))
    return found


def macro_f1(told: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """The mean F1 of the intents that are there."""
    each = []
    for place in sorted(set(labels.tolist())):
        hit = int(((told == place) & (labels == place)).sum())
        each.append(2 * hit / max(int((told == place).sum() + (labels == place).sum()), 1))
    return float(np.mean(each))


def calibration_error(chances: Chances, labels: NDArray[np.int64]) -> float:
    """ECE of the likeliest intent over ten bins of equal width."""
    sure, right = chances.max(axis=1), chances.argmax(axis=1) == labels
    place = np.minimum((sure * _BINS).astype(int), _BINS - 1)
    gaps = [
        (place == n).mean() * abs(float(sure[place == n].mean()) - float(right[place == n].mean()))
        for n in set(place.tolist())
    ]
    return float(sum(gaps))


def _figures(chances: Chances, labels: NDArray[np.int64]) -> tuple[float, float, float]:
    told = chances.argmax(axis=1)
    accuracy = 100 * float((told == labels).mean())
    return accuracy, 100 * macro_f1(told, labels), calibration_error(chances, labels)


def _ahead(questions: IntentQuestions, ours: Chances, theirs: Chances) -> tuple[float, float]:
    """The 95 % interval of the difference in macro-F1, in points, by drawing conversations."""
    names = sorted(set(questions.conversations.tolist()))
    places = [np.flatnonzero(questions.conversations == name) for name in names]
    a, b = ours.argmax(axis=1), theirs.argmax(axis=1)
    draw = np.random.default_rng(0)
    gains = []
    for _ in range(_DRAWS):
        drawn = np.concatenate([places[n] for n in draw.integers(len(names), size=len(names))])
        labels = questions.labels[drawn]
        gains.append(macro_f1(a[drawn], labels) - macro_f1(b[drawn], labels))
    low, high = np.quantile(gains, [0.025, 0.975])
    return 100 * float(low), 100 * float(high)
