"""Weights of a frame against labelled questions: grid, Bayesian optimisation, and two sets side by side (AMGS §13.2).

Weights change the order of a frame's candidates and not who is one, so each question is asked once; a trial then is one
matrix product a question.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from amgs import extras
from amgs.calibration.questions import Labelled, held_out, recall
from amgs.calibration.results import QuestionMoves, Score, Trial, Tuning, WeightTest
from amgs.errors import UsageError
from amgs.frames.score import own_weights
from amgs.types import COMPONENTS, Candidate, FrameDefinition, Progress, Weights

SearchMethod = Literal["grid", "bayes"]

K = 10
_RESAMPLES = 2000
_TIE = 0.05
"""What the reciprocal rank counts beside recall: it tells apart weights that find the same."""

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoredQuestion:
    """One question with its candidates: ids of length n, sorted; parts (n, 5) before weighting."""

    labelled: Labelled
    ids: tuple[str, ...]
    parts: Values

    def ranked(self, weights: Values, k: int) -> list[str]:
        """The k best ids under weights (5,), ties by id."""
        if not self.ids:
            return []
        order = np.argsort(-(self.parts @ weights), kind="stable")[:k]
        return [self.ids[i] for i in order.tolist()]


def asked(labelled: Labelled, candidates: Sequence[Candidate]) -> ScoredQuestion:
    """A question with the candidates that may be chosen for it."""
    chosen = sorted((c for c in candidates if c.fate == "selected"), key=lambda c: c.block.id)
    parts = np.array([[getattr(c.parts, n) for n in COMPONENTS] for c in chosen], dtype=np.float64)
    return ScoredQuestion(labelled, tuple(c.block.id for c in chosen), parts.reshape(len(chosen), len(COMPONENTS)))


def vector(weights: Weights) -> Values:
    """(5,) in the order of the components."""
    return np.array([getattr(weights, name) for name in COMPONENTS])


def recalls(questions: Sequence[ScoredQuestion], weights: Weights, k: int = K) -> Values:
    """(n,) recall@k of each question."""
    w = vector(weights)
    return np.array([recall(one.ranked(w, k), one.labelled) for one in questions], dtype=np.float64)


def score(questions: Sequence[ScoredQuestion], weights: Weights, k: int = K) -> Score:
    """Mean recall@k, precision@k and reciprocal rank of the first relevant block."""
    if not questions:
        return Score(0, 0.0, 0.0, 0.0)
    w = vector(weights)
    rows = []
    for one in questions:
        found, wanted = one.ranked(w, k), one.labelled.relevant
        hits = [i in wanted for i in found]
        share, reciprocal = _place(one, w, k)
        rows.append((share, sum(hits) / k, reciprocal))
    mean = np.mean(np.array(rows), axis=0).tolist()
    return Score(len(questions), *mean)


def grid(trials: int) -> Iterator[Weights]:
    """Weights on the finest regular grid of the simplex that has at most `trials` points."""
    parts = len(COMPONENTS)
    steps = max((m for m in range(1, 40) if math.comb(m + parts - 1, parts - 1) <= trials), default=1)
    for bars in combinations(range(steps + parts - 1), parts - 1):
        ends = (-1, *bars, steps + parts - 1)
        counts = [b - a - 1 for a, b in pairwise(ends)]
        yield Weights.normalised(**dict(zip(COMPONENTS, map(float, counts), strict=True)))


def tune(
    definition: FrameDefinition,
    questions: Sequence[ScoredQuestion],
    *,
    method: SearchMethod,
    trials: int,
    seed: int,
    progress: Progress | None = None,
) -> Tuning:
    """Search weights on two thirds of the questions and tell how they do on the third that no trial saw.

    Raises UsageError when either part is empty.
    """
    apart = [one for one in questions if held_out(one.labelled.question, seed)]
    seen = [one for one in questions if not held_out(one.labelled.question, seed)]
    if not apart or not seen:
        raise UsageError(
            f"{len(seen)} questions to tune on and {len(apart)} held out are too few.",
            way_out="Give more questions whose answers are in the store.",
        )
    present = own_weights(definition, has_query=True)
    done = [Trial(present, score(seen, present))]
    if method == "grid":
        for number, weights in enumerate(grid(trials)):
            if progress is not None:
                progress(number, trials, "trying weights")
            done.append(Trial(weights, score(seen, weights)))
    else:
        done += _bayes(seen, present, trials, seed, progress)
    # max keeps the first of equals, which is the present set: nothing changes without a reason.
    best = max(done, key=lambda trial: objective(trial.score))
    after, before = score(apart, best.weights), score(apart, present)
    moved, moved_apart = (moves(some, present, best.weights) for some in (questions, apart))
    return Tuning(
        definition.name,
        method,
        K,
        tuple(sorted(done, key=lambda trial: -objective(trial.score))),
        present,
        best.weights,
        done[0].score,
        best.score,
        before,
        after,
        objective(after) > objective(before)
        and is_no_worse(after, before)
        and is_no_worse(best.score, done[0].score)
        and all(one.better >= one.worse for one in (moved, moved_apart)),
        definition.weighed(best.weights),
        moved,
        moved_apart,
        turns=definition.rule.order == "search",
    )


def is_no_worse(after: Score, before: Score) -> bool:
    """Whether no measure of a table fell."""
    return all(getattr(after, name) >= getattr(before, name) for name in ("recall", "precision", "mrr"))


def moves(questions: Sequence[ScoredQuestion], present: Weights, other: Weights, k: int = K) -> QuestionMoves:
    """How many questions find their sources better, worse or the same among the best k by other weights."""
    before, after = ([_place(one, vector(w), k) for one in questions] for w in (present, other))
    better = sum(now > was for was, now in zip(before, after, strict=True))
    worse = sum(now < was for was, now in zip(before, after, strict=True))
    return QuestionMoves(better, worse, len(questions) - better - worse)


def _place(one: ScoredQuestion, weights: Values, k: int) -> tuple[float, float]:
    """Recall@k of a question, and the reciprocal rank of the first relevant block; 0 where none is among the k best."""
    found, wanted = one.ranked(weights, k), one.labelled.relevant
    first = next((n for n, block in enumerate(found, 1) if block in wanted), math.inf)
    return recall(found, one.labelled), 1 / first


def objective(found: Score) -> float:
    """What a search maximises."""
    return found.recall + _TIE * found.mrr


def _bayes(
    questions: Sequence[ScoredQuestion], present: Weights, trials: int, seed: int, progress: Progress | None
) -> list[Trial]:
    """Trials that a tree-structured Parzen estimator proposes, the present weights first."""
    with extras.explained():
        import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.enqueue_trial({name: getattr(present, name) for name in COMPONENTS})
    done: list[Trial] = []
    for number in range(trials):
        if progress is not None:
            progress(number, trials, "trying weights")
        trial = study.ask()
        drawn = {name: trial.suggest_float(name, 0.0, 1.0) for name in COMPONENTS}
        weights = Weights.normalised(**drawn) if sum(drawn.values()) > 0 else present
        done.append(Trial(weights, score(questions, weights)))
        study.tell(trial, objective(done[-1].score))
    return done


def compare(
    frame: str, questions: Sequence[ScoredQuestion], first: Weights, second: Weights, *, seed: int, k: int = K
) -> WeightTest:
    """Two weight sets on the same questions, with a paired bootstrap over them; raises UsageError for none."""
    if not questions:
        raise UsageError("No question has an answer in the store.", way_out="Ingest what they ask about.")
    a, b = recalls(questions, first, k), recalls(questions, second, k)
    low, high = interval(b - a, seed)
    kinds: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(questions):
        kinds[one.labelled.question.kind].append(place)
    by_kind: Mapping[str, tuple[float, float]] = {
        kind: (float(a[places].mean()), float(b[places].mean())) for kind, places in sorted(kinds.items())
    }
    return WeightTest(
        frame,
        k,
        first,
        second,
        score(questions, first, k),
        score(questions, second, k),
        float((b - a).mean()),
        low,
        high,
        "B" if low > 0 else "A" if high < 0 else "no difference",
        by_kind,
    )


def interval(differences: Values, seed: int, level: float = 0.95) -> tuple[float, float]:
    """The bootstrap interval of the mean of (n,) differences."""
    rng = np.random.default_rng(seed)
    n = differences.size
    means = differences[rng.integers(0, n, (_RESAMPLES, n))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return float(low), float(high)
