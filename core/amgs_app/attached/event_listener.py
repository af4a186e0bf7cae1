"""Listen to the events of a served memory in a thread, and reconnect when the connection breaks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from amgs.errors import AmgsError
from amgs_app.results.service_event import ServiceEvent

FIRST_WAIT_SECONDS: Final = 0.25
LONGEST_WAIT_SECONDS: Final = 4.0

Source = Callable[[str], Iterator[ServiceEvent | None]]
"""Yields events from now on, or after a change number; None first, once the stream is open."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Whether the service can be reached. words: why not."""

    state: Literal["heard", "lost"]
    words: str = ""


class EventListener:
    """Listens until closed; after a break it asks for missed events, as far as the server still has them.

    deliver: called in the listener's thread with each event, and when the service is lost or back.
    """

    def __init__(self, source: Source, deliver: Callable[[ServiceEvent | Reach], object]) -> None:
        self._source = source
        self._deliver = deliver
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="amgs-events", daemon=True)

    def start(self) -> None:
        """Start listening."""
        self._thread.start()

    def close(self) -> None:
        """Stop delivering; the thread ends with its connection or its wait."""
        self._closing.set()

    def join(self, timeout: float) -> None:
        """Wait for the thread to end, at most `timeout` seconds."""
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _listen(self) -> None:
        """Deliver events until closed, waiting longer after each failed connection."""
        after, wait = "", FIRST_WAIT_SECONDS
        while not self._closing.is_set():
            words = "The connection ended."
            try:
                for event in self._source(after):
                    if self._closing.is_set():
                        return
                    if event is None:
                        wait = FIRST_WAIT_SECONDS
                        self._deliver(Reach("heard"))
                        continue
                    after = {"changed": str(event.change), "dropped": ""}.get(event.kind, after)
                    self._deliver(event)
            except AmgsError as error:
                words = error.message
            except Exception:
                if not self._closing.is_set():  # a connection that is closed under the reader says so in many ways
                    raise
            if not self._closing.is_set():
                self._deliver(Reach("lost", words))
                self._closing.wait(wait)
                wait = min(wait * 2, LONGEST_WAIT_SECONDS)
