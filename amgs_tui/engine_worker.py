"""The engine's own thread: it opens the session, carries out requests one after another, and reports to the
screen.

One thread, because the store has one writer and a model one state. Nothing heavy is imported before it
runs; what it sends is frozen. It knows no widget: `deliver` is all it has of the screen, so that tests
drive it with a list."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from amgs.errors import Cancelled as Stopped
from amgs.errors import StoreCorruptError, StoreLockedError, StoreTooNewError
from amgs_tui.messages import (
    Answer,
    Cancelled,
    EngineEvent,
    Failed,
    Finished,
    Origin,
    Progressed,
    Request,
    Started,
)
from amgs_tui.verbs.remedies import way_out_of

if TYPE_CHECKING:
    from pathlib import Path

    from amgs.clock import Clock
    from amgs.model import Progress
    from amgs_tui.pictures.canvas import Symbols
    from amgs_tui.verbs.registry import Call

REPORT_SECONDS: Final = 0.05
"""Progress is not reported more often: an eye sees no more, and each report costs the screen a wake-up."""

GIVES_WAY: Final = 1
"""How nice the engine's thread is to the screen's; more, and other programs starve it on a busy machine."""

OPEN: Final = "open"
"""The pseudo-verb of the first request: opening the session."""

UNUSABLE: Final = (StoreLockedError, StoreTooNewError, StoreCorruptError)
"""Errors after which nothing can be done with this store."""

Execute = Callable[[Any, Request, "Progress"], Answer]
"""Carries out a request on the session."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What the screen is told of a session that was opened: its clock, and what its settings ask for."""

    clock: Clock | None = None
    theme: str | None = None
    theme_folders: tuple[Path, ...] = ()
    symbols: Symbols | Literal["auto"] = "auto"
    keys: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, session: Any) -> Opening:
        """Read off a session; reading the theme reads the settings, which may be wrong."""
        module = sys.modules.get("amgs_tui.session")
        is_own = module is not None and isinstance(session, module.Session)
        folders = tuple(module.theme_folders()) if is_own and module is not None else ()
        opening = cls(getattr(session, "clock", None), getattr(session, "theme_name", None), folders)
        if not is_own:
            return opening
        screen = session.settings.screen
        return replace(opening, symbols=screen.symbols, keys=screen.keys)


