"""Off-policy estimators on Open Bandit data: two policies ran side by side, and each log tells what the other came to.

`random-X.csv` chose among the items with equal chance, `bts-X.csv` by Thompson sampling. What Thompson sampling would
choose is not logged with the random log: its choices at each position are counted in its own log.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from amgs.packs.off_policy import (
    PolicyEstimate,
    Values,
    doubly_robust,
    inverse_propensity,
    mean_of,
    self_normalised,
)
from benchmarks.bench_results import BenchTable, Comparator
from benchmarks.rig import MemoryRig
from benchmarks.subject import SubjectResult

_RESAMPLES = 200
_PRIOR = 200.0
"""Rounds of the mean reward that each item starts with in the model of rewards."""
OURS = "self-normalised"
GOALS: dict[str, tuple[Comparator, float]] = {"estimator_coverage": (">=", 0.9)}


@dataclass(frozen=True, eq=False)
class BanditLog:
    """A log: n rounds with position, item, click and propensity, (n,) each."""

    position: Values
    item: Values
    click: Values
    propensity: Values


@dataclass(frozen=True, eq=False)
class EvaluationCase:
    """A log, what another policy's weight is in each of its rounds, and that policy's own mean reward. chosen,
    expected: what a model of rewards, fitted to the other half of the rounds, says; see `doubly_robust`.
    """

    name: str
    rewards: Values
    weights: Values
    chosen: Values
    expected: Values
    truth: float


_Rounds = np.ndarray[tuple[int], np.dtype[np.int64]]
METHODS: dict[str, Callable[[EvaluationCase, _Rounds], PolicyEstimate]] = {
    OURS: lambda one, at: self_normalised(one.rewards[at], one.weights[at]),
    "inverse propensity": lambda one, at: inverse_propensity(one.rewards[at], one.weights[at]),
    "doubly robust": lambda one, at: doubly_robust(
        one.rewards[at], one.weights[at], one.chosen[at], one.expected[at]
    ),
    "mean of the log, unweighted": lambda one, at: mean_of(one.rewards[at]),
    "the same, Wilson's interval": lambda one, at: self_normalised(one.rewards[at], np.ones(at.size)),
}


def measure_estimators(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """How often the interval of a resample holds what the other policy came to; None without data."""
    rows: list[tuple[str | float, ...]] = []
    metrics: dict[str, float] = {}
    least: list[float] = []
    for case in _cases(data):
        draw = np.random.default_rng(rig.seed)
        n = case.rewards.size
        samples = [draw.integers(n, size=n) for _ in range(_RESAMPLES)]
        for name, method in METHODS.items():
            whole = method(case, np.arange(n))
            found = [method(case, at) for at in samples]
            covered = float(np.mean([one.low <= case.truth <= one.high for one in found]))
            width = float(np.mean([one.high - one.low for one in found]))
            rows.append(
                (
                    case.name,
                    name,
                    f"{100 * case.truth:.2f}",
                    f"{100 * whole.value:.2f} [{100 * whole.low:.2f}, {100 * whole.high:.2f}]",
                    f"{whole.effective:.0f}",
                    f"{100 * width:.2f}",
                    f"{covered:.3f}",
                )
            )
            metrics[f"estimator_coverage_{case.name}_{name.split(',')[0]}".replace(" ", "_")] = covered
            least += [covered] if name == OURS else []
    if not least:
        return None
    metrics["estimator_coverage"] = min(least)
    table = BenchTable(
        f"Clicks in percent of another policy from a log, {_RESAMPLES} resamples of each log",
        ("log → policy", "method", "truth", "whole log, 95 %", "effective", "width", "covered"),
        tuple(rows),
    )
    return SubjectResult(metrics, GOALS, (table,))


def _cases(data: Path) -> Iterator[EvaluationCase]:
    for path in sorted((data / "bandit").glob("random-*.csv")):
        other = path.with_name(path.name.replace("random-", "bts-"))
        if not other.exists():
            continue
        uniform, thompson = _read(path), _read(other)
        campaign = path.stem.removeprefix("random-")
        items = int(max(uniform.item.max(), thompson.item.max())) + 1
        even = np.full((int(uniform.position.max()) + 1, items), 1.0 / items)
        counted = np.ones((int(thompson.position.max()) + 1, items))
        np.add.at(counted, (thompson.position.astype(int), thompson.item.astype(int)), 1.0)
        counted /= counted.sum(axis=1, keepdims=True)
        yield _case(f"{campaign}, random → Thompson", uniform, counted, float(thompson.click.mean()))
        yield _case(f"{campaign}, Thompson → random", thompson, even, float(uniform.click.mean()))


def _case(name: str, log: BanditLog, policy: Values, truth: float) -> EvaluationCase:
    """policy: (positions, items), the chance of each item."""
    position, item = log.position.astype(int), log.item.astype(int)
    chosen, expected = np.zeros(item.size), np.zeros(item.size)
    fold = np.arange(item.size) % 2
    for own in (0, 1):
        fitted = fold != own
        clicks, shown = np.zeros(policy.shape[1]), np.zeros(policy.shape[1])
        np.add.at(clicks, item[fitted], log.click[fitted])
        np.add.at(shown, item[fitted], 1.0)
        reward = (clicks + _PRIOR * log.click[fitted].mean()) / (shown + _PRIOR)
        chosen[~fitted] = reward[item[~fitted]]
        expected[~fitted] = policy[position[~fitted]] @ reward
    weights = policy[position, item] / log.propensity
    return EvaluationCase(name, log.click, weights, chosen, expected, truth)


def _read(path: Path) -> BanditLog:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [
            (
                float(row["position"]),
                float(row["item_id"]),
                float(row["click"]),
                float(row["propensity_score"]),
            )
            for row in csv.DictReader(lines)
        ]
    position, item, click, propensity = np.array(rows, dtype=np.float64).T
    return BanditLog(position, item, click, propensity)
