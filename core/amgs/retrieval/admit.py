"""The smallest change of weights that would admit a block: exact, because the composite score is linear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MARGIN = 1e-6
"""How far over the other a block must come: ties are broken by id, which no weight changes."""

_TOLERANCE = 1e-9
_MOST_RIVALS = 4

Row = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Admission:
    """Weights (5,) under which the block ranks at `rank`, and their L2 distance from those in force."""

    weights: Row
    distance: float
    rank: int


def nearest(weights: Row, differences: NDArray[np.float64]) -> Row | None:
    """Return the weights nearest to the given (5,), not negative and of sum 1, under which every row of differences (c,
    5) comes to MARGIN at least; None when there are none. L2, exactly.

    At the nearest point some weights are 0 and some rows are tight; each choice gives one linear system, and
    five weights allow few enough to try them all.
    """
    if bool((differences @ weights >= MARGIN).all()):
        return weights
    best: Row | None = None
    size = weights.size
    for free_count in range(1, size + 1):
        for free in combinations(range(size), free_count):
            for tight in _choices(len(differences), free_count - 1):
                corner = _corner(weights, differences, list(free), list(tight))
                if corner is None or bool((differences @ corner < MARGIN - _TOLERANCE).any()):
                    continue
                if best is None or _distance(corner, weights) < _distance(best, weights) - _TOLERANCE:
                    best = corner
    return best


def admission(parts: NDArray[np.float64], row: int, weights: Row, places: int) -> Admission | None:
    """Return the smallest change of weights found that brings candidate `row` among the first `places`.

    parts: (m, 5) of all candidates. Beside each admitted one in turn it is lifted over that and then over
    whoever still stands in the way; the rank is counted anew under the changed weights, so that what is
    promised holds.
    """
    if places <= 0:
        return None
    order = np.argsort(-(parts @ weights), kind="stable")
    best: Admission | None = None
    for rival in [int(other) for other in order[:places] if other != row]:
        candidate = _over(parts, row, weights, places, rival)
        if candidate is not None and (best is None or candidate.distance < best.distance):
            best = candidate
    return best


def _over(parts: NDArray[np.float64], row: int, weights: Row, places: int, rival: int) -> Admission | None:
    rivals = [rival]
    while len(rivals) <= _MOST_RIVALS:
        tried = nearest(weights, parts[row] - parts[rivals])
        if tried is None:
            return None
        totals = parts @ tried
        ahead = np.flatnonzero(totals > totals[row] - MARGIN / 2)
        ahead = ahead[ahead != row]
        if ahead.size < places:
            return Admission(tried, _distance(tried, weights), int(ahead.size) + 1)
        # Of those still ahead the one that is the least so is the cheapest to pass.
        rivals.append(int(ahead[np.argmin(totals[ahead])]))
    return None


def _choices(rows: int, most: int) -> list[tuple[int, ...]]:
    """Return which rows may be tight at once: none, or up to `most` of them."""
    return [chosen for count in range(min(rows, most) + 1) for chosen in combinations(range(rows), count)]


def _corner(weights: Row, differences: NDArray[np.float64], free: Sequence[int], tight: Sequence[int]) -> Row | None:
    """Return the point nearest to the weights where only `free` may be other than 0 and the tight rows equal MARGIN;
    None where it is negative or there is none.
    """
    fixed = np.vstack([np.ones((1, len(free))), differences[np.ix_(tight, free)]])
    wanted = np.concatenate([[1.0], np.full(len(tight), MARGIN)])
    start = weights[list(free)]
    step, *_ = np.linalg.lstsq(fixed, wanted - fixed @ start, rcond=None)
    inside = start + step
    if bool((inside < -_TOLERANCE).any()) or not np.allclose(fixed @ inside, wanted, atol=_TOLERANCE):
        return None
    corner = np.zeros(weights.size)
    corner[list(free)] = np.maximum(inside, 0.0)
    return corner


def _distance(a: Row, b: Row) -> float:
    return float(np.linalg.norm(a - b))
