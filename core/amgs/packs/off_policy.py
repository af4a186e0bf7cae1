"""What another policy would have come to, from the log of one that noted its propensities, with bounds.

A round is a context, what was chosen in it with its propensity, and the reward. A policy that would choose it with
another probability counts it with their ratio as weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PolicyEstimate:
    """The value of a policy, its 95 % interval, and the effective sample size, (Σw)² / Σw², of n rounds."""

    value: float
    low: float
    high: float
    effective: float
    rounds: int


def inverse_propensity(rewards: Values, weights: Values) -> PolicyEstimate:
    """IPS (Horvitz and Thompson 1952): the mean of weight · reward, (n,) each; unbiased where every choice of the
    policy had a chance, and of high variance where weights are large. The interval is Student's t.
    """
    return _of_terms(weights * rewards, weights)


def self_normalised(
    rewards: Values, weights: Values, span: tuple[float, float] = (0.0, 1.0)
) -> PolicyEstimate:
    """SNIPS (Swaminathan and Joachims 2015): Σ weight · reward / Σ weight, (n,) each. Of less variance, biased by
    O(1/n).

    span: the least and the greatest reward there can be. The interval is Wilson's, for so many rounds as would give
    the variance by the delta method, at most the effective sample size (Korn and Graubard 1998): rewards that are rare
    and weights that are uneven leave the mean too skewed for a symmetric one. The whole span where no round has weight.
    """
    total, n = float(weights.sum()), rewards.size
    low, high = span
    if total <= 0 or n < 2:
        return PolicyEstimate(low, low, high, 0.0, n)
    share = float((weights * rewards).sum() / total - low) / (high - low)
    share = min(max(share, 0.0), 1.0)
    residual = weights * ((rewards - low) / (high - low) - share) / total
    variance = float((residual**2).sum())
    effective = effective_sample_size(weights)
    counted = min(effective, share * (1 - share) / variance) if variance > 0 else effective
    ends = [low + (high - low) * end for end in _wilson(share, counted, NormalDist().inv_cdf(0.975))]
    return PolicyEstimate(low + (high - low) * share, ends[0], ends[1], effective, n)


def doubly_robust(rewards: Values, weights: Values, chosen: Values, expected: Values) -> PolicyEstimate:
    """DR (Dudík, Langford and Li 2011): mean of expected + weight · (reward − chosen), (n,) each; unbiased where either
    the propensities or the model of rewards is right.

    chosen: the model's reward of what was chosen; expected: its mean reward of what the policy would choose. Neither
    may have been fitted to the round itself.
    """
    return _of_terms(expected + weights * (rewards - chosen), weights)


def mean_of(values: Values) -> PolicyEstimate:
    """The plain mean of (n,) values with its interval by Student's t: for a difference of two policies on the same
    rounds, or as the control that weighs nothing.
    """
    return _of_terms(values, np.ones(values.size))


def effective_sample_size(weights: Values) -> float:
    """(Σw)² / Σw² (Kish 1965): how many rounds of equal weight tell as much; 0 without weight."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def share_bound(hits: int, n: int) -> float:
    """The one-sided 95 % lower bound of a share of which `hits` of n were seen (Wilson 1927); 0 for none."""
    return _wilson(hits / n, n, NormalDist().inv_cdf(0.95))[0] if n else 0.0


def _wilson(share: float, n: float, z: float) -> tuple[float, float]:
    spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    ends = ((share + z * z / (2 * n) + sign * spread) / (1 + z * z / n) for sign in (-1.0, 1.0))
    low, high = (min(max(end, 0.0), 1.0) for end in ends)
    return low, high


def _of_terms(terms: Values, weights: Values) -> PolicyEstimate:
    if terms.size < 2:
        value = float(terms.mean()) if terms.size else 0.0
        return PolicyEstimate(value, float("-inf"), float("inf"), effective_sample_size(weights), terms.size)
    value = float(terms.mean())
    return _interval(value, terms - value, weights)


def _interval(value: float, residual: Values, weights: Values) -> PolicyEstimate:
    n = residual.size
    error = sqrt(float((residual**2).sum()) / (n - 1) / n)
    half = _quantile(0.975, n - 1) * error
    return PolicyEstimate(value, value - half, value + half, effective_sample_size(weights), n)


def _quantile(p: float, freedom: int) -> float:
    """Of Student's t, by the expansion about the normal one (Abramowitz and Stegun 26.7.5): 3 % too small at 2."""
    z, v = NormalDist().inv_cdf(p), freedom
    terms = (
        z,
        (z**3 + z) / 4 / v,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96 / v**2,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / v**3,
    )
    return sum(terms)
