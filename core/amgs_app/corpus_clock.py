"""The clock of an engine: the machine's, or that of the year in which a corpus lives."""

from __future__ import annotations

from datetime import datetime

from amgs.clock import Clock, ShiftedClock, SystemClock


class CorpusClock:
    """The machine's clock until a corpus that lives in its own year comes into play.

    From then on that year's.
    """

    def __init__(self, base: Clock | None = None) -> None:
        self._base = base or SystemClock()
        self._clock: Clock = self._base

    def start_at(self, instant: datetime) -> None:
        """Stand at the instant now, and run on at the machine's pace."""
        self._clock = ShiftedClock(instant, base=self._base)

    @property
    def shifted(self) -> bool:
        return self._clock is not self._base

    def now(self) -> datetime:
        return self._clock.now()

    def perf(self) -> float:
        return self._base.perf()
