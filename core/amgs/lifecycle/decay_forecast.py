"""Compute relevance over time: curves of a block and of categories, and a forecast of the memory (AMGS §7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from amgs.decay import check_lambda, falls_below, hours_between, relevance
from amgs.errors import UsageError
from amgs.storage.block_columns import FadingColumns
from amgs.storage.store import Storage
from amgs.types import (
    Block,
    BlockFilter,
    CategoryCurve,
    CategoryCurves,
    CategoryOutlook,
    DecayCurve,
    Forecast,
    ForecastRow,
    ReinforcementEvent,
)

_POINTS = 160
_GRID = 49
"""Instants on each side of now at which categories are averaged."""

_BINS = 10
_HOUR = 3.6e9  # microseconds
_LONGEST_DAYS = 36_500.0


def decay_curve(
    block: Block, events: Sequence[ReinforcementEvent], now: datetime, *, days: float, threshold: float
) -> DecayCurve:
    """Return a block's relevance from its creation to `days` after now; each reinforcement raises it to 1."""
    _check_days(days)
    resets = sorted({e.at for e in events if e.at >= block.created_at} | {block.last_reinforced_at})
    starts = [block.created_at, *(r for r in resets if r > block.created_at)]
    first, last = hours_between(now, block.created_at), 24.0 * days
    grid = set(np.linspace(min(first, 0.0), last, _POINTS).tolist()) | {0.0}
    points: list[tuple[float, float]] = []
    for i, start in enumerate(starts):
        begin = hours_between(now, start)
        end = hours_between(now, starts[i + 1]) if i + 1 < len(starts) else last
        inside = [begin, *sorted(h for h in grid if begin < h < end), max(begin, end)]
        points += [(h, relevance(block.decay_lambda, h - begin)) for h in inside]
    return DecayCurve(
        block=block,
        hours=tuple(round(h, 6) for h, _ in points),
        relevance=tuple(r for _, r in points),
        reinforced_hours=tuple(hours_between(now, start) for start in starts[1:]),
        falls_below_at=falls_below(block.decay_lambda, block.last_reinforced_at, threshold),
        threshold=threshold,
    )


def forecast(
    storage: Storage, wanted: BlockFilter, now: datetime, *, days: float, threshold: float, limit: int | None = None
) -> Forecast:
    """Return how many blocks of each category stay above the threshold for `days`, and the first `limit` blocks that
    fall below it: blocks that were used come first, and the soonest first.
    """
    _check_days(days)
    if not 0 < threshold < 1:
        raise UsageError(f"A threshold must be between 0 and 1, got {threshold:g}.", way_out="0.05 is usual.")
    known = storage.block_columns.fading(wanted)
    now_us = int(now.timestamp() * 1e6)
    idle_hours = np.maximum(now_us - known.reinforced, 0) / _HOUR
    then = np.maximum(now_us + days * 24 * _HOUR - known.reinforced, 0) / _HOUR
    rate = known.decay_lambda
    before, after = np.exp(-rate * idle_hours), np.exp(-rate * then)
    falling = np.flatnonzero((before >= threshold) & (after < threshold))
    crossing = known.reinforced[falling] / _HOUR - np.log(threshold) / rate[falling]
    first = falling[np.lexsort((known.numbers[falling], crossing, known.uses[falling] == 0))][:limit]
    place_of = dict(zip(known.numbers[first].tolist(), first.tolist(), strict=True))
    pairs = [
        (numbered_block.block, place_of[numbered_block.number])
        for numbered_block in storage.blocks.by_number(list(place_of))
    ]
    ids = [block.id for block, _ in pairs]
    judged, links = storage.forecasts.count_verdicts(ids), storage.edges.leading_to(ids)
    rows = []
    for block, place in pairs:
        at = falls_below(float(rate[place]), block.last_reinforced_at, threshold)
        if at is not None:
            counts = int(known.uses[place]), judged.get(block.id, (0, 0))[0], links.get(block.id, 0)
            rows.append(ForecastRow(block, float(before[place]), float(after[place]), at, *counts))
    rows.sort(key=lambda row: (not row.uses, row.falls_at, row.block.id))
    return Forecast(
        as_of=now,
        days=days,
        threshold=threshold,
        rows=tuple(rows),
        already_below=int((before < threshold).sum()),
        histogram_now=_histogram(before),
        histogram_then=_histogram(after),
        falling=int(falling.size),
        categories=_by_category(known, before, after, threshold),
    )


