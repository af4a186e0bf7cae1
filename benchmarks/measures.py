"""Measures of a ranking against what is relevant, and their intervals."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray


def recall(ranked: Sequence[str], relevant: Sequence[frozenset[str]], depth: int) -> float:
    """Share of the relevant items found in the first `depth`; an item is a set of blocks, any of which will
    do.
    """
    top = set(ranked[:depth])
    return sum(bool(top & item) for item in relevant) / len(relevant)


def hit(ranked: Sequence[str], relevant: Sequence[frozenset[str]], depth: int) -> float:
    """1 when any relevant item is in the first `depth`."""
    return float(recall(ranked, relevant, depth) > 0)


def ndcg(ranked: Sequence[str], relevant: Sequence[frozenset[str]], depth: int) -> float:
    """nDCG with gains of 0 and 1, discounted by log2(rank + 1); a second block of one item gains nothing."""
    missing = list(relevant)
    gained = 0.0
    for place, block in enumerate(ranked[:depth], 1):
        held = [item for item in missing if block in item]
        if held:
            missing.remove(held[0])
            gained += 1.0 / math.log2(place + 1)
    ideal = sum(1.0 / math.log2(place + 1) for place in range(1, min(depth, len(relevant)) + 1))
    return gained / ideal


def reciprocal_rank(ranked: Sequence[str], relevant: Sequence[frozenset[str]]) -> float:
    """1 / rank of the first relevant block, 0 when there is none."""
    wanted = frozenset().union(*relevant)
    return next((1.0 / place for place, block in enumerate(ranked, 1) if block in wanted), 0.0)


def auroc(scores: NDArray[np.float64] | Sequence[float], positive: NDArray[np.bool_] | Sequence[bool]) -> float:
    """The chance that a positive scores over a negative, ties by halves; 0.5 where one kind is missing."""
    values, yes = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
    ups, downs = values[yes], values[~yes]
    if not ups.size or not downs.size:
        return 0.5
    ordered = np.sort(downs)
    below = np.searchsorted(ordered, ups, side="left")
    level = np.searchsorted(ordered, ups, side="right")
    return float((below + level).sum() / (2.0 * ups.size * downs.size))


def interval(
    by_group: Mapping[str, Sequence[float]], *, seed: int = 0, draws: int = 2000, level: float = 0.95
) -> tuple[float, float]:
    """The interval of a mean over questions, by drawing groups (conversations) with replacement."""
    groups = [np.asarray(values, dtype=np.float64) for values in by_group.values() if len(values)]
    if not groups:
        return math.nan, math.nan
    sums, counts = np.array([g.sum() for g in groups]), np.array([g.size for g in groups])
    drawn = np.random.default_rng(seed).integers(0, len(groups), size=(draws, len(groups)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def grouped(names: Sequence[str], values: Sequence[float]) -> dict[str, list[float]]:
    """The values by the name that stands beside each."""
    by: dict[str, list[float]] = {}
    for name, value in zip(names, values, strict=True):
        by.setdefault(name, []).append(value)
    return by


def mean_interval(values: Sequence[float], draws: int = 2000) -> tuple[float, float]:
    """The 95 % interval of a mean, by drawing values with replacement."""
    chance = random.Random(1)
    means = sorted(statistics.mean(chance.choices(values, k=len(values))) for _ in range(draws))
    return means[int(0.025 * draws)], means[int(0.975 * draws)]


def quantile(values: Sequence[float], share: float) -> float:
    """The value that a share of all do not exceed; not a number without any."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
