"""What routing by intent could win at best: recall of what answers a question where each category of questions has its
own weights of the four families, the category given, beside one set of weights for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.packs.families import family_of
from amgs.types.pack_families import FAMILIES, INTENTS, QuestionIntent
from benchmarks.bench_results import BenchTable, Comparator
from benchmarks.measures import interval
from benchmarks.packs.intents import IntentQuestions, fit_intents
from benchmarks.packs.walked import WalkedQuestion, Weights, dialogues, fit, walk
from benchmarks.rig import MemoryRig
from benchmarks.subject import SubjectResult

GOALS: Mapping[str, tuple[Comparator, float]] = {"oracle_routing_gain": (">=", 1.0)}
_GRID = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
ALONE: Weights = np.array([1.0, *(0.0 for _ in FAMILIES)])
Reached = NDArray[np.float64]
"""(n,) recall@10 of each question, in percent."""
Kinds = Sequence[QuestionIntent]


def measure_families(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """recall@10 by method; None where there are no dialogues."""
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    relations: list[tuple[str | float, ...]] = []
    for corpus in ("locomo", "realtalk"):
        conversations = dialogues(data, corpus)
        if len(conversations) < 2:
            continue
        questions: list[WalkedQuestion] = []
        held: dict[str, int] = dict.fromkeys(FAMILIES, 0)
        for place, one in enumerate(conversations):
            rig.progress(place, len(conversations), f"{corpus} {one.name}")
            found, by_relation = walk(one, rig)
            questions += found
            for relation, count in by_relation.items():
                held[family_of(relation)] += count
        relations.append((corpus, *held.values()))
        reached = compared(questions, rig.seed)
        mark = "" if corpus == "locomo" else f"_{corpus}"
        for name, values in reached.items():
            gain = _gain(questions, values - reached[ONE])
            rows.append((corpus, name, float(values.mean()), *_by_intent(questions, values), gain[2]))
        mean, (low, high), _ = _gain(questions, reached[GIVEN] - reached[ONE])
        metrics |= {
            f"oracle_routing_gain{mark}": mean,
            f"oracle_routing_gain_low{mark}": low,
            f"oracle_routing_gain_high{mark}": high,
            f"oracle_routing_gain_seen{mark}": float((reached[SEEN_GIVEN] - reached[SEEN_ONE]).mean()),
            f"routed_gain{mark}": float((reached[ROUTED] - reached[ONE]).mean()),
            f"families_recall10{mark}": float(reached[ONE].mean()),
            f"families_recall10_without{mark}": float(reached[WITHOUT].mean()),
        }
    if not rows:
        return None
    columns = ("corpus", "weights of the families", "recall@10", *INTENTS, "less one for all, 95 %")
    tables = (
        BenchTable("What routing by intent could win", columns, tuple(rows)),
        BenchTable("Relations by family", ("corpus", *FAMILIES), tuple(relations)),
    )
    return SubjectResult(metrics, GOALS, tables)


WITHOUT = "none"
ONE = "one set for all"
GIVEN = "by category, given"
ROUTED = "by category, as the classifier says"
SHUFFLED = "by category, shuffled"
SEEN_ONE = "one set for all, the best for these very questions"
SEEN_GIVEN = "by category, given, the best for these very questions"


def compared(questions: Sequence[WalkedQuestion], seed: int) -> dict[str, Reached]:
    """By method. But for the last two, weights are fitted on the other conversations."""
    given = [one.intent for one in questions]
    draw = np.random.default_rng(seed)
    shuffled = [given[n] for n in draw.permutation(len(given))]
    every: Kinds = [INTENTS[0]] * len(given)
    grid = _grid(questions)
    return {
        WITHOUT: _reached(questions, lambda _: ALONE),
        ONE: _left_out(questions, every, every),
        GIVEN: _left_out(questions, given, given),
        ROUTED: _left_out(questions, given, _told(questions)),
        SHUFFLED: _left_out(questions, shuffled, shuffled),
        SEEN_ONE: _best(grid, every),
        SEEN_GIVEN: _best(grid, given),
    }


def _reached(questions: Sequence[WalkedQuestion], weights: Callable[[int], Weights]) -> Reached:
    return np.array([100.0 * one.recall(weights(n)) for n, one in enumerate(questions)])


def _left_out(questions: Sequence[WalkedQuestion], taught: Kinds, asked: Kinds) -> Reached:
    """With weights for each kind as taught by the other conversations, used for the kind that is asked."""
    fitted: dict[tuple[str, str], Weights] = {}
    for name in {one.conversation for one in questions}:
        for kind in set(taught):
            rest = [
                one
                for one, own in zip(questions, taught, strict=True)
                if one.conversation != name and own == kind
            ]
            fitted[name, kind] = fit(rest) if rest else ALONE
    return _reached(questions, lambda n: fitted.get((questions[n].conversation, asked[n]), ALONE))


def _told(questions: Sequence[WalkedQuestion]) -> Kinds:
    """The intent of each question by a classifier that was fitted on the other conversations."""
    found: list[QuestionIntent] = []
    models = {}
    for one in questions:
        if one.conversation not in models:
            models[one.conversation] = fit_intents(
                labelled([other for other in questions if other.conversation != one.conversation])
            )
        likely = models[one.conversation].of(one.text)
        found.append(max(INTENTS, key=lambda intent: likely[intent]))
    return found


def labelled(questions: Sequence[WalkedQuestion]) -> IntentQuestions:
    """The questions for a classifier that reads their words alone."""
    labels = np.array([INTENTS.index(one.intent) for one in questions], dtype=np.int64)
    nothing = np.zeros((len(questions), 0))
    return IntentQuestions(
        [one.text for one in questions], nothing, labels, [one.conversation for one in questions]
    )


def _grid(questions: Sequence[WalkedQuestion]) -> NDArray[np.float64]:
    """(g, n): recall under every set of weights of a grid."""
    used = [any(one.values[:, 1 + n].any() for one in questions) for n in range(len(FAMILIES))]
    sets = [np.array([1.0, *one]) for one in product(*(_GRID if use else (0.0,) for use in used))]
    return np.array([_reached(questions, lambda _, w=one: w) for one in sets])  # type: ignore[misc]


def _best(grid: NDArray[np.float64], kinds: Kinds) -> Reached:
    """With the set of the grid that is best for each kind, on the very questions it is measured on."""
    found = np.zeros(grid.shape[1])
    for kind in set(kinds):
        own = np.array([one == kind for one in kinds])
        found[own] = grid[int(grid[:, own].mean(axis=1).argmax()), own]
    return found


def _by_intent(questions: Sequence[WalkedQuestion], values: Reached) -> list[float | str]:
    each = []
    for intent in INTENTS:
        own = [value for one, value in zip(questions, values, strict=True) if one.intent == intent]
        each.append(float(np.mean(own)) if own else "")
    return each


def _gain(questions: Sequence[WalkedQuestion], gains: Reached) -> tuple[float, tuple[float, float], str]:
    by: dict[str, list[float]] = {}
    for one, gain in zip(questions, gains.tolist(), strict=True):
        by.setdefault(one.conversation, []).append(gain)
    low, high = interval(by)
    mean = float(gains.mean())
    return mean, (low, high), f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"
