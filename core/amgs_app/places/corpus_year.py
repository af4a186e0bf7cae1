"""How far a corpus that lives in its own year has come: the store keeps it, and the next session goes on there."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from amgs.clock import Clock, parse_instant
from amgs.errors import AmgsError
from amgs_app.places.corpus import CorpusClock

if TYPE_CHECKING:
    from amgs.memory import Memory

_CLOCK = "clock"
"""The name under which a store keeps the instant that its corpus's year has reached."""
_WORTH_KEEPING = timedelta(minutes=1)


class CorpusYear:
    """Moves a clock into a corpus's year; any clock but a `CorpusClock` stays where it is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_event: datetime | None = None

    @property
    def is_entered(self) -> bool:
        """Whether the clock shows the year of a corpus instead of the real one."""
        return isinstance(self._clock, CorpusClock) and self._clock.shifted

    def enter(self, begin: datetime | None, memory: Memory | None) -> None:
        """Move to a year that begins at an instant, or to where the memory has come in it; once. begin: None where the
        corpus lives in the real year.
        """
        if isinstance(self._clock, CorpusClock) and not self._clock.shifted and begin is not None:
            self._last_event = latest = None if memory is None else _latest_event(memory)
            self._clock.start_at(begin if latest is None else max(begin, latest))

    def keep(self, memory: Memory) -> None:
        """Have the store remember how far the year has come."""
        if not self.is_entered:
            return
        now = self._clock.now()
        if self._last_event is not None and now - self._last_event < _WORTH_KEEPING:
            return  # what was done since is younger still
        latest = _latest_event(memory)
        if latest is None or now - latest >= _WORTH_KEEPING:
            with suppress(AmgsError):  # a full disk must not keep anyone from leaving
                memory.keep(_CLOCK, now.isoformat())


def _latest_event(memory: Memory) -> datetime | None:
    """The last instant at which something was done: time must not run backwards between two sessions.

    Not the dates of blocks: a file that is taken in may be younger than the corpus's year.
    """
    known = [done] if (done := memory.last_event()) is not None else []
    known += [parse_instant(kept) for name, kept in memory.kept(_CLOCK).items() if name == _CLOCK]
    return max(known, default=None)
