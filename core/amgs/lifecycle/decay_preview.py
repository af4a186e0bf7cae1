"""What another decay constant, or a pin, would do to a block, shown before it is set (AMGS §7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from amgs.decay import check_lambda
from amgs.lifecycle.decay_forecast import decay_curve
from amgs.types import Block, DecayCurve, ReinforcementEvent


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
    """What λ = `decay_lambda` (0 pins) would do to the block over `days`; raises UsageError for a senseless λ."""
    other = replace(block, decay_lambda=check_lambda(decay_lambda))
    before = decay_curve(block, events, now, days=days, threshold=threshold)
    after = decay_curve(other, events, now, days=days, threshold=threshold)
    return DecayPreview(before, after, decay_lambda, before.relevance[-1], after.relevance[-1])
