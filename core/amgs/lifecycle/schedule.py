"""Decide when consolidation is due, by the time since the last one and by the size of the inbox (AMGS §8.2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from amgs.clock import earlier
from amgs.settings import ConsolidationSettings


@dataclass(frozen=True, slots=True)
class Due:
    """Whether consolidation is due now, and why. waiting: number of raw blocks. last: when it last ran; None for never.

    next_at: when it becomes due by time; None when no block waits.
    """

    due: bool
    because: str
    waiting: int
    last: datetime | None
    next_at: datetime | None


def decide_due(
    waiting: int, oldest: datetime | None, last: datetime | None, now: datetime, settings: ConsolidationSettings
) -> Due:
    """Return whether consolidation of `waiting` raw blocks is due. oldest: the date of the oldest raw block, from which
    the interval runs before the first consolidation.
    """
    if waiting == 0:
        return Due(False, "the inbox is empty", 0, last, None)
    since = last if last is not None else oldest if oldest is not None else now
    # If the clock went back, the next consolidation must not be postponed for ever.
    since = min(since, now)
    next_at = earlier(since, -timedelta(minutes=settings.interval_minutes))
    if waiting >= settings.volume:
        return Due(True, f"{waiting} blocks wait, the limit is {settings.volume}", waiting, last, next_at)
    minutes = (now - since).total_seconds() / 60.0
    if now >= next_at:
        reason = f"{minutes:.0f} minutes have passed, the interval is {settings.interval_minutes:g}"
        return Due(True, reason, waiting, last, next_at)
    reason = f"{waiting} of {settings.volume} blocks, {minutes:.0f} of {settings.interval_minutes:g} minutes"
    return Due(False, reason, waiting, last, next_at)
