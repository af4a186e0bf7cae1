"""When consolidation is due, by the time since the last one and by what waits in the inbox (AMGS §8.2), and when the
memory should be looked through for what may be pruned, by the time since that was done last.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from amgs.settings import ConsolidationSettings, PruningSettings


@dataclass(frozen=True, slots=True)
class Due:
    """Whether to act now, and why (not).

    waiting: raw blocks; of a proposal, blocks that are looked through. next_at: the instant at which what waits becomes
    due by time; None when nothing waits.
    """

    due: bool
    because: str
    waiting: int
    last: datetime | None
    next_at: datetime | None


def due(
    waiting: int,
    oldest: datetime | None,
    last: datetime | None,
    now: datetime,
    settings: ConsolidationSettings,
) -> Due:
    """The verdict for `waiting` raw blocks; oldest: the instant that the clock runs from before any consolidation."""
    if waiting == 0:
        return Due(False, "the inbox is empty", 0, last, None)
    since = last if last is not None else oldest if oldest is not None else now
    # A clock that went back must not put the next consolidation off for ever.
    since = min(since, now)
    interval = timedelta(minutes=settings.interval_minutes)
    next_at = since + interval
    if waiting >= settings.volume:
        return Due(True, f"{waiting} blocks wait, the limit is {settings.volume}", waiting, last, next_at)
    minutes = (now - since).total_seconds() / 60.0
    if now >= next_at:
        told = f"{minutes:.0f} minutes have passed, the interval is {settings.interval_minutes:g}"
        return Due(True, told, waiting, last, next_at)
    told = f"{waiting} of {settings.volume} blocks, {minutes:.0f} of {settings.interval_minutes:g} minutes"
    return Due(False, told, waiting, last, next_at)


def proposal_due(blocks: int, last: datetime | None, now: datetime, settings: PruningSettings) -> Due:
    """Whether it is time to look for what may be pruned among `blocks` consolidated ones; last: when that was done."""
    if not settings.interval_hours:
        return Due(False, "switched off: memory.pruning.interval_hours is 0", blocks, last, None)
    if blocks == 0:
        return Due(False, "there are no consolidated blocks", 0, last, None)
    if last is None:
        return Due(True, "it was never done", blocks, None, now)
    since = min(last, now)  # a clock that went back must not put it off for ever
    next_at = since + timedelta(hours=settings.interval_hours)
    hours = (now - since).total_seconds() / 3600.0
    told = f"{hours:.0f} of {settings.interval_hours:g} hours have passed"
    return Due(now >= next_at, told, blocks, last, next_at)
