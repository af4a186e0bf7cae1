"""How relevance falls, and what will have faded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from amgs.model.block import Block


@dataclass(frozen=True, slots=True)
class DecayCurve:
    """Relevance of a block from its creation to `until`, with the instants at which it was reinforced.

    hours: (n,) relative to now, negative in the past. relevance: (n,) in [0, 1].
    """

    block: Block
    hours: tuple[float, ...]
    relevance: tuple[float, ...]
    reinforced_hours: tuple[float, ...]
    falls_below_at: datetime | None
    threshold: float


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """A block that will fall under the threshold, when, and its relevance now and then."""

    block: Block
    relevance_now: float
    relevance_then: float
    falls_at: datetime


@dataclass(frozen=True, slots=True)
class Forecast:
    """What falls under `threshold` between as_of and as_of + days, soonest first; already_below were under before."""

    as_of: datetime
    days: float
    threshold: float
    rows: tuple[ForecastRow, ...]
    already_below: int
    histogram_now: tuple[int, ...]
    histogram_then: tuple[int, ...]
