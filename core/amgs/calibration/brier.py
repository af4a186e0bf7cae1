"""The Brier score of forecasts, its parts, and the reliability table (AMGS §7.3; Murphy 1973;
Stephenson et al. 2008).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from amgs.errors import UsageError
from amgs.types import CoursePoint, Outcome, Reliability, ReliabilityBin

_COURSE_POINTS = 48
"""Instants at which the course of the score is told."""
_COURSE_LEAST = 20
"""Verdicts that a point of the course looks back over at least: the parts of fewer are mostly chance."""
_Z95 = 1.959963984540054


def brier_score(predicted: float, actual: float) -> float:
    """Return (predicted - actual)²: 0 is perfect, 0.25 is what a coin's forecast gets."""
    return (predicted - actual) ** 2


def wilson_interval(hits: float, count: int) -> tuple[float, float]:
    """95 % interval of a rate, by Wilson's score: sane for small counts; (0, 1) for none."""
    if count == 0:
        return 0.0, 1.0
    rate = hits / count
    scale = 1 + _Z95**2 / count
    middle = (rate + _Z95**2 / (2 * count)) / scale
    half = _Z95 / scale * math.sqrt(rate * (1 - rate) / count + _Z95**2 / (4 * count**2))
    return max(0.0, min(rate, middle - half)), min(1.0, max(rate, middle + half))


def reliability(outcomes: Sequence[Outcome], *, bins: int, forecasts: int) -> Reliability:
    """Return the table of decided forecasts in `bins` equal bins, and the score's parts, which add up exactly.

    outcomes: the latest verdict first, as the log gives them. forecasts: how many were logged in all. Raises
    UsageError for fewer than one bin. With bin means p and rates o over n forecasts, the within-bin term is
    Σ(predicted - p)² / n - 2 Σ(predicted - p)(actual - o) / n.
    """
    if bins < 1:
        raise UsageError(f"A reliability table needs at least one bin, got {bins}.", way_out="Ten is usual.")
    pairs = [(o.predicted, o.actual) for o in outcomes if o.actual is not None]
    table, parts = _decompose_score(pairs, bins)
    if parts is None:
        return Reliability(table, forecasts, 0, None, None, None, None, None)
    return Reliability(
        table,
        forecasts,
        len(pairs),
        *parts,
        history=tuple((o.at, o.brier) for o in reversed(outcomes) if o.brier is not None),
        course=course(outcomes, bins=bins),
    )


def course(outcomes: Sequence[Outcome], *, bins: int, points: int = _COURSE_POINTS) -> tuple[CoursePoint, ...]:
    """Return the score and its parts at up to `points` instants, each over the verdicts that led up to it.

    outcomes: the latest verdict first. A point looks back over an eighth of all verdicts, at least 20. No point stands
    before there are so many; with fewer in all, a single point covers them. The last point is the latest verdict.
    """
    decided = [o for o in reversed(outcomes) if o.actual is not None]
    back = max(_COURSE_LEAST, len(decided) // 8)
    ends = range(min(back, len(decided)), len(decided) + 1)
    step = max(1, -(-len(ends) // points))
    curve = []
    for end in sorted(range(len(decided), ends.start - 1, -step)):
        window = decided[max(0, end - back) : end]
        _, parts = _decompose_score([(o.predicted, o.actual) for o in window if o.actual is not None], bins)
        if parts is not None:
            curve.append(CoursePoint(window[-1].at, len(window), *parts))
    return tuple(curve)


def bin_of(predicted: float, bins: int) -> int:
    """Return the bin that a forecast falls into, from 0."""
    return min(bins - 1, int(predicted * bins))


_Parts = tuple[float, float, float, float, float]
"""(Brier score, reliability, resolution, uncertainty, within-bin term)."""


def _decompose_score(
    pairs: Sequence[tuple[float, float]], bins: int
) -> tuple[tuple[ReliabilityBin, ...], _Parts | None]:
    """Return the table of (forecast, outcome) pairs and the score's parts; None for no pairs."""
    members: list[list[tuple[float, float]]] = [[] for _ in range(bins)]
    for predicted, actual in pairs:
        members[bin_of(predicted, bins)].append((predicted, actual))
    table = tuple(_bin(i, bins, inside) for i, inside in enumerate(members))
    n = len(pairs)
    if n == 0:
        return table, None
    base = math.fsum(a for _, a in pairs) / n
    rel = math.fsum(b.count * (b.mean_predicted - b.rate) ** 2 for b in table) / n
    res = math.fsum(b.count * (b.rate - base) ** 2 for b in table) / n
    # For outcomes of 0 and 1 this is base · (1 - base); for verdicts in between it is their variance.
    unc = math.fsum((a - base) ** 2 for _, a in pairs) / n
    total = math.fsum(brier_score(p, a) for p, a in pairs) / n
    return table, (total, rel, res, unc, _within(members, table, n))


def _within(members: Sequence[Sequence[tuple[float, float]]], table: Sequence[ReliabilityBin], n: int) -> float:
    terms = []
    for inside, row in zip(members, table, strict=True):
        for predicted, actual in inside:
            off = predicted - row.mean_predicted
            terms.append(off * off - 2 * off * (actual - row.rate))
    return math.fsum(terms) / n


def _bin(index: int, bins: int, inside: Sequence[tuple[float, float]]) -> ReliabilityBin:
    low, high = index / bins, (index + 1) / bins
    if not inside:
        return ReliabilityBin(low, high, 0, (low + high) / 2, 0.0, 0.0, 1.0)
    hits = math.fsum(a for _, a in inside)
    rate = hits / len(inside)
    return ReliabilityBin(
        low, high, len(inside), math.fsum(p for p, _ in inside) / len(inside), rate, *wilson_interval(hits, len(inside))
    )
