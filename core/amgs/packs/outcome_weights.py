"""What outcomes of readings teach: weights of features that all packs share, and a small offset of each pack.

A logistic regression with a ridge on the weights; offsets are drawn to 0 the more the less they differ between packs
(empirical Bayes, the variance by EM with Laplace's approximation; Gelman and Hill 2007, chapter 12). Where several
packs were read in a session and all got one verdict, it may be that of the session, and counts for none of them.
Nothing that chooses packs asks for what is learned here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp, inf, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from amgs.decay import hours_between
from amgs.types.packs import PackUse, PackUtility, PackWeight

Values = NDArray[np.float64]
FEATURES = ("asked", "recent", "often", "tokens", "success")
LEAST = 30
"""Outcomes in the last third that it takes before what is learned may be called better than no learning."""
_RIDGE, _ROUNDS, _STEPS = 1.0, 20, 25
_Z = 1.959963984540054
_HALF_LIFE = 30 * 24.0


@dataclass(frozen=True, slots=True)
class PackOutcome:
    """A reading that was judged: what was known before it, by FEATURES, and 1 for useful, 0 for useless."""

    name: str
    features: tuple[float, ...]
    outcome: float


@dataclass(frozen=True, eq=False)
class OutcomeWeights:
    """weights: the constant and those of FEATURES. offsets: by pack. spread: the standard deviation of offsets.
    covariance: of the constant, the weights and the offsets, in that order.
    """

    weights: Values
    offsets: Mapping[str, float]
    spread: float
    covariance: Values

    def likely(self, name: str, features: Sequence[float]) -> float:
        """How likely a reading is useful."""
        return _sigmoid(self._logit(name, features)[0])

    def utility(self, name: str, features: Sequence[float]) -> tuple[float, float]:
        """The log odds that a reading is useful, and the lower end of their 95 % interval."""
        value, variance = self._logit(name, features)
        return value, value - _Z * sqrt(max(variance, 0.0))

    def shared(self) -> tuple[PackWeight, ...]:
        """The constant and the weights of FEATURES, with their 95 % intervals."""
        reach = _Z * np.sqrt(np.maximum(np.diag(self.covariance)[: self.weights.size], 0.0))
        told = zip(("constant", *FEATURES), self.weights.tolist(), reach.tolist(), strict=True)
        return tuple(PackWeight(name, value, value - wide, value + wide) for name, value, wide in told)

    def _logit(self, name: str, features: Sequence[float]) -> tuple[float, float]:
        names = list(self.offsets)
        row = np.zeros(self.covariance.shape[0])
        row[: self.weights.size] = (1.0, *features)
        value = float(row[: self.weights.size] @ self.weights)
        extra = self.spread**2
        if name in self.offsets:
            row[self.weights.size + names.index(name)] = 1.0
            value, extra = value + self.offsets[name], 0.0
        return value, float(row @ self.covariance @ row) + extra


def fit(outcomes: Sequence[PackOutcome]) -> OutcomeWeights:
    """The weights and offsets that explain outcomes best."""
    names = sorted({one.name for one in outcomes})
    place = {name: n for n, name in enumerate(names)}
    shared = len(FEATURES) + 1
    design = np.zeros((len(outcomes), shared + len(names)))
    for n, one in enumerate(outcomes):
        design[n, :shared] = (1.0, *one.features)
        design[n, shared + place[one.name]] = 1.0
    target = np.array([one.outcome for one in outcomes], dtype=np.float64)
    spread, beta = 0.5, np.zeros(design.shape[1])
    covariance = np.eye(design.shape[1])
    for _ in range(_ROUNDS):
        precision = np.full(design.shape[1], _RIDGE)
        precision[shared:] = 1.0 / spread**2
        beta, covariance = _newton(design, target, precision, beta)
        if not names:
            break
        offsets = beta[shared:] ** 2 + np.diag(covariance)[shared:]
        spread = max(sqrt(float(offsets.mean())), 0.05)
    return OutcomeWeights(
        beta[:shared], {name: float(beta[shared + n]) for name, n in place.items()}, spread, covariance
    )


def _newton(design: Values, target: Values, precision: Values, start: Values) -> tuple[Values, Values]:
    """The mode of the penalised likelihood, and the inverse of its curvature."""
    beta = start
    hessian = np.diag(precision)
    for _ in range(_STEPS):
        likely = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -30, 30)))
        gradient = design.T @ (target - likely) - precision * beta
        hessian = (design * (likely * (1 - likely))[:, None]).T @ design + np.diag(precision)
        step = np.linalg.solve(hessian, gradient)
        beta = beta + step
        if float(np.abs(step).max()) < 1e-8:
            break
    return beta, np.asarray(np.linalg.inv(hessian), dtype=np.float64)


def utilities(model: OutcomeWeights, outcomes: Sequence[PackOutcome]) -> tuple[PackUtility, ...]:
    """What a reading like those that were judged is worth, of each pack; the highest bound first."""
    read: dict[str, list[tuple[float, ...]]] = {}
    for one in outcomes:
        read.setdefault(one.name, []).append(one.features)
    found = [
        PackUtility(name, len(own), model.offsets[name], *model.utility(name, np.mean(own, axis=0).tolist()))
        for name, own in read.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.bound, one.name)))


@dataclass(frozen=True, slots=True)
class LearningGain:
    """Nats a reading by which what was learned foretells better than no learning, with its 95 % interval, over so many
    outcomes.
    """

    value: float
    low: float
    high: float
    outcomes: int

    @property
    def better(self) -> bool:
        """Whether it does by the lower end of the interval, over enough outcomes."""
        return self.low > 0.0 and self.outcomes >= LEAST


def gain(outcomes: Sequence[PackOutcome]) -> LearningGain:
    """How much better what the first two thirds of outcomes teach foretells the last third than no learning: than the
    smoothed success of each pack, or the mean of all, whichever does better there.
    """
    cut = len(outcomes) * 2 // 3
    before, after = outcomes[:cut], outcomes[cut:]
    if not before or len(after) < 2:
        return LearningGain(0.0, -inf, inf, len(after) if before else 0)
    model = fit(before)
    mean = (sum(one.outcome for one in before) + 1.0) / (len(before) + 2.0)
    learned = [_loss(model.likely(one.name, one.features), one.outcome) for one in after]
    plain = [
        [_loss(one.features[-1], one.outcome) for one in after],
        [_loss(mean, one.outcome) for one in after],
    ]
    more = np.array(min(plain, key=sum)) - np.array(learned)
    value, reach = float(more.mean()), _Z * float(more.std(ddof=1)) / sqrt(more.size)
    return LearningGain(value, value - reach, value + reach, more.size)


def read_from(
    uses: Sequence[PackUse], keywords: Mapping[str, Sequence[str]]
) -> tuple[list[PackOutcome], int]:
    """The readings of a log that were judged, the oldest first in both, and how many verdicts count for none because a
    whole session shared them.

    keywords: of each pack. What is known of a reading is what the log says of earlier ones, as if each were judged
    before the next.
    """
    packs: dict[str, set[str]] = {}
    verdicts: dict[str, set[float]] = {}
    for one in uses:
        if one.session and one.outcome is not None:
            packs.setdefault(one.session, set()).add(one.name)
            verdicts.setdefault(one.session, set()).add(one.outcome)
    shared = {name for name, own in packs.items() if len(own) > 1 and len(verdicts[name]) == 1}
    found: list[PackOutcome] = []
    left_out = 0
    seen: dict[str, _Past] = {}
    for one in uses:
        past = seen.get(one.name, _Past())
        outcome = None if one.session in shared else one.outcome
        if outcome is not None:
            found.append(PackOutcome(one.name, features(one, keywords.get(one.name, ()), past), outcome))
        left_out += one.outcome is not None and outcome is None
        seen[one.name] = past.after(one, outcome)
    return found, left_out


@dataclass(frozen=True, slots=True)
class _Past:
    """What the log says of a pack before a reading."""

    readings: int = 0
    last: datetime | None = None
    judged: int = 0
    useful: float = 0.0

    def after(self, one: PackUse, outcome: float | None) -> _Past:
        return _Past(
            self.readings + 1, one.at, self.judged + (outcome is not None), self.useful + (outcome or 0.0)
        )


def features(one: PackUse, keywords: Sequence[str], past: _Past) -> tuple[float, ...]:
    """What is known before a reading, by FEATURES."""
    words = set(one.query.lower().split())
    asked = sum(word.lower() in words for word in keywords) / max(len(keywords), 1)
    hours = None if past.last is None else max(hours_between(past.last, one.at), 0.0)
    recent = 0.0 if hours is None else 0.5 ** (hours / _HALF_LIFE)
    success = (past.useful + 1.0) / (past.judged + 2.0)
    return (asked, recent, log1p(past.readings), log1p(one.tokens) / 10.0, success)


def _loss(likely: float, outcome: float) -> float:
    kept = min(max(likely, 1e-6), 1 - 1e-6)
    return -(outcome * log(kept) + (1 - outcome) * log(1 - kept))


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + exp(-min(max(value, -30.0), 30.0)))
