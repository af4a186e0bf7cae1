"""Tune a frame's weights on labelled questions: by grid, by Bayesian optimisation, or by comparing a given set (AMGS
§13.2).

Weights change only the order of a frame's candidates, so each question is asked once and a trial is a matrix product a
question. `tune` never proposes weights that its own table shows to be worse.
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
from amgs.calibration.questions import Labelled, is_held_out, recall
from amgs.calibration.results import Score, Tuning
from amgs.errors import UsageError
from amgs.frames.score import own_weights
from amgs.types import COMPONENTS, Candidate, FrameDefinition, Progress, Weights

SearchMethod = Literal["grid", "bayes"]

K = 10
_RESAMPLES = 2000
_TIE = 0.05
"""Weight of the reciprocal rank beside recall, to choose between weights with the same recall."""

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoredQuestion:
    """A question with its n candidates: ids, sorted, and the parts of their scores (n, 5) before weighting."""

    labelled: Labelled
    ids: tuple[str, ...]
    parts: Values

    def ranked(self, weights: Values, k: int) -> list[str]:
        """Return the k best ids under weights (5,), ties by id."""
        if not self.ids:
            return []
        order = np.argsort(-(self.parts @ weights), kind="stable")[:k]
        return [self.ids[i] for i in order.tolist()]


def score_candidates(labelled: Labelled, candidates: Sequence[Candidate]) -> ScoredQuestion:
    """Return a question with those of its candidates that may be selected."""
    chosen = sorted((c for c in candidates if c.fate == "selected"), key=lambda c: c.block.id)
    parts = np.array([[getattr(c.parts, n) for n in COMPONENTS] for c in chosen], dtype=np.float64)
    return ScoredQuestion(labelled, tuple(c.block.id for c in chosen), parts.reshape(len(chosen), len(COMPONENTS)))


def weight_vector(weights: Weights) -> Values:
    """Return the weights as an array (5,) in the order of COMPONENTS."""
    return np.array([getattr(weights, name) for name in COMPONENTS])


def score(questions: Sequence[ScoredQuestion], weights: Weights, k: int = K) -> Score:
    """Return the mean recall@k, precision@k and reciprocal rank of the first relevant block over the questions."""
    return Score(len(questions), *_score_questions(questions, weights, k).mean(axis=0).tolist())


def _score_questions(questions: Sequence[ScoredQuestion], weights: Weights, k: int = K) -> Values:
    """Return (n, 3) recall@k, precision@k and reciprocal rank of each question, 0 where nothing relevant is among the
    k.
    """
    w, rows = weight_vector(weights), []
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
    """Search for better weights on two thirds of the questions, and compare them with the frame's own on the held-out
    third. against: compare these weights instead of searching. Raises UsageError when either part is empty.
    """
    bounds.count("A seed", seed)
    apart = [q for q in questions if is_held_out(q.labelled.question, seed)]
    seen = [q for q in questions if not is_held_out(q.labelled.question, seed)]
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
        tried = _try_bayesian(seen, present, trials, seed, progress)
    # Of equal trials max keeps the first, the current weights.
    best, best_seen = max(tried, key=lambda trial: objective(trial[1]))
    before, before_apart = score(seen, present), score(apart, present)
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
        best_seen,
        before_apart,
        after,
        (float(recalls.mean()), *interval(recalls, seed)),
        objective(after) > objective(before_apart)
        and is_no_worse(after, before_apart)
        and is_no_worse(best_seen, before),
        definition.weighed(best),
        turns=definition.rule.order == "search",
    )


def is_no_worse(after: Score, before: Score) -> bool:
    """Return whether no measure fell."""
    return all(getattr(after, name) >= getattr(before, name) for name in ("recall", "precision", "mrr"))


def objective(scores: Score) -> float:
    """Return the value that a search maximises."""
    return scores.recall + _TIE * scores.mrr


def _try_bayesian(
    questions: Sequence[ScoredQuestion], present: Weights, trials: int, seed: int, progress: Progress | None
) -> list[tuple[Weights, Score]]:
    """Score the weights that a tree-structured Parzen estimator proposes, the current ones first."""
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
