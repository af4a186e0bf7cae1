"""Time as an input: every stage is handed a Clock, nothing below the command line asks the machine."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
"""Where the calendar ends."""


class Clock(Protocol):
    """Tells the instant (aware, UTC) and a monotonic reading in seconds for durations."""

    def now(self) -> datetime: ...

    def perf(self) -> float: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def perf(self) -> float:
        return time.perf_counter()


class FixedClock:
    """A clock that stands still until it is moved: runs with `--now` repeat byte for byte, durations read 0."""

    def __init__(self, instant: datetime) -> None:
        self._instant = as_utc(instant)

    def now(self) -> datetime:
        return self._instant

    def perf(self) -> float:
        return 0.0

    def advance(self, by: timedelta) -> None:
        """Move the instant; a negative step is allowed, decay treats it as no time passed."""
        self._instant += by


class ShiftedClock:
    """Starts at a chosen instant and then runs at the machine's pace: the sample corpus lives in its own year."""

    def __init__(self, start: datetime, *, base: Clock | None = None) -> None:
        self._base = base or SystemClock()
        self._start = as_utc(start)
        self._zero = self._base.now()

    def now(self) -> datetime:
        return self._start + (self._base.now() - self._zero)

    def perf(self) -> float:
        return self._base.perf()


def as_utc(instant: datetime) -> datetime:
    """An aware UTC instant; a naive one is taken to be UTC."""
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def earlier(instant: datetime, by: timedelta) -> datetime:
    """So much before an instant, or after it for less than nothing; where the calendar ends, its end."""
    try:
        return instant - by
    except OverflowError:
        return FIRST if by > timedelta() else LAST


def changed_at(seconds: float) -> datetime:
    """The instant of a file's time; where the calendar ends, its end."""
    return earlier(EPOCH, timedelta(seconds=-max(min(seconds, 1e12), -1e12)))


def microseconds_of(instant: datetime) -> int:
    """Microseconds from the beginning of 1970 to an aware instant: how columns hold time."""
    return (instant - EPOCH) // timedelta(microseconds=1)


def parse_instant(text: str) -> datetime:
    """Read an ISO 8601 instant (`2026-03-01T09:00:00Z`, `2026-03-01`).

    Raises ValueError when it is none, or lies beyond the calendar in UTC.
    """
    try:
        return as_utc(datetime.fromisoformat(text.strip()))
    except OverflowError as error:
        raise ValueError(f"{text.strip()} lies beyond the calendar in UTC") from error
