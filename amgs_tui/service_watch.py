"""Follow the events of a served memory and show them.

Changes by others refresh the panes; requests are shown in the status line if it is free. Focus, cursor and selection
stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from amgs_app.attached.event_listener import EventListener, Reach
from amgs_app.terminal.output import printable_line
from amgs_tui.messages import Overheard

if TYPE_CHECKING:
    from textual.app import App

    from amgs_app.attached.remote_engine import RemoteEngine
    from amgs_app.results.service_event import ServiceEvent
    from amgs_tui.dispatcher import Dispatcher
    from amgs_tui.notices import Notices
    from amgs_tui.pages import Pages

TOGETHER_SECONDS: Final = 0.1
"""Changes within this time are shown by a single refresh."""


@dataclass(eq=False)
class ServiceWatch:
    """Follows the events of a served memory; does nothing for others."""

    app: App[Any]
    dispatcher: Dispatcher
    notices: Notices
    pages: Pages
    _listener: EventListener | None = field(default=None, init=False)
    _own: str | None = field(default=None, init=False)
    _lost: bool = field(default=False, init=False)
    _looks: bool = field(default=False, init=False)
    hears: bool = False
    """Whether events of a served memory arrive."""

    def follow(self, engine: RemoteEngine) -> None:
        """Start listening to a memory served elsewhere.

        The listener's thread passes events to the screen as Overheard, without those of its own client.
        """
        self._own = engine.connection.client
        self._listener = EventListener(engine.events, lambda what: self.app.post_message(Overheard(what)))
        self._listener.start()

    def close(self) -> None:
        """Stop listening."""
        if self._listener is not None:
            self._listener.close()

    def join(self, timeout: float = 30.0) -> None:
        """Wait until the listening thread has ended, at most `timeout` seconds."""
        if self._listener is not None:
            self._listener.join(timeout)

    def hear(self, event: ServiceEvent | Reach) -> None:
        """Show an event: list it on an open page of events; where another client caused it, say so in the status line,
        and look again unless that client only asked. "dropped": events were lost, so look again. A Reach says that the
        service was lost or found again.
        """
        if isinstance(event, Reach):
            self._show_reach(event)
            return
        if event.kind != "dropped":
            self.pages.add(event)
        if event.client == self._own:
            return
        if event.kind != "asked":
            self._look_soon()
        if event.kind != "dropped":
            self.notices.overhear(f"{printable_line(event.caller)}: {printable_line(event.line)} · {event.got}")

    def _show_reach(self, reach: Reach) -> None:
        self.hears = reach.state == "heard"
        if reach.state == "lost":
            if not self._lost:
                self.notices.say(f"The service is lost: {reach.words} Trying again …", "bad")
            self._lost = True
        elif self._lost:
            self._lost = False
            self.notices.say("The service is back", "good")
            self.dispatcher.look()

    def _look_soon(self) -> None:
        """Refresh the panes soon, once for several changes."""
        if not self._looks:
            self._looks = True
            self.app.set_timer(TOGETHER_SECONDS, self._look)

    def _look(self) -> None:
        self._looks = False
        self.dispatcher.look()
