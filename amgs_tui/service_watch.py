"""What happens in a served memory, brought to the screen while the operator looks at it.

A change by somebody else has the panes look again; a question is named in the status line, where nothing else is said.
Nothing takes the focus, the cursor or the selection away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from amgs_app.attached.event_listener import EventListener, Reach
from amgs_app.terminal.printable import printable_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from amgs_app.attached.event_listener import Source
    from amgs_app.results.service_event import ServiceEvent
    from amgs_tui.dispatcher import Dispatcher
    from amgs_tui.notices import Notices
    from amgs_tui.pages import Pages

TOGETHER_SECONDS: Final = 0.1
"""Changes within this time are looked at together."""


class ServiceWatch:
    """Follows the events of a served memory; does nothing where the memory is not served."""

    def __init__(self, app: App[Any], dispatcher: Dispatcher, notices: Notices, pages: Pages) -> None:
        self._app = app
        self._dispatcher = dispatcher
        self._notices = notices
        self._pages = pages
        self._listener: EventListener | None = None
        self._own = ""
        self._lost = False
        self._looks = False
        self.hears = False
        """Whether the events of a served memory come in."""

    def follow(self, source: Source, own: str, deliver: Callable[[ServiceEvent | Reach], object]) -> None:
        """Begin. own: the id of this client, whose own questions the screen knows already. deliver: called in the
        listener's thread; brings what was heard to `heard`.
        """
        self._own = own
        self._listener = EventListener(source, deliver)
        self._listener.start()

    def close(self) -> None:
        """Hear nothing more."""
        if self._listener is not None:
            self._listener.close()

    def join(self, timeout: float = 30.0) -> None:
        """Wait until the thread that listens has ended (seconds)."""
        if self._listener is not None:
            self._listener.join(timeout)

    def heard(self, what: ServiceEvent | Reach) -> None:
        """Show an event, or that the service is lost or heard again."""
        if isinstance(what, Reach):
            self._reached(what)
            return
        if what.kind != "dropped":
            self._pages.add_traffic(what)
        if what.client == self._own:
            return
        if what.kind != "asked":
            self._look_soon()
        if what.kind != "dropped":
            self._notices.overhear(f"{printable_line(what.caller)}: {printable_line(what.line)} · {what.got}")

    def _reached(self, reach: Reach) -> None:
        self.hears = reach.state == "heard"
        if reach.state == "lost":
            if not self._lost:
                self._notices.say(f"The service is lost: {reach.words} Trying again …", "bad")
            self._lost = True
        elif self._lost:
            self._lost = False
            self._notices.say("The service is back", "good")
            self._dispatcher.look()

    def _look_soon(self) -> None:
        """Have the panes look again, once for changes that come together."""
        if not self._looks:
            self._looks = True
            self._app.set_timer(TOGETHER_SECONDS, self._look)

    def _look(self) -> None:
        self._looks = False
        self._dispatcher.look()
