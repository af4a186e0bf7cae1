"""Find the smallest change of scoring weights that would admit a block, for `why`.

The result is exact, because the composite score is linear in the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MARGIN = 1e-6
"""How far a block must exceed another: at a tie the id decides, which no weight changes."""

_TOLERANCE = 1e-9
_MOST_RIVALS = 4

Row = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Admission:
    """Weights (5,) under which the block ranks at `rank`, and their L2 distance from the current ones."""

    weights: Row
    distance: float
    rank: int


def nearest_weights(weights: Row, differences: NDArray[np.float64]) -> Row | None:
    """Return the weights nearest to these (5,) in L2, non-negative and with sum 1, under which each row of
    `differences` (c, 5) is at least MARGIN; None when there are none.

    At the nearest point some weights are 0 and some rows equal MARGIN (are tight). Each choice of them gives a linear
    system, and five weights allow few enough to try them all.
    """
    if bool((differences @ weights >= MARGIN).all()):
        return weights
    best: Row | None = None
    size = weights.size
    for free_count in range(1, size + 1):
        for free in combinations(range(size), free_count):
            for tight in _tight_choices(len(differences), free_count - 1):
                corner = _nearest_corner(weights, differences, list(free), list(tight))
                if corner is None or bool((differences @ corner < MARGIN - _TOLERANCE).any()):
                    continue
                if best is None or _distance(corner, weights) < _distance(best, weights) - _TOLERANCE:
                    best = corner
    return best


def find_admission(parts: NDArray[np.float64], row: int, weights: Row, places: int) -> Admission | None:
    """Return the smallest change of weights found that ranks candidate `row` among the first `places`; None if none.

    parts: (m, 5) of all candidates. For each admitted candidate it looks for weights that rank `row` above it, then
    above any other that is still ahead; the rank is counted again under the new weights, so that the answer is true.
    """
    if places <= 0:
        return None
    order = np.argsort(-(parts @ weights), kind="stable")
    best: Admission | None = None
    for rival in [int(other) for other in order[:places] if other != row]:
        candidate = _pass_rivals(parts, row, weights, places, rival)
        if candidate is not None and (best is None or candidate.distance < best.distance):
            best = candidate
    return best


def _pass_rivals(parts: NDArray[np.float64], row: int, weights: Row, places: int, rival: int) -> Admission | None:
    """Return weights that rank `row` above a rival and, while fewer than `places` allow it, above those still ahead."""
    rivals = [rival]
    while len(rivals) <= _MOST_RIVALS:
        tried = nearest_weights(weights, parts[row] - parts[rivals])
        if tried is None:
            return None
        totals = parts @ tried
        ahead = np.flatnonzero(totals > totals[row] - MARGIN / 2)
        ahead = ahead[ahead != row]
        if ahead.size < places:
            return Admission(tried, _distance(tried, weights), int(ahead.size) + 1)
        # Of those still ahead the lowest is the cheapest to pass.
        rivals.append(int(ahead[np.argmin(totals[ahead])]))
    return None


def _tight_choices(rows: int, most: int) -> list[tuple[int, ...]]:
    """Return every set of rows that may be tight at once: from none up to `most` of them."""
    return [chosen for count in range(min(rows, most) + 1) for chosen in combinations(range(rows), count)]


def _nearest_corner(
    weights: Row, differences: NDArray[np.float64], free: Sequence[int], tight: Sequence[int]
) -> Row | None:
    """Return the weights nearest to these where all but `free` are 0 and the `tight` rows equal MARGIN; None where
    there are none, or one is negative.
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
