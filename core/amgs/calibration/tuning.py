"""Measure a memory by labelled questions and monitors (AMGS §13.1, §13.3), plan a recalibration (§7.3), and tune
weights (§13.2). Weights change only the order of candidates, so each question is asked once and a trial is a
matrix product a question. `tune` never proposes weights that its own table shows to be worse.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from amgs import bounds, extras
from amgs.calibration import forecasting
from amgs.calibration.questions import Labelled, is_held_out, recall
from amgs.calibration.results import (
    CalibrationPlan,
    EdgeChange,
    Fit,
    Method,
    Metric,
    Score,
    Tuning,
    brier,
    fit,
    score_held_out_folds,
)
from amgs.errors import UsageError
from amgs.frames.cache import Importance, shift
from amgs.frames.compare import jaccard
from amgs.frames.select import own_weights
from amgs.log import journal
from amgs.settings import CalibrationSettings
from amgs.storage.frames import AssemblyRecord
from amgs.storage.store import Storage
from amgs.text.words import plural
from amgs.types import COMPONENTS, Candidate, FrameDefinition, JournalEntry, Progress, Weights
from amgs.types.health import entropy

K = 10
BRIER_GOAL = 0.15
"""Mean Brier score that forecasts should stay under (AMGS §13.1)."""
_RECENT = 50
DRIFT = "centrality drift"
CYCLES = ("enhance", "consolidate")
"""Kinds of operation between which the graph is compared; the first kind that the store has."""

Find = Callable[[str, int], Sequence[str]]
"""Searches for a query and returns the ids of so many best blocks."""


def retrieval(questions: Sequence[Labelled], find: Find, seed: int, known: int) -> tuple[Metric, ...]:
    """Return precision and recall over all questions, and over the held-out third. known: questions in the file."""
    if not questions:
        note = "needs labelled questions" if not known else "no answer of the questions is in the store"
        return (_metric("precision", None, 0.80, note), _metric("recall", None, 0.70, note))
    hits = {case.question.id: find(case.question.text, max(K, len(case.relevant))) for case in questions}
    apart = [case for case in questions if is_held_out(case.question, seed)]
    metrics = []
    for name, those in (("", questions), (" held out", apart)):
        if not those:
            continue
        exact = [_r_precision(hits[case.question.id], case) for case in those]
        at_k = [sum(i in case.relevant for i in hits[case.question.id][:K]) / K for case in those]
        recalls = [recall(hits[case.question.id][:K], case) for case in those]
        remark = f"{plural(len(those), 'question')} with an answer; of the first R hits, R = relevant blocks"
        metrics.append(
            _metric(f"precision{name}", float(np.mean(exact)), 0.80, f"{remark}; of {K} hits {np.mean(at_k):.3f}")
        )
        metrics.append(
            _metric(
                f"recall{name}", float(np.mean(recalls)), 0.70, f"{plural(len(those), 'question')}; sources in {K} hits"
            )
        )
    return tuple(metrics)


def _r_precision(hits: Sequence[str], case: Labelled) -> float:
    """Return the share of relevant blocks among the first R hits, R being the number of relevant blocks."""
    wanted = case.relevant
    return sum(i in wanted for i in hits[: len(wanted)]) / len(wanted)


def coherence(storage: Storage, assemblies: Iterable[AssemblyRecord]) -> Metric:
    """Return the mean cosine of pairs of blocks within an assembly, over the latest _RECENT."""
    several = [a for a in assemblies if len(a.selected) > 1][:_RECENT]
    blocks = storage.blocks.get({i for a in several for i in a.selected}, embeddings=True)
    means = []
    for assembly in several:
        rows = [b.embedding for i in assembly.selected if (b := blocks.get(i)) is not None and b.embedding is not None]
        if len(rows) > 1:
            cosines = np.stack(rows) @ np.stack(rows).T
            means.append(float(cosines[np.triu_indices(len(rows), 1)].mean()))
    counted = plural(len(means), "assembly", "assemblies")
    note = f"mean cosine of pairs in {counted}" if means else "no assembly has two embedded blocks"
    return Metric("coherence", float(np.mean(means)) if means else None, "higher", None, note)


def graph_stability(storage: Storage) -> Metric:
    """Return the share of edges that stayed between the last two cycles: those at both ends over those at either."""
    for kind in CYCLES:
        ids = storage.monitors.cycles(kind)
        if ids:
            break
    else:
        return Metric("graph stability", None, "near 1", None, "no cycle has run yet")
    # Between the last two cycles, the later included; after a single cycle, up to now.
    since = ids[1] if len(ids) > 1 else ids[0]
    new_edges, gone = storage.monitors.edges_changed(since)
    now = {e.key for e in storage.edges.everything()}
    before = (now - new_edges) | (gone - new_edges)
    value = len(now & before) / len(now | before) if now or before else 1.0
    return Metric("graph stability", value, "near 1", None, f"edges since operation {since} ({kind})")


def calibration(brier: float | None, outcomes: int, fewest: int) -> Metric:
    """Return the mean Brier score of all verdicts. fewest: outcomes below which nothing is said of the target."""
    met = None if brier is None or outcomes < fewest else brier < BRIER_GOAL
    needed = f" ({fewest} needed)" if outcomes < fewest else ""
    return Metric("Brier", brier, f"< {BRIER_GOAL:g}", met, plural(outcomes, "outcome") + needed)


def attention_stability(assemblies: Sequence[AssemblyRecord]) -> Metric:
    """Return the mean Jaccard overlap of successive assemblies of a frame for the same query."""
    by_query: dict[tuple[str, str], list[frozenset[str]]] = defaultdict(list)
    for record in reversed(assemblies):
        by_query[record.name, record.query].append(frozenset(record.selected))
    overlaps = [jaccard(a, b) for runs in by_query.values() for a, b in pairwise(runs)]
    note = f"{plural(len(overlaps), 'pair')} of successive assemblies" if overlaps else "nothing was assembled twice"
    return _metric("attention stability", float(np.mean(overlaps)) if overlaps else None, 0.60, note)


def monitors(storage: Storage, assemblies: Sequence[AssemblyRecord], importance: Importance) -> tuple[Metric, ...]:
    """Return the drift of centrality since the last record, and the entropy of categories over all blocks and within
    frames. importance: centrality of the most central blocks, by id.
    """
    last = storage.monitors.last(DRIFT)
    drift = None if last is None else shift(last.detail, importance)
    note = "nothing was recorded yet: --record does" if last is None else f"since {last.at:%Y-%m-%d %H:%M}"
    spread = entropy(storage.blocks.by_category().values())
    recent = [record.entropy_bits for record in assemblies[:_RECENT]]
    return (
        Metric(DRIFT, drift, "", None, note),
        Metric("entropy of categories", spread.bits, "", None, f"bits, {spread.most:.2f} at most"),
        Metric(
            "entropy of frames",
            float(np.mean(recent)) if recent else None,
            "",
            None,
            f"bits, mean of {plural(len(recent), 'assembly', 'assemblies')}",
        ),
    )


def _metric(name: str, value: float | None, target: float, note: str) -> Metric:
    return Metric(name, value, f"> {target:.2f}", None if value is None else value > target, note)


KIND = "calibrate"


def plan(
    scores: Sequence[tuple[float, float]],
    edges: tuple[EdgeChange, ...],
    *,
    method: Method,
    settings: CalibrationSettings,
    now: datetime,
    change_counter: int,
) -> CalibrationPlan:
    """Plan a recalibration from all verdicts; changes nothing.

    A curve that does not lower the Brier score on held-out outcomes is not used. scores: (composite score, outcome) of
    every verdict. edges: changes by verdicts, not yet applied. Raises UsageError for too few verdicts.
    """
    if len(scores) < settings.fewest_outcomes:
        raise UsageError(
            f"To calibrate, {settings.fewest_outcomes} outcomes are needed, and {len(scores)} are known.",
            title="Not enough outcomes",
            way_out="Judge more blocks first.",
            about="feedback",
        )
    return CalibrationPlan(method, len(scores), _forecast(scores, method), edges, now, change_counter)


def _forecast(scores: Sequence[tuple[float, float]], method: Method) -> Fit:
    """Return the curve from composite scores to outcomes."""
    predicted, actual = (np.array(column) for column in zip(*scores, strict=True))
    before, after = brier(predicted, actual), score_held_out_folds(predicted, actual, method)
    return Fit(before, after, after < before, fit(predicted, actual, method))


def plan_from_store(storage: Storage, method: Method, settings: CalibrationSettings, now: datetime) -> CalibrationPlan:
    """Return the plan for a store as it is now.

    It holds a curve from scores to outcomes, which later forecasts use, and new confidences of edges (AMGS §7.3,
    §13.3). The confidence of a block's category stays, since no verdict is about it.
    """
    return plan(
        storage.forecasts.read_scored(),
        forecasting.edge_changes(storage),
        method=method,
        settings=settings,
        now=now,
        change_counter=storage.change_counter,
    )


def apply_plan(storage: Storage, proposal: CalibrationPlan, now: datetime) -> JournalEntry:
    """Apply a plan in a single transaction; raise UsageError when an edge's confidence has changed since."""
    with storage.transaction():
        edges = {c.edge.key: c for c in proposal.edges}
        stored_edges = storage.edges.get(edges)
        moved = [
            " ".join(k)
            for k, c in edges.items()
            if k not in stored_edges or stored_edges[k].confidence != c.edge.confidence
        ]
        if moved:
            raise UsageError(
                f"{plural(len(moved), 'edge')} changed since the plan was computed, first that of {moved[0][:8]}.",
                title="The plan is out of date",
                way_out="Plan the calibration again.",
            )
        rows, learned = forecasting.write_edges(storage, proposal.edges, now)
        curve = "forecasts mapped" if proposal.forecast.used else "forecasts unchanged"
        summary = (
            f"{proposal.method} on {plural(proposal.outcomes, 'outcome')}: {curve}, {plural(len(learned), 'edge')}"
        )
        operation = journal.write(storage, KIND, now, summary, rows)
        if proposal.forecast.used:
            storage.forecasts.put_curve(operation.id, proposal.forecast.curve.to_json())
        if proposal.needs:
            storage.forecasts.put_needs(operation.id, forecasting.to_json(proposal.needs))
        storage.edge_forecasts.count_in(operation.id, learned)
        return operation


SearchMethod = Literal["grid", "bayes"]

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

    def rank_ids(self, weights: Values, k: int) -> list[str]:
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
        ranking, wanted = question.rank_ids(w, k), question.labelled.relevant
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
    with extras.explain_missing():
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
