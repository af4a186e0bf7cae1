"""Decay of relevance, and its forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types.block import Block


@dataclass(frozen=True, slots=True)
class DecayCurve:
    """Relevance of a block over time, and when it was reinforced.

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
    """A block that will drop below the threshold, when, and its relevance now and then.

    uses: reinforcements. useful: verdicts that it was useful. links: edges to it.
    """

    block: Block
    relevance_now: float
    relevance_then: float
    falls_at: datetime
    uses: int = 0
    useful: int = 0
    links: int = 0


@dataclass(frozen=True, slots=True)
class CategoryOutlook:
    """A category now and then: number of its blocks at or above the threshold, and their mean relevance."""

    category: str
    blocks: int
    alive_now: int
    alive_then: int
    mean_now: float
    mean_then: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """The memory at as_of + days if nothing is used until then.

    rows: blocks that drop below `threshold`, maybe only the first of `falling`: used ones first, then the others,
    soonest first in each group. already_below: number below it now. categories: largest first.
    """

    as_of: datetime
    days: float
    threshold: float
    rows: tuple[ForecastRow, ...]
    already_below: int
    histogram_now: tuple[int, ...]
    histogram_then: tuple[int, ...]
    falling: int = 0
    categories: tuple[CategoryOutlook, ...] = ()


@dataclass(frozen=True, slots=True)
class CategoryCurve:
    """Mean relevance of a category's blocks over time.

    hours: (n,) relative to now, from its first block on. relevance: (n,) in [0, 1].
    """

    category: str
    blocks: int
    hours: tuple[float, ...]
    relevance: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CategoryCurves:
    """Past and future decay of the categories, largest first."""

    as_of: datetime
    days: float
    threshold: float
    curves: tuple[CategoryCurve, ...]
