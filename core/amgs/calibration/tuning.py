"""Weights of a frame against labelled questions: grid, Bayesian optimisation, and a set that is given (AMGS §13.2).

Weights change the order of a frame's candidates and not who is one, so each question is asked once; a trial then is one
matrix product a question.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from amgs import bounds, extras
from amgs.calibration.questions import Labelled, held_out, recall
from amgs.calibration.results import Score, Tuning
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
        """Return the k best ids under weights (5,), ties by id."""
        if not self.ids:
            return []
        order = np.argsort(-(self.parts @ weights), kind="stable")[:k]
        return [self.ids[i] for i in order.tolist()]


def asked(labelled: Labelled, candidates: Sequence[Candidate]) -> ScoredQuestion:
    """Return a question with the candidates that may be chosen for it."""
    chosen = sorted((c for c in candidates if c.fate == "selected"), key=lambda c: c.block.id)
    parts = np.array([[getattr(c.parts, n) for n in COMPONENTS] for c in chosen], dtype=np.float64)
    return ScoredQuestion(labelled, tuple(c.block.id for c in chosen), parts.reshape(len(chosen), len(COMPONENTS)))


def vector(weights: Weights) -> Values:
    """Return (5,) in the order of the components."""
    return np.array([getattr(weights, name) for name in COMPONENTS])


def score(questions: Sequence[ScoredQuestion], weights: Weights, k: int = K) -> Score:
    """Return mean recall@k, precision@k and reciprocal rank of the first relevant block."""
    return Score(len(questions), *_score_questions(questions, weights, k).mean(axis=0).tolist())


def _score_questions(questions: Sequence[ScoredQuestion], weights: Weights, k: int = K) -> Values:
    """Return (n, 3) recall@k, precision@k and reciprocal rank of each question, 0 where nothing relevant is among the
    k.
    """
    w, rows = vector(weights), []
    for question in questions:
        ranking, wanted = question.ranked(w, k), question.labelled.relevant
        hits = [place for place, block in enumerate(ranking, 1) if block in wanted]
        rows.append((recall(ranking, question.labelled), len(hits) / k, 1 / hits[0] if hits else 0.0))
    return np.array(rows)


def grid(trials: int) -> Iterator[Weights]:
    """Yield weights on the finest regular grid of the simplex that has at most `trials` points."""
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
    method: SearchMethod = "grid",
    trials: int = 126,
    against: Weights | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Tuning:
    """Search weights on two thirds of the questions, or take those of `against`, and compare them with the frame's own
    on the third that no trial saw. Raises UsageError when either part is empty.
    """
    bounds.count("A seed", seed)
    apart = [q for q in questions if held_out(q.labelled.question, seed)]
    seen = [q for q in questions if not held_out(q.labelled.question, seed)]
    if not apart or not seen:
        raise UsageError(
            f"{len(seen)} questions to tune on and {len(apart)} held out are too few.",
            way_out="Give more questions whose answers are in the store.",
        )
    present = own_weights(definition, has_query=True)
    if against is not None:
        tried = [(against, score(seen, against))]
    elif method == "grid":
        tried = [(present, score(seen, present))]
        for number, weights in enumerate(grid(trials)):
            if progress is not None:
                progress(number, trials, "trying weights")
            tried.append((weights, score(seen, weights)))
    else:
        tried = _bayes(seen, present, trials, seed, progress)
    # max keeps the first of equals, which is the present set: nothing changes without a reason.
    best, gained = max(tried, key=lambda trial: objective(trial[1]))
    before, was = score(seen, present), score(apart, present)
    after = score(apart, best)
    recalls = _score_questions(apart, best)[:, 0] - _score_questions(apart, present)[:, 0]
    return Tuning(
        definition.name,
        method if against is None else "given",
        K,
        len(tried),
        present,
        best,
        before,
        gained,
        was,
        after,
        (float(recalls.mean()), *interval(recalls, seed)),
        objective(after) > objective(was) and is_no_worse(after, was) and is_no_worse(gained, before),
        definition.weighed(best),
        turns=definition.rule.order == "search",
    )


def is_no_worse(after: Score, before: Score) -> bool:
    """Return whether no measure of a table fell."""
    return all(getattr(after, name) >= getattr(before, name) for name in ("recall", "precision", "mrr"))


def objective(scores: Score) -> float:
    """Return what a search maximises."""
    return scores.recall + _TIE * scores.mrr


def _bayes(
    questions: Sequence[ScoredQuestion], present: Weights, trials: int, seed: int, progress: Progress | None
) -> list[tuple[Weights, Score]]:
    """Trials that a tree-structured Parzen estimator proposes, the present weights first."""
    with extras.explained():
        import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed % 2**32))
    study.enqueue_trial({name: getattr(present, name) for name in COMPONENTS})
    done: list[tuple[Weights, Score]] = []
    for number in range(trials):
        if progress is not None:
            progress(number, trials, "trying weights")
        trial = study.ask()
        drawn = {name: trial.suggest_float(name, 0.0, 1.0) for name in COMPONENTS}
        weights = Weights.normalised(**drawn) if sum(drawn.values()) > 0 else present
        done.append((weights, score(questions, weights)))
        study.tell(trial, objective(done[-1][1]))
    return done


def interval(differences: Values, seed: int, level: float = 0.95) -> tuple[float, float]:
    """Return the bootstrap interval of the mean of (n,) differences."""
    n = differences.size
    means = differences[np.random.default_rng(seed).integers(0, n, (_RESAMPLES, n))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return float(low), float(high)
