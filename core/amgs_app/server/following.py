"""Follows a memory that other programs change too, and tells those who listen here of every change, in order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final

from amgs.errors import AmgsError
from amgs_app.results.service_event import ServiceEvent
from amgs_app.server.events import KEPT, EventHub

if TYPE_CHECKING:
    from amgs.memory import Memory
    from amgs.types import StoreChange

LOOK_SECONDS: Final = 1.0
"""How often the change counter is looked at where no notice came."""
_AT_ONCE: Final = 500
SOMEBODY: Final = "another program"
"""Who made a change, where it was not said."""


class Follower:
    """A thread that waits for the store's notices. server: how this server signs its own changes."""

    def __init__(self, memory: Memory, events: EventHub, server: str, now: Callable[[], datetime]) -> None:
        self._memory = memory
        self._events = events
        self._server = server
        self._now = now
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="amgs-follow", daemon=True)
        self._at = memory.change_counter
        first = max(self._at - KEPT, 0)
        kept = memory.changes.since(first, KEPT)
        earlier = [self._event(each) for each in kept if each.revision <= self._at]
        events.follow(earlier, earlier[0].change - 1 if earlier else self._at)
        self._thread.start()

    def close(self) -> None:
        """Follow no longer; waits until the thread has looked for the last time."""
        self._ending.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._ending.is_set():
            try:
                self._memory.changes.wait(LOOK_SECONDS)
                self._look()
            except AmgsError:  # the database is away: what was missed is told when it is back
                self._ending.wait(LOOK_SECONDS)

    def _look(self) -> None:
        while found := self._memory.changes.since(self._at, _AT_ONCE):
            for each in found:
                self._events.tell(self._event(each), own=each.server == self._server)
            self._at = found[-1].revision

    def _event(self, change: StoreChange) -> ServiceEvent:
        return ServiceEvent(
            "changed",
            change.revision,
            self._now(),
            change.operation or "change",
            change.caller or (f"process {change.program}" if change.program else SOMEBODY),
            outcome="done",
            client=change.client,
        )
