"""Results of `memory.calibration`, and the curves that map forecasts to outcomes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from amgs.types import Edge, FrameDefinition, JournalEntry, Weights
from amgs.types.diagnosis import CaseComparison

Values = NDArray[np.float64]
"""(n,) probabilities or outcomes in [0, 1]."""

Method = Literal["isotonic", "platt"]

_CLIP = 1e-3
_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Curve:
    """Monotone map defined by its knots: x (k,) ascending, y (k,) not falling; linear between, constant beyond."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    def at(self, values: Values) -> Values:
        """Return (n,) values mapped into [0, 1]."""
        mapped: Values = np.interp(values, np.array(self.x), np.array(self.y))
        return mapped

    def to_json(self) -> str:
        """Return the knots; `read_curve` gives the curve back."""
        return json.dumps([self.x, self.y])


def read_curve(text: str) -> Curve:
    """Return the curve that `to_json` wrote."""
    x, y = json.loads(text)
    return Curve(tuple(x), tuple(y))


def fit(predicted: Values, actual: Values, method: Method) -> Curve:
    """Fit the curve of a method to n > 0 pairs of forecast and outcome.

    Isotonic: pool adjacent violators (Ayer et al. 1955). Platt: a logistic fit on the log odds with his smoothed
    targets (Platt 1999; Lin, Lin and Weng 2007).
    """
    return isotonic(predicted, actual) if method == "isotonic" else platt(predicted, actual)


def isotonic(predicted: Values, actual: Values) -> Curve:
    """Fit the monotone step function with the least squared error; its steps' middles are joined by lines."""
    x, which = np.unique(predicted, return_inverse=True)
    weight = np.bincount(which).astype(np.float64)
    mean = np.bincount(which, weights=actual) / weight
    level, mass, middle = pool_adjacent_violators(mean, weight, x)
    del mass
    return Curve(tuple(middle.tolist()), tuple(np.clip(level, 0.0, 1.0).tolist()))


def pool_adjacent_violators(mean: Values, weight: Values, x: Values) -> tuple[Values, Values, Values]:
    """Return (level, weight, mean x) of the pools: neighbours in falling order are merged until there are none."""
    level: list[float] = []
    mass: list[float] = []
    middle: list[float] = []
    for m, w, place in zip(mean.tolist(), weight.tolist(), x.tolist(), strict=True):
        level.append(m)
        mass.append(w)
        middle.append(place)
        while len(level) > 1 and level[-2] >= level[-1]:
            together = mass[-2] + mass[-1]
            joined = (level[-2] * mass[-2] + level[-1] * mass[-1]) / together
            centre = (middle[-2] * mass[-2] + middle[-1] * mass[-1]) / together
            del level[-1], mass[-1], middle[-1]
            level[-1], mass[-1], middle[-1] = joined, together, centre
    return np.array(level), np.array(mass), np.array(middle)


def platt(predicted: Values, actual: Values) -> Curve:
    """Fit σ(a · logit p + b) with a ≥ 0, by Newton's method, and return it as a curve of 101 knots."""
    odds = _logit(predicted)
    hits = float(actual.sum())
    misses = actual.size - hits
    # Platt's targets: as if there were one more outcome of each kind, so that the fit does not diverge.
    target = actual * (hits + 1) / (hits + 2) + (1 - actual) / (misses + 2)
    a, b = 0.0, float(_logit(np.array([target.mean()]))[0])
    loss = _loss(odds, target, a, b)
    for _ in range(_ROUNDS):
        p = _sigmoid(a * odds + b)
        spread = p * (1 - p) + 1e-12
        off = p - target
        gradient = np.array([float((off * odds).sum()), float(off.sum())])
        mixed = float((spread * odds).sum())
        hessian = np.array([[float((spread * odds * odds).sum()), mixed], [mixed, float(spread.sum())]])
        step = np.linalg.solve(hessian + 1e-6 * np.eye(2), gradient)
        # A whole Newton step may overshoot where the sigmoid is flat: halve it until the loss falls.
        length = 1.0
        while length > 1e-10:
            tried = _loss(odds, target, a - length * float(step[0]), b - length * float(step[1]))
            if tried <= loss:
                break
            length /= 2
        a, b, loss = a - length * float(step[0]), b - length * float(step[1]), min(loss, tried)
        if length * float(np.abs(step).max()) < 1e-9:
            break
    if a < 0 or not np.isfinite(a) or not np.isfinite(b):
        base = float(target.mean())
        a, b = 0.0, float(_logit(np.array([base]))[0])
    x = np.linspace(0.0, 1.0, 101)
    return Curve(tuple(x.tolist()), tuple(_sigmoid(a * _logit(x) + b).tolist()))


