"""Between the screen and the engine's threads: requests go out, and reports come in and are given to their receiver.

A report on a request that a newer one has replaced is dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from amgs_tui.engine_worker import EngineWorker
from amgs_tui.messages import (
    EngineRequest,
    Failed,
    Finished,
    ModelsLoading,
    Progressed,
    RequestCancelled,
    Started,
)
from amgs_tui.run_status import PATIENCE_SECONDS, RunStatus

if TYPE_CHECKING:
    from amgs_app.calls.call import Call
    from amgs_tui.main_screen import MainScreen
    from amgs_tui.messages import EngineEvent, Follow, Origin
    from amgs_tui.notices import Notices

ASKING: Final = "asking"
"""The slot of a plan that the operator is asked about before it is carried out."""
WHEN_DUE: Final = "when due"
"""The slot of a consolidation that nobody asked for."""
ASK_FIRST: Final = frozenset({"undo"})
"""The commands that ask first, known here without loading the registry."""


class Receiver(Protocol):
    """Gets what is still wanted of the engine's reports."""

    def finished(self, event: Finished) -> None:
        """A request was carried out."""

    def failed(self, failure: Failed, *, stale: bool) -> None:
        """A request ended in an error; stale: a newer request has replaced it."""

    def cancelled(self, event: RequestCancelled) -> None:
        """The operator stopped a request."""

    def models_loading(self, event: ModelsLoading) -> None:
        """A model is loaded before anybody asked for it."""


class Dispatcher:
    """Hands requests to the engine and knows which of them are unanswered, running or out of date."""

    def __init__(self, engine: EngineWorker, screen: MainScreen, runs: RunStatus, notices: Notices) -> None:
        self.engine = engine
        self._screen = screen
        self._runs = runs
        self._notices = notices
        self.unanswered: dict[int, int] = {0: 0}
        """Requests without an answer, by id: how often the operator had moved when they were made. The first one
        opens the session."""
        self._waiting: EngineRequest | None = None
        self._asked_at: int | None = None

    # --- out ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the engine's thread and take the first looks."""
        self.engine.start()
        self.submit("status", slot="status", origin="screen")
        self.submit("frame last", slot="frame last", origin="screen")

    def submit(
        self,
        command: str = "",
        arguments: Mapping[str, Any] | None = None,
        *,
        line: str = "",
        slot: str = "",
        origin: Origin = "operator",
        follow: Follow | None = None,
    ) -> EngineRequest | None:
        """Hand an action to the engine's threads; None when the same one already waits.

        One that asks first is looked at first: its plan becomes the question.
        """
        if origin == "operator" and (plan := _to_be_asked(command, arguments or {}, line)) is not None:
            command, arguments, line, slot, origin = plan.operation.name, plan.arguments, "", ASKING, "screen"
        request = self.engine.submit(command, arguments, line=line, slot=slot, origin=origin, follow=follow)
        if request is not None:
            # What a pane asks because of an answer belongs to the moment in which the operator asked for that.
            self.unanswered[request.id] = self._screen.moves if self._asked_at is None else self._asked_at
            if origin == "operator" and self._asked_at is None:
                self._notices.acted()
                self._waiting = request
        return request

    def ask(
        self, call: Call[Any], *, slot: str = "", origin: Origin = "operator", follow: Follow | None = None
    ) -> EngineRequest | None:
        """Hand a typed call to the engine's threads."""
        return self.submit(call.operation.name, call.arguments, slot=slot, origin=origin, follow=follow)

    def submit_when_due(self, *, consolidates: bool, proposes: bool) -> None:
        """Run what knows by the session's clock when it is due, unless something runs: the next look comes soon."""
        if self.engine.running is not None:
            return
        if consolidates:
            self.submit("consolidate", {"if_due": True}, slot=f"{WHEN_DUE}: inbox", origin="screen")
        if proposes:
            self.submit(
                "prune", {"propose": True, "if_due": True}, slot=f"{WHEN_DUE}: pruning", origin="screen"
            )

    def look(self) -> None:
        """Have every pane look again: those on the screen now, the others when they come there."""
        self.submit("status", slot="status", origin="screen")
        for pane in self._screen.panes:
            pane.look()

    @property
    def by_operator(self) -> EngineRequest | None:
        """What runs because the operator asked for it."""
        return self.engine.by_operator

    def stop(self) -> None:
        """Ask the running action to stop."""
        if self.engine.cancel() is not None:
            self._runs.stopping = True
            self.tick()

    # --- in -----------------------------------------------------------------------------------------------

    def receive(self, event: EngineEvent, receiver: Receiver) -> None:
        """Keep account of a report and give the receiver what is still wanted of it."""
        if not self._screen.ready:
            return  # the screen is being taken down; nobody is left to hear the engine's last reports
        if isinstance(event, ModelsLoading):
            receiver.models_loading(event)
        elif isinstance(event, Started):
            self._started(event.request)
        elif isinstance(event, Progressed):
            self._runs.progressed(event)
            self.tick()
        else:
            asked_at = self.unanswered.pop(event.request.id, self._screen.moves)
            if isinstance(event, RequestCancelled) and event.superseded:
                return
            self._ended(event.request)
            self._asked_at = asked_at
            try:
                if isinstance(event, Finished):
                    if not self.engine.is_stale(event.request):
                        receiver.finished(event)
                elif isinstance(event, Failed):
                    receiver.failed(event, stale=self.engine.is_stale(event.request))
                else:
                    receiver.cancelled(event)
            finally:
                self._asked_at = None

    @property
    def operator_stayed(self) -> bool:
        """Whether the operator is where they were when they asked for what is answered now, and types nothing."""
        return self._screen.in_front and self._asked_at in (None, self._screen.moves)

    def _started(self, request: EngineRequest) -> None:
        self._runs.started(request)
        if self._waiting is not None and self._waiting.id == request.id:
            self._waiting = None
        for pane in self._screen.panes_of(request.command):
            pane.started(request)
        self.tick()

    def _ended(self, request: EngineRequest) -> None:
        self._runs.ended(request)
        for pane in self._screen.panes:
            if pane.busy is not None and pane.busy.id == request.id:
                pane.ended()
        self.tick()

    def tick(self) -> None:
        """Redraw the line of what runs; let fade what was said; say once behind what the operator's request waits."""
        if not self._screen.ready:
            return
        self._notices.fade()
        runs_for = self._runs.draw(self.engine.waiting)
        if self._waiting is not None and runs_for >= PATIENCE_SECONDS:
            waiting, self._waiting = self._waiting, None
            if self.engine.waits(waiting):
                self._notices.say(f"{waiting.title} waits for {self._runs}")


def _to_be_asked(command: str, arguments: Mapping[str, Any], line: str) -> Call[Any] | None:
    """The dry run that comes before a command which asks first; None for every other."""
    if (command or line.strip().partition(" ")[0]) not in ASK_FIRST:
        return None
    from amgs_app.operations.standard import standard
    from amgs_app.terminal.line import LineError

    registry = standard()
    try:
        call = registry.parse(line) if line else registry.call(command, **arguments)
    except LineError:
        return None  # the engine says what is wrong with it
    if call is None or not call.operation.asks or call.arguments["yes"] or call.arguments["dry_run"]:
        return None
    return replace(call, arguments={**call.arguments, "dry_run": True})