class EngineWorker:
    """A queue of requests and the thread that works it off.

    open_session: called once, in the engine's thread. deliver: called in the engine's thread with every
    event; must be safe to call from there. perf: seconds, monotonic."""

    def __init__(
        self,
        open_session: Callable[[], Any],
        execute: Execute,
        deliver: Callable[[EngineEvent], None],
        *,
        perf: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._open_session = open_session
        self._execute = execute
        self._deliver = deliver
        self._perf = perf
        self._queue: deque[Request] = deque()
        self._wake = threading.Condition()
        self._running: Request | None = None
        self._progress: Progress | None = None
        self._stop_asked = False
        self._closing = False
        self._next_id = 1
        self._newest: dict[str, int] = {}
        self._thread = threading.Thread(target=self._work, name="amgs-engine", daemon=True)

    # --- called by the screen -----------------------------------------------------------------------------

    def start(self) -> None:
        """Begin: the session is opened first, whatever was asked meanwhile waits for it."""
        self._thread.start()

    def submit(
        self,
        verb: str = "",
        arguments: Mapping[str, Any] | None = None,
        *,
        line: str = "",
        slot: str = "",
        origin: Origin = "operator",
    ) -> Request | None:
        """Queue a request. None when the same one already waits: a held key must not run away.

        A newer request of a slot drops the older one that still waits and marks a running one as stale.
        """
        with self._wake:
            request = Request(self._next_id, verb, dict(arguments or {}), line, slot, origin)
            if any(_same(request, waiting) for waiting in self._queue):
                return None
            self._next_id += 1
            replaced = [waiting for waiting in self._queue if slot and waiting.slot == slot]
            for waiting in replaced:
                self._queue.remove(waiting)
            if slot:
                self._newest[slot] = request.id
            self._queue.append(request)
            self._wake.notify()
        for waiting in replaced:
            self._deliver(Cancelled(waiting, superseded=True))
        return request

    def is_stale(self, request: Request) -> bool:
        """Whether a newer request of the same slot was made since."""
        return bool(request.slot) and self._newest.get(request.slot, request.id) != request.id

    def cancel(self) -> Request | None:
        """Ask the running request to stop at its next report; gives it, or None when nothing runs."""
        with self._wake:
            if self._running is not None:
                self._stop_asked = True
                if self._progress is not None:
                    self._progress.cancel()
            return self._running

    @property
    def running(self) -> Request | None:
        return self._running

    @property
    def waiting(self) -> int:
        """Requests that wait behind the running one."""
        return len(self._queue)

    def close(self, timeout: float = 30.0) -> bool:
        """Stop what runs, drop what waits, close the session, end the thread; whether it ended in time
        (seconds).
        """
        with self._wake:
            self._closing = True
            self._queue.clear()
            if self._progress is not None:
                self._progress.cancel()
            self._wake.notify()
        if not self._thread.is_alive():
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    # --- in the engine's thread ---------------------------------------------------------------------------

    def _work(self) -> None:
        _give_way()
        session = self._open()
        try:
            while (request := self._take()) is not None:
                if session is None:
                    self._deliver(Cancelled(request, superseded=True))
                else:
                    self._carry_out(session, request)
        finally:
            if session is not None:
                session.close()

    def _open(self) -> Any:
        request = Request(0, OPEN, origin="screen")
        self._deliver(Started(request))
        begun = self._perf()
        try:
            session = self._open_session()
            opening = Opening.of(session)
        except Exception as error:  # noqa: BLE001 - told to the operator; the thread must outlive it
            self._deliver(failure(request, error, fatal=True))
            return None
        self._deliver(Finished(request, Answer(OPEN, opening), self._perf() - begun))
        return session

    def _take(self) -> Request | None:
        """The next request, waiting for one; None when the worker closes."""
        with self._wake:
            self._running = self._progress = None
            while not self._queue and not self._closing:
                self._wake.wait()
            if self._closing:
                return None
            self._running = self._queue.popleft()
            self._stop_asked = False
            return self._running

    def _carry_out(self, session: Any, request: Request) -> None:
        from amgs.model import Progress

        begun = self._perf()
        progress = Progress(self._reporter(request, begun))
        with self._wake:
            self._progress = progress
            if self._stop_asked:
                progress.cancel()
        self._deliver(Started(request))
        event: EngineEvent
        try:
            answer = self._execute(session, request, progress)
            event = Finished(request, answer, self._perf() - begun)
        except Stopped as stopped:
            event = Cancelled(request, stopped.message)
        except Exception as error:  # noqa: BLE001 - told to the operator; the thread must outlive it
            event = failure(request, error)
        with self._wake:
            self._running = self._progress = None
        self._deliver(event)

    def _reporter(self, request: Request, begun: float) -> Callable[[int, int, str], None]:
        """Reports progress at a bearable pace; what is left is told from the pace since the phase began."""
        last = begun
        phase: str | None = None
        phase_begun, phase_done = begun, 0

        def report(done: int, total: int, doing: str) -> None:
            nonlocal last, phase, phase_begun, phase_done
            now = self._perf()
            remaining: float | None = None
            if doing != phase or done < phase_done:
                phase, phase_begun, phase_done = doing, now, done
            elif now - last < REPORT_SECONDS and done < total:
                return
            elif done > phase_done:
                remaining = (now - phase_begun) / (done - phase_done) * max(0, total - done)
            last = now
            self._deliver(Progressed(request, done, total, doing, now - begun, remaining))

        return report


def _give_way() -> None:
    """Let the screen's thread go first where both want a core; on Linux a thread has a priority of its own, and the
    threads that the engines begin have it from this one.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), GIVES_WAY)


def _same(one: Request, other: Request) -> bool:
    return (one.verb, one.arguments, one.line, one.slot) == (
        other.verb,
        other.arguments,
        other.line,
        other.slot,
    )


def failure(request: Request, error: Exception, *, fatal: bool = False) -> Failed:
    """An error as the screen shows it; an engine's own error brings its words, a fault of the program its
    trace.
    """
    title, message = getattr(error, "title", None), getattr(error, "message", None)
    if isinstance(title, str) and isinstance(message, str):
        way_out = way_out_of(error)
        fatal = fatal or isinstance(error, UNUSABLE)
        return Failed(request, title, message, way_out, fatal, exit_code=int(getattr(error, "exit_code", 1)))
    return Failed(
        request,
        "A fault in the program",
        f"{type(error).__name__}: {error}",
        "Nothing was committed by this action. Please report it with the detail below.",
        fatal,
        "".join(traceback.format_exception(error)),
    )


def run_through_registry(session: Any, request: Request, progress: Progress) -> Answer:
    """The one way an action is carried out: as a Call of the verbs' registry."""
    from amgs_tui.verbs.registry import standard

    registry = standard()
    call = registry.parse(request.line) if request.line else registry.call(request.verb, **request.arguments)
    if call is None:
        return Answer("")
    looks = request.origin == "screen"
    result = _look(session, call, progress) if looks else registry.run(session, call, progress)
    return Answer(call.verb.name, result, call.line(), call.verb.pane, call.verb.writes)


def _look(session: Any, call: Call, progress: Progress) -> Any:
    """A look of the screen: carried out like any call; what stays of it, the session decides."""
    arguments = dict(call.arguments) | ({"progress": progress} if call.verb.wants_progress else {})
    return session.look(call, lambda: call.verb.function(session, **arguments))