def brier(predicted: Values, actual: Values) -> float:
    """Return the mean squared difference."""
    return float(np.mean((predicted - actual) ** 2))


def score_held_out_folds(predicted: Values, actual: Values, method: Method, folds: int = 5) -> float:
    """Return the Brier score after recalibration, each fold mapped by a curve that was fitted without it.

    The i-th pair is in fold i mod `folds`.
    """
    mapped = np.empty_like(predicted)
    fold = np.arange(predicted.size) % folds
    for part in range(min(folds, predicted.size)):
        inside = fold == part
        if inside.all():
            return brier(predicted, actual)
        mapped[inside] = fit(predicted[~inside], actual[~inside], method).at(predicted[inside])
    return brier(mapped, actual)


def _loss(odds: Values, target: Values, a: float, b: float) -> float:
    """Return the cross entropy of the targets under σ(a · odds + b), in nats."""
    z = a * odds + b
    return float((np.logaddexp(0.0, z) - target * z).sum())


def _logit(p: Values) -> Values:
    clipped = np.clip(p, _CLIP, 1 - _CLIP)
    odds: Values = np.log(clipped / (1 - clipped))
    return odds


def _sigmoid(z: Values) -> Values:
    value: Values = 1.0 / (1.0 + np.exp(-np.clip(z, -60.0, 60.0)))
    return value


GroupKind = Literal["all", "frame", "category", "relation"]


@dataclass(frozen=True, slots=True)
class OutcomeGroup:
    """Forecasts and outcomes of a frame, category or relation type; None where nothing was decided."""

    kind: GroupKind
    name: str
    forecasts: int
    outcomes: int
    mean_predicted: float | None
    rate: float | None
    brier: float | None


@dataclass(frozen=True, slots=True)
class OutcomeGroups:
    """All groups, by kind and name."""

    groups: tuple[OutcomeGroup, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """A curve from composite scores to outcomes.

    before, after: Brier score against the outcomes; after is measured on outcomes that the curve was not fitted on.
    used: whether it helps and is applied.
    """

    before: float
    after: float
    used: bool
    curve: Curve


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """An edge whose confidence changes: `count` verdicts on what it led to, `hits` of them useful."""

    edge: Edge
    after: float
    hits: float
    count: int


@dataclass(frozen=True, slots=True)
class FrameNeeds:
    """Needs of labelled questions for a frame.

    needed: the least budgets, in tokens, that hold all of it, in the order of the questions; None where none did.
    definition: of the frame as it was asked.
    """

    frame: str
    definition: str
    needed: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class CalibrationPlan:
    """A proposal; nothing has happened yet. forecast: the curve from composite score to forecast, of all verdicts.
    The blocks' confidences stay: they say how sure the category is, which no verdict asks.

    compared: questions of a file, asked before and after the change in a copy of the memory; None where none were.
    needs: of the labelled questions, by frame, on which its promise of coverage rests from then on.
    """

    method: Method
    outcomes: int
    forecast: Fit
    edges: tuple[EdgeChange, ...]
    made_at: datetime
    change_counter: int
    compared: CaseComparison | None = None
    needs: tuple[FrameNeeds, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A plan that was carried out, and its journal entry."""

    plan: CalibrationPlan
    operation: JournalEntry


# --- metrics ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Metric:
    """One success metric (AMGS §13.1) or monitor (§13.3). value is None where there is nothing to measure; note says
    what it rests on. before: as it was recorded last. target, met: "" and None of a monitor.
    """

    name: str
    value: float | None
    target: str
    met: bool | None
    note: str
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """The six success metrics, the two of retrieval on the held-out third apart, and the monitors."""

    metrics: tuple[Metric, ...]
    at: datetime
    recorded: bool = False


# --- tuning -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """Mean recall@k, precision@k and reciprocal rank over a number of questions."""

    questions: int
    recall: float
    precision: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """A proposal of weights for a frame: the best of `trials`, or those passed. held_out: the third of the questions
    that no trial saw. difference: of their recall, with a 95 % interval from a bootstrap over them.

    better: whether it beats the present weights on the held-out third and by no measure does worse on either part.
    turns: whether the frame keeps the order of the search now, which it would give up.
    """

    frame: str
    method: str
    k: int
    trials: int
    present: Weights
    proposed: Weights
    present_tuning: Score
    proposed_tuning: Score
    present_held_out: Score
    proposed_held_out: Score
    difference: tuple[float, float, float]
    better: bool
    definition: FrameDefinition
    turns: bool = False
    applied: bool = False
