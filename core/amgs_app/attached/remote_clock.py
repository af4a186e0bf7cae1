"""The time of a served memory, as it was told last."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from amgs.clock import Clock, FixedClock, ShiftedClock, SystemClock


class RemoteClock:
    """Stands, or runs on at this machine's pace from what was told; asks nobody once it was told.

    ask: has `tell` called; before the first time is told, `now` calls it.
    """

    def __init__(self, ask: Callable[[], object]) -> None:
        self._ask = ask
        self._clock: Clock | None = None
        self._base = SystemClock()

    def tell(self, now: datetime, *, fixed: bool) -> None:
        """The time there; fixed: it stands still."""
        self._clock = FixedClock(now) if fixed else ShiftedClock(now, base=self._base)

    def now(self) -> datetime:
        if self._clock is None:
            self._ask()
        return self._base.now() if self._clock is None else self._clock.now()

    def perf(self) -> float:
        return self._base.perf() if self._clock is None else self._clock.perf()
