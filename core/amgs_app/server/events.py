"""Live events of a namespace: changes, numbered by the store's change counter, and requests with their callers.

A client that reconnects can ask for missed changes by number (`Last-Event-ID`). Requests that changed nothing go only
to current listeners.
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
"""Changes that can be replayed to a client that reconnects."""
RECENT: Final = 500
"""Latest requests and changes that `traffic` lists."""
WAITING: Final = 512
"""Events that may queue for one listener; a slower listener is disconnected with the event `dropped`."""


@dataclass(eq=False)
class _Listener:
    """A connected client. loop: its event loop. slow: its queue overflowed, so it will be disconnected."""

    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[ServiceEvent]
    slow: bool = field(default=False)


class EventHub:
    """Delivers events to all listeners. `publish` may be called from any thread. now: the time of the events."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: deque[ServiceEvent] = deque(maxlen=KEPT)
        self._recent: deque[ServiceEvent] = deque(maxlen=RECENT)
        self._listeners: set[_Listener] = set()
        self._forgotten = 0
        self._followed = False
        self.on_event: Callable[[ServiceEvent], object] = lambda _event: None
        """Is called with every event, in the thread that publishes it."""

    def follow(self, earlier: Sequence[ServiceEvent], forgotten: int) -> None:
        """From now on take changes from the store, by `tell`, so that changes by other programs are included.

        earlier: changes that can be replayed. forgotten: change number up to which none can be replayed.
        """
        with self._lock:
            self._followed, self._forgotten = True, forgotten
            self._kept.clear()
            self._kept.extend(earlier)

    def tell(self, event: ServiceEvent, *, own: bool) -> None:
        """Publish a change read from the store. own: this server made it, and publishes the request itself."""
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
        """Return the latest requests and changes, newest first."""
        with self._lock:
            return tuple(reversed(self._recent))

    def publish(self, event: ServiceEvent) -> None:
        """Deliver an event to all listeners; never blocks."""
        with self._lock:
            self._recent.append(event)
            known = self._followed and event.kind == "changed"
            listeners = () if known else self._note_event(event)
        self.on_event(event)
        for listener in listeners:
            listener.loop.call_soon_threadsafe(_offer, listener, event)

    def _note_event(self, event: ServiceEvent) -> tuple[_Listener, ...]:
        """Store a change for replay; return the current listeners."""
        if event.kind == "changed":
            if len(self._kept) == KEPT:
                self._forgotten = self._kept[0].change
            self._kept.append(event)
        return tuple(self._listeners)

    async def listen(self, after: int | None = None, now: int = 0) -> AsyncIterator[ServiceEvent]:
        """Yield events from now on; with `after`, first the changes since that change number.

        now: the store's change counter. Ends with an event of kind `dropped` if the listener is too slow or asks for
        changes that are no longer stored.
        """
        listener = _Listener(asyncio.get_running_loop(), asyncio.Queue(WAITING))
        with self._lock:
            missed = [event for event in self._kept if after is not None and event.change > after]
            known = self._forgotten <= after <= now if after is not None else True
            # Changes of an earlier run of the server are lost: a client that missed them must reload.
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
    """Put an event into a listener's queue; mark the listener slow if the queue is full."""
    if listener.slow:
        return
    if listener.queue.full():
        listener.slow = True
        return
    listener.queue.put_nowait(event)