def category_curves(
    storage: Storage, wanted: BlockFilter, now: datetime, *, days: float, threshold: float
) -> CategoryCurves:
    """Return mean relevance of each category from `days` ago to `days` ahead.

    Back then a block counts from its creation, with the clock that its reinforcements had set; category and λ are
    today's.
    """
    _check_days(days)
    known = storage.block_columns.fading(wanted)
    now_us = int(now.timestamp() * 1e6)
    reach = days * 24 * _HOUR
    first = max(now_us - reach, float(known.created.min())) if known.created.size else float(now_us)
    grid = np.unique([*np.linspace(first, now_us, _GRID), *np.linspace(now_us, now_us + reach, _GRID)])
    numbers, at = storage.reinforcements.instants()
    rows = np.searchsorted(known.numbers, numbers)
    there = rows < known.numbers.size
    there[there] = known.numbers[rows[there]] == numbers[there]
    rows, at = rows[there], at[there]
    kinds = len(known.names)
    clock = known.created.copy()
    means = np.full((grid.size, kinds), np.nan)
    seen = 0
    for place, instant in enumerate(grid):
        upto = int(np.searchsorted(at, instant, side="right"))
        np.maximum.at(clock, rows[seen:upto], at[seen:upto])
        seen = upto
        # A block whose last reinforcement is not in the log counts from that instant.
        reset = np.where(known.reinforced <= instant, np.maximum(clock, known.reinforced), clock)
        born = known.created <= instant
        faded = np.exp(-known.decay_lambda[born] * (instant - reset[born]) / _HOUR)
        sums = np.bincount(known.category[born], faded, kinds)
        counts = np.bincount(known.category[born], minlength=kinds)
        means[place] = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    hours = (grid - now_us) / _HOUR
    sizes = np.bincount(known.category, minlength=kinds)
    curves = []
    for kind in sorted(range(kinds), key=lambda k: (-sizes[k], known.names[k])):
        drawn = ~np.isnan(means[:, kind])
        curves.append(
            CategoryCurve(
                known.names[kind],
                int(sizes[kind]),
                tuple(np.round(hours[drawn], 6).tolist()),
                tuple(means[drawn, kind].tolist()),
            )
        )
    return CategoryCurves(now, days, threshold, tuple(curves))


def _by_category(
    known: FadingColumns, before: NDArray[np.float64], after: NDArray[np.float64], threshold: float
) -> tuple[CategoryOutlook, ...]:
    """Return for each category how many blocks are above the threshold before and after, and their means."""
    kinds = len(known.names)
    sizes = np.bincount(known.category, minlength=kinds)
    alive = [np.bincount(known.category, values >= threshold, kinds) for values in (before, after)]
    sums = [np.bincount(known.category, values, kinds) for values in (before, after)]
    return tuple(
        CategoryOutlook(
            known.names[k],
            int(sizes[k]),
            int(alive[0][k]),
            int(alive[1][k]),
            float(sums[0][k] / sizes[k]),
            float(sums[1][k] / sizes[k]),
        )
        for k in sorted(np.flatnonzero(sizes).tolist(), key=lambda k: (-sizes[k], known.names[k]))
    )


def _histogram(values: NDArray[np.float64]) -> tuple[int, ...]:
    """Return counts in ten equal bins of [0, 1]."""
    counts, _ = np.histogram(values, bins=_BINS, range=(0.0, 1.0))
    return tuple(int(c) for c in counts)


def _check_days(days: float) -> None:
    if not 0 <= days <= _LONGEST_DAYS:
        raise UsageError(
            f"A forecast can look 0 to {_LONGEST_DAYS:g} days ahead, got {days:g}.", way_out="30 days are usual."
        )


# --- what another decay constant would do -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DecayPreview:
    """The curve of a block as it is and as it would be; both have the same history behind them."""

    now: DecayCurve
    then: DecayCurve
    decay_lambda: float
    relevance_now: float
    relevance_then: float


def preview(
    block: Block,
    events: Sequence[ReinforcementEvent],
    decay_lambda: float,
    now: datetime,
    *,
    days: float,
    threshold: float,
) -> DecayPreview:
    """Return what λ = `decay_lambda` (0 pins) would do to the block over `days`; raises UsageError for a senseless
    λ.
    """
    other = replace(block, decay_lambda=check_lambda(decay_lambda))
    before = decay_curve(block, events, now, days=days, threshold=threshold)
    after = decay_curve(other, events, now, days=days, threshold=threshold)
    return DecayPreview(before, after, decay_lambda, before.relevance[-1], after.relevance[-1])
