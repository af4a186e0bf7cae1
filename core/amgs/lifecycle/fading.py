"""How relevance runs down: the curve of one block, and what falls under the threshold (AMGS §7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from amgs.decay import falls_below, hours_between, relevance, relevance_at
from amgs.errors import UsageError
from amgs.model import Block, BlockFilter, DecayCurve, Forecast, ForecastRow, ReinforcementEvent
from amgs.store import block_columns
from amgs.store import blocks as stored_blocks
from amgs.store.connection import Store

_POINTS = 160
_BINS = 10
_HOUR = 3.6e9  # microseconds
_LONGEST_DAYS = 36_500.0


def decay_curve(
    block: Block, events: Sequence[ReinforcementEvent], now: datetime, *, days: float, threshold: float
) -> DecayCurve:
    """Relevance from the block's creation to `days` after now; each reinforcement lifts it back to 1."""
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


def forecast(store: Store, wanted: BlockFilter, now: datetime, *, days: float, threshold: float) -> Forecast:
    """The blocks that fall under the threshold within `days`, soonest first."""
    _check_days(days)
    if not 0 < threshold < 1:
        raise UsageError(f"A threshold lies between 0 and 1, got {threshold:g}.", way_out="0.05 is usual.")
    facts = block_columns.facts(store, wanted)
    now_us = int(now.timestamp() * 1e6)
    hours = np.maximum(now_us - facts.reinforced, 0) / _HOUR
    before = np.exp(-facts.decay_lambda * hours)
    after = np.exp(-facts.decay_lambda * np.maximum(now_us + days * 24 * _HOUR - facts.reinforced, 0) / _HOUR)
    falling = np.flatnonzero((before >= threshold) & (after < threshold))
    rows = []
    for one in stored_blocks.by_number(store, facts.numbers[falling].tolist()):
        block = one.block
        at = falls_below(block.decay_lambda, block.last_reinforced_at, threshold)
        if at is not None:
            current = relevance_at(block.decay_lambda, block.last_reinforced_at, now)
            then = relevance_at(block.decay_lambda, block.last_reinforced_at, now + timedelta(days=days))
            rows.append(ForecastRow(block, current, then, at))
    rows.sort(key=lambda row: (row.falls_at, row.block.id))
    return Forecast(
        as_of=now,
        days=days,
        threshold=threshold,
        rows=tuple(rows),
        already_below=int((before < threshold).sum()),
        histogram_now=_histogram(before),
        histogram_then=_histogram(after),
    )


def _histogram(values: NDArray[np.float64]) -> tuple[int, ...]:
    """Counts in ten equal bins of [0, 1]."""
    counts, _ = np.histogram(values, bins=_BINS, range=(0.0, 1.0))
    return tuple(int(c) for c in counts)


def _check_days(days: float) -> None:
    if not 0 <= days <= _LONGEST_DAYS:
        raise UsageError(
            f"A forecast looks 0 to {_LONGEST_DAYS:g} days ahead, got {days:g}.", way_out="30 days are usual."
        )
