"""Passes requests to the engine's threads, and their reports to a receiver. Reports on requests that a newer request
has replaced are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from amgs_app import operations
from amgs_tui.engine_worker import EngineWorker
from amgs_tui.messages import EngineRequest, Failed, Finished, ModelsLoading, Progressed, RequestCancelled, Started
from amgs_tui.notices import PATIENCE_SECONDS, RunStatus

if TYPE_CHECKING:
    from amgs_app.calls.call import Call
    from amgs_tui.main_screen import MainScreen
    from amgs_tui.messages import EngineEvent, Follow, Origin
    from amgs_tui.notices import Notices
    from amgs_tui.state import ScreenState

ASKING: Final = "asking"
"""Slot of a plan that the operator is asked about before it is carried out."""
WHEN_DUE: Final = "when due"
"""Slot of an automatic consolidation."""
ASK_FIRST: Final = frozenset({"undo"})
"""Commands that ask first, known here without loading the registry."""


class Receiver(Protocol):
    """Receives the engine's reports."""

    def take_models(self, event: ModelsLoading) -> None:
        """Receive the models' progress."""

    def take_result(self, event: Finished) -> None:
        """Receive a result that is still wanted."""

    def take_failure(self, failure: Failed, *, stale: bool) -> None:
        """Receive an error. stale: a newer request has replaced it."""

    def take_cancel(self, event: RequestCancelled) -> None:
        """Receive a cancellation."""


class Dispatcher:
    """Passes requests to the engine and keeps track of which are waiting, running or outdated."""

    def __init__(self, engine: EngineWorker, screen: MainScreen, runs: RunStatus, notices: Notices) -> None:
        self.engine = engine
        self._screen = screen
        self._runs = runs
        self._notices = notices
        self.unanswered: dict[int, int] = {0: 0}
        """Requests without an answer, by id: how often the operator had moved at the time. The first opens the session.
        """
        self._waiting: EngineRequest | None = None
        self._asked_at: int | None = None

    # --- out ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the engine's thread and request what the panes show first."""
        self.engine.start()
        if self._screen.has_class("-front"):
            return  # there is no memory
        # By name: the operations are imported in the engine's thread, while the first keys are answered here.
        for command in ("status", "frame last"):
            self._keep_account(self.engine.submit(command, slot=command, origin="screen"))

    def ask(
        self, call: Call[Any], *, slot: str = "", origin: Origin = "operator", follow: Follow | None = None
    ) -> EngineRequest | None:
        """Pass a call to the engine's threads; return None if the same call already waits.

        A call that asks first is planned first, and its plan becomes the question.
        """
        if origin == "operator" and _asks_first(call):
            call, slot, origin = call.having(dry_run=True), ASKING, "screen"
        name, arguments = call.operation.name, call.arguments
        return self._keep_account(self.engine.submit(name, arguments, slot=slot, origin=origin, follow=follow))

    def run_line(self, line: str) -> EngineRequest | None:
        """Pass an operator's line to the engine's threads, like `ask`."""
        call = _parse_asking(line)
        return self.ask(call) if call is not None else self._keep_account(self.engine.submit(line=line))

    def _keep_account(self, request: EngineRequest | None) -> EngineRequest | None:
        """Note when a request was sent, and whether the operator waits for it."""
        if request is not None:
            # What a pane asks because of an answer belongs to the moment in which the operator asked for that.
            self.unanswered[request.id] = self._screen.moves if self._asked_at is None else self._asked_at
            if request.origin == "operator" and self._asked_at is None:
                self._notices.drop_error()
                self._waiting = request
        return request

    def ask_when_due(self, state: ScreenState) -> None:
        """Consolidate the inbox if it is due and the settings ask for it; does nothing while something runs, since the
        next check follows soon.
        """
        if self.engine.running is not None or state.overview is None:
            return
        counts = state.overview.store.blocks
        if state.consolidates and counts.get("raw", 0):
            consolidate = operations.lifecycle.consolidate(if_due=True)
            self.ask(consolidate, slot=f"{WHEN_DUE}: inbox", origin="screen")

    def look(self) -> None:
        """Refresh every pane: visible ones now, others when they become visible."""
        self.ask(operations.general.status(), slot="status", origin="screen")
        for pane in self._screen.panes:
            pane.look()

    @property
    def by_operator(self) -> EngineRequest | None:
        """Running request of the operator."""
        return self.engine.by_operator

    def stop(self) -> None:
        """Ask the running action to stop."""
        if self.engine.cancel() is not None:
            self._runs.stopping = True
            self.tick()

    # --- in -----------------------------------------------------------------------------------------------

    def receive(self, event: EngineEvent, receiver: Receiver) -> None:
        """Keep track of a report, and pass it on if it is still wanted."""
        if not self._screen.ready:
            return  # the screen is closing; the engine's last reports have no receiver
        if isinstance(event, ModelsLoading):
            receiver.take_models(event)
        elif isinstance(event, Started):
            self._begin(event)
        elif isinstance(event, Progressed):
            self._runs.update(event)
            self.tick()
        else:
            asked_at = self.unanswered.pop(event.request.id, self._screen.moves)
            if isinstance(event, RequestCancelled) and event.superseded:
                return
            self._end(event.request)
            self._asked_at = asked_at
            try:
                if isinstance(event, Finished):
                    if not self.engine.is_stale(event.request):
                        receiver.take_result(event)
                elif isinstance(event, Failed):
                    receiver.take_failure(event, stale=self.engine.is_stale(event.request))
                else:
                    receiver.take_cancel(event)
            finally:
                self._asked_at = None

    @property
    def operator_stayed(self) -> bool:
        """Return whether the operator has stayed in the pane since asking for the present answer, and is not typing."""
        return self._screen.is_in_front and self._asked_at in (None, self._screen.moves)

    def _begin(self, event: Started) -> None:
        request = event.request
        self._runs.add(request, background=event.background)
        if self._waiting is not None and self._waiting.id == request.id:
            self._waiting = None
        for pane in self._screen.panes_of(request.command):
            pane.begin_request(request)
        self.tick()

    def _end(self, request: EngineRequest) -> None:
        self._runs.remove(request)
        for pane in self._screen.panes:
            if pane.busy is not None and pane.busy.id == request.id:
                pane.end_request()
        self.tick()

    def tick(self) -> None:
        """Redraw the status of what runs; fade messages; say once what delays the operator's request."""
        if not self._screen.ready:
            return
        self._notices.fade()
        runs_for = self._runs.draw(self.engine.waiting)
        if self._waiting is not None and runs_for >= PATIENCE_SECONDS:
            waiting, self._waiting = self._waiting, None
            if self.engine.waits(waiting):
                self._notices.say(f"{waiting.title} waits for {self._runs}")


def _parse_asking(line: str) -> Call[Any] | None:
    """Return the call of a line whose command asks first; None for others, and for invalid ones, which the engine
    reports.
    """
    if line.strip().partition(" ")[0] not in ASK_FIRST:
        return None
    from amgs_app.calls.registry import standard
    from amgs_app.terminal.line import LineError

    try:
        return standard().parse(line)
    except LineError:
        return None


def _asks_first(call: Call[Any]) -> bool:
    """Return whether a call is planned before it is carried out."""
    return call.operation.asks and not call.arguments["yes"] and not call.arguments["dry_run"]
