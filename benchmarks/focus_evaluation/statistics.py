"""Bootstrap intervals, by drawing documents and then windows of each (or windows of the only document) with
replacement, and rank correlation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
LEVEL = 0.95

Means = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Interval:
    """A statistic with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float

    def said(self, digits: int, scale: float = 1.0) -> str:
        """The statistic with its interval in brackets; "none" where it cannot be computed."""
        if not math.isfinite(self.mean):
            return "none"
        mean, low, high = (f"{scale * value:.{digits}f}" for value in (self.mean, self.low, self.high))
        return f"{mean} [{low}, {high}]"


def resampled(
    rows: Mapping[str, Sequence[float]],
    statistic: Callable[[Means], NDArray[np.float64]],
    *,
    seed: int,
    groups: Sequence[int] | None = None,
) -> Interval:
    """A statistic of the columns' means, with the interval from drawing groups of rows, and rows of each that is drawn.

    rows: by name (n,) values of the same n windows. groups: (n,) the document of each window; with fewer than
    two documents every window is drawn by itself. Without the second draw two documents that happen to agree would
    give an interval of no width. The statistic takes means of any shape (...,).
    """
    names = list(rows)
    table = np.array([rows[name] for name in names], np.float64).T  # (n, k)
    _, of = np.unique(np.arange(len(table)) if groups is None or len(set(groups)) < 2 else groups, return_inverse=True)
    counts = np.bincount(of)
    means = _drawn(table[np.argsort(of, kind="stable")], counts, np.random.default_rng(seed))
    with np.errstate(divide="ignore", invalid="ignore"):
        samples = statistic({name: means[:, place] for place, name in enumerate(names)})
        whole = statistic({name: table[:, place].mean() for place, name in enumerate(names)})
    low, high = np.nanquantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(whole), float(low), float(high))


def _drawn(table: NDArray[np.float64], counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """(n, k) rows in the order of their groups, (g,) rows a group -> (resamples, k) means."""
    starts, longest = np.cumsum(counts) - counts, int(counts.max())
    drawn = rng.integers(0, len(counts), size=(RESAMPLES, len(counts)))
    if longest == 1:
        return np.asarray(table[drawn].mean(axis=1))
    sums = np.zeros((RESAMPLES, table.shape[1]))
    for group in drawn.T:  # (resamples,)
        held = counts[group, None]
        places = starts[group, None] + (rng.random((RESAMPLES, longest)) * held).astype(np.int64)
        sums += (table[places] * (np.arange(longest) < held)[..., None]).sum(axis=1)
    return np.asarray(sums / counts[drawn].sum(axis=1)[:, None])


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """Rank correlation, ties sharing their mean rank; 0 where either side is constant."""
    if len(set(left)) < 2 or len(set(right)) < 2:
        return 0.0
    ranks = [_ranks(side) for side in (left, right)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = (last - (counts - 1) / 2)[inverse]
    return ranks
