"""Live events of a namespace: changes under the store's change counter, and questions with their callers.

A change can be asked for again by its number (`Last-Event-ID`); a question that changed nothing is only told to those
who listen.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from amgs_app.results.service_event import ServiceEvent

KEPT: Final = 4096
"""Changes that can be asked for again."""
RECENT: Final = 500
"""Questions and changes that can be looked at afterwards."""
WAITING: Final = 512
"""Events that wait for one listener; one that is slower is dropped, and told why."""


@dataclass(eq=False)
class _Listener:
    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[ServiceEvent]
    slow: bool = field(default=False)


class EventHub:
    """Hands events to all who listen. `publish` may be called in any thread. now: the time of the events."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: deque[ServiceEvent] = deque(maxlen=KEPT)
        self._recent: deque[ServiceEvent] = deque(maxlen=RECENT)
        self._listeners: set[_Listener] = set()
        self._forgotten = 0
        self._followed = False
        self.told: Callable[[ServiceEvent], object] = lambda _event: None
        """Is called with every event, in the thread that publishes it."""

    def follow(self, earlier: Sequence[ServiceEvent], forgotten: int) -> None:
        """From now on the changes come from the store itself, by `tell`, whichever program makes them.

        earlier: those before. forgotten: the value of the change counter up to which none can be told.
        """
        with self._lock:
            self._followed, self._forgotten = True, forgotten
            self._kept.clear()
            self._kept.extend(earlier)

    def tell(self, event: ServiceEvent, *, own: bool) -> None:
        """Tell a change of the store. own: one that this server has published, or will, with what came of it."""
        with self._lock:
            if not own:
                self._recent.append(event)
            listeners = self._note_event(event)
        for listener in listeners:
            listener.loop.call_soon_threadsafe(_offer, listener, event)

    @property
    def listeners(self) -> int:
        """Number of current listeners."""
        return len(self._listeners)

    def recent(self) -> tuple[ServiceEvent, ...]:
        """Return the latest questions and changes, the newest first."""
        with self._lock:
            return tuple(reversed(self._recent))

    def publish(self, event: ServiceEvent) -> None:
        """Tell everybody; never waits."""
        with self._lock:
            self._recent.append(event)
            known = self._followed and event.kind == "changed"
            listeners = () if known else self._note_event(event)
        self.told(event)
        for listener in listeners:
            listener.loop.call_soon_threadsafe(_offer, listener, event)

    def _note_event(self, event: ServiceEvent) -> tuple[_Listener, ...]:
        """Keep a change; gives who is to be told."""
        if event.kind == "changed":
            if len(self._kept) == KEPT:
                self._forgotten = self._kept[0].change
            self._kept.append(event)
        return tuple(self._listeners)

    async def listen(self, after: int | None = None, now: int = 0) -> AsyncIterator[ServiceEvent]:
        """Yield events from now on; with `after`, first the changes since that value of the change counter.

        now: the change counter of the store. Ends with an event of the kind dropped.
        """
        listener = _Listener(asyncio.get_running_loop(), asyncio.Queue(WAITING))
        with self._lock:
            missed = [event for event in self._kept if after is not None and event.change > after]
            known = self._forgotten <= after <= now if after is not None else True
            # Changes of an earlier run of the server are not kept: who was away for them looks anew.
            first = missed[0].change if missed else now
            self._listeners.add(listener)
        try:
            late = first > after and not missed and not self._followed if after is not None else False
            if after is not None and (not known or late):
                yield ServiceEvent("dropped", now, self._now())
                return
            for event in missed:
                yield event
            while not listener.slow or not listener.queue.empty():
                yield await listener.queue.get()
            yield ServiceEvent("dropped", now, self._now(), got="too slow")
        finally:
            with self._lock:
                self._listeners.discard(listener)


def _offer(listener: _Listener, event: ServiceEvent) -> None:
    if listener.slow:
        return
    if listener.queue.full():
        listener.slow = True
        return
    listener.queue.put_nowait(event)
