"""Forecasts and what came of them (AMGS §7.3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """A forecast and what came of it; brier = (predicted - actual)². actual is None until the verdict."""

    prediction_id: str
    predicted: float
    actual: float | None
    brier: float | None
    at: datetime
    block_id: str = ""
    frame: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Forecasts in [low, high): how many, their mean, the rate at which they came true with a 95 % interval."""

    low: float
    high: float
    count: int
    mean_predicted: float
    rate: float
    rate_low: float
    rate_high: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """The reliability table and the Brier score with its Murphy decomposition.

    brier = reliability - resolution + uncertainty + within_bin, exactly; None where there are no outcomes.
    """

    bins: tuple[ReliabilityBin, ...]
    forecasts: int
    outcomes: int
    brier: float | None
    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    within_bin: float | None
    history: tuple[tuple[datetime, float], ...] = ()
