"""Provide time as an input: every stage gets a Clock, and nothing below the command line asks the machine, so that
`--now` makes a run repeatable.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
"""Where the calendar ends."""

UNPLACED = timezone(timedelta(0), "Z")
"""UTC of an instant that a machine wrote (seconds since 1970, a `Z`, a file's time). It does not say where its writer
was, so the time zone of whoever ingests it is used.
"""


class Clock(Protocol):
    """Returns the current instant (aware, UTC), and monotonic seconds for durations. zone: time zone of the user."""

    @property
    def zone(self) -> tzinfo: ...

    def now(self) -> datetime: ...

    def perf(self) -> float: ...


class MachineZone(tzinfo):
    """The zone of this machine, with its summer time."""

    def utcoffset(self, at: datetime | None) -> timedelta:
        try:
            there = datetime.now(UTC) if at is None else at.replace(tzinfo=None)
            return there.astimezone().utcoffset() or timedelta(0)
        except (OverflowError, OSError, ValueError):  # a year that the machine knows no zone of
            return timedelta(0)

    def dst(self, at: datetime | None) -> None:
        del at

    def tzname(self, at: datetime | None) -> str:
        return f"{self.utcoffset(at)}"

    def fromutc(self, at: datetime) -> datetime:
        try:
            there = at.replace(tzinfo=UTC).astimezone()
        except (OverflowError, OSError, ValueError):
            return at
        here = there.replace(tzinfo=self)
        # In the hour that a clock shows twice, fold=1 is the second time.
        return here if here.utcoffset() == there.utcoffset() else here.replace(fold=1)


class SystemClock:
    """The machine's clock, in the machine's zone."""

    zone: tzinfo = MachineZone()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def perf(self) -> float:
        return time.perf_counter()


class FixedClock:
    """A clock that stands still until it is moved: runs with `--now` repeat byte for byte, durations read 0. Its zone
    is the offset that the instant is written with.
    """

    def __init__(self, instant: datetime) -> None:
        self._instant = as_utc(instant)
        self.zone: tzinfo = timezone(instant.utcoffset() or timedelta(0))

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
        self.zone = self._base.zone

    def now(self) -> datetime:
        return self._start + (self._base.now() - self._zero)

    def perf(self) -> float:
        return self._base.perf()


class ZonedClock:
    """Another clock in the zone of the setting `time_zone`, unless that clock was set with an offset of its own."""

    def __init__(self, base: Clock, name: str) -> None:
        self._base, self._zone = base, ZoneInfo(name)
        self.now, self.perf = base.now, base.perf

    @property
    def zone(self) -> tzinfo:
        own = self._base.zone
        return own if isinstance(own, timezone) and own.utcoffset(None) else self._zone


def place(instant: datetime, zone: tzinfo | None) -> datetime:
    """Return the instant in its own offset, or in this zone if it is UNPLACED; unchanged at the end of the calendar."""
    try:
        return instant.astimezone(zone or UTC) if instant.tzname() == "Z" else aware(instant)
    except OverflowError:
        return instant


def local_now(clock: Clock) -> datetime:
    """Return the current instant in the user's time zone."""
    return clock.now().astimezone(clock.zone)


def aware(instant: datetime) -> datetime:
    """Return the instant with its offset; a naive instant is taken to be UTC. Raises OverflowError where it has none in
    UTC.
    """
    utc = as_utc(instant)
    return utc if instant.tzinfo is None else instant


def as_utc(instant: datetime) -> datetime:
    """Return an aware UTC instant; a naive instant is taken to be UTC."""
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def earlier(instant: datetime, by: timedelta) -> datetime:
    """Return the instant earlier by a duration, later for a negative duration, clamped to the calendar's ends."""
    try:
        return instant - by
    except OverflowError:
        return FIRST if by > timedelta() else LAST


def hours_before(instant: datetime, hours: float) -> datetime:
    """Return the instant so many hours earlier, clamped to the calendar's ends."""
    try:
        span = timedelta(hours=hours)
    except OverflowError:
        span = timedelta.max if hours > 0 else timedelta.min
    return earlier(instant, span)


def changed_at(seconds: float) -> datetime:
    """Return the instant of a file's time in seconds since 1970, clamped to the calendar's ends."""
    return earlier(EPOCH, timedelta(seconds=-max(min(seconds, 1e12), -1e12))).replace(tzinfo=UNPLACED)


def microseconds_of(instant: datetime) -> int:
    """Return the microseconds from 1970 to an aware instant, the form of time in arrays."""
    return (instant - EPOCH) // timedelta(microseconds=1)


def parse_instant(text: str) -> datetime:
    """Read an ISO 8601 instant (`2026-03-01T09:00:00Z`, `2026-03-01`), with its offset.

    Raises ValueError when it is none, or lies beyond the calendar in UTC.
    """
    try:
        return aware(datetime.fromisoformat(text.strip()))
    except OverflowError as error:
        raise ValueError(f"{text.strip()} lies beyond the calendar in UTC") from error
