"""The engine's threads: they carry out requests and report to the screen.

The first thread opens the session and carries out everything in order, since a store has one writer and a model a
single state. The second takes reading requests while the first is busy with a long request. A third runs background
work, one call at a time, with low priority. Nothing heavy is imported before they run; what they send is immutable.
They reach the screen only through `deliver`, so that tests can use a list instead.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from amgs.errors import Cancelled as Stopped
from amgs_app.gc_tuning import settling
from amgs_tui.messages import (
    Answer,
    EngineEvent,
    EngineRequest,
    Execute,
    Finished,
    Follow,
    KindOf,
    ModelsLoading,
    Opening,
    Origin,
    Progressed,
    RequestCancelled,
    Started,
    failure,
)

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine

REPORT_SECONDS: Final = 0.05
"""Least time between progress reports, since each costs the screen a wake-up."""

ENOUGH_SECONDS: Final = 2.0
"""Least duration of a phase before its pace is used for predictions."""

BUSY_SECONDS: Final = 0.05
"""Reading requests do not wait for requests that run longer than this."""

QUIET_SECONDS: Final = 0.25
"""Time without requests before models are preloaded, so that the first screen comes first."""

IDLE_SECONDS: Final = 600.0
"""Time without requests before the language model is unloaded, if no working context is open."""

GIVES_WAY: Final = 1
"""Niceness of the engine's thread; with more, other programs would starve it on a busy machine."""

ASKS_FOR_MODEL: Final = ("frame assemble", "frame compare")
"""Commands that usually precede use of the language model, which is loaded while their results are read."""

OPEN: Final = "open"
"""Name of the first request, which is no command: opening the session."""


@dataclass(slots=True)
class RunningRequest:
    """A request that a thread is carrying out."""

    request: EngineRequest
    begun: float
    progress: Progress | None = None
    stop_asked: bool = False


class EngineWorker:
    """A queue of requests and the threads that carry them out.

    open_session: called once, in the first thread. deliver: called in all threads with every event; must be
    thread-safe. kind_of: which requests may run beside others; by default none. perf: monotonic clock in seconds.
    """

    def __init__(
        self,
        open_session: Callable[[], Any],
        execute: Execute,
        deliver: Callable[[EngineEvent], None],
        *,
        kind_of: KindOf | None = None,
        perf: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._open_session = open_session
        self._execute = execute
        self._deliver = deliver
        self._kind_of = kind_of
        self._perf = perf
        self._queue: deque[EngineRequest] = deque()
        self._wake = threading.Condition()
        self._main: RunningRequest | None = None
        self._side: RunningRequest | None = None
        self._back: RunningRequest | None = None
        self._closing = False
        self._next_id = 1
        self._newest: dict[str, int] = {}
        self._thread = threading.Thread(target=self._work, name="amgs-engine", daemon=True)
        self._engine: Engine | None = None
        self._ahead: threading.Thread | None = None
        self._behind: threading.Thread | None = None
        self._loading: Progress | None = None

    # --- called by the screen -----------------------------------------------------------------------------

    def start(self) -> None:
        """Start; the session is opened before any request."""
        self._thread.start()

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
        """Queue a request; None if the same request already waits, as with a held key, or is being stopped.

        A newer request of a slot drops a waiting older request and marks a running request as stale.
        """
        with self._wake:
            request = EngineRequest(self._next_id, command, dict(arguments or {}), line, slot, origin, follow)
            stopping = [run.request for run in self._runs() if run.stop_asked and run.request.origin == origin]
            if any(request.content == other.content for other in (*self._queue, *stopping)):
                return None
            self._next_id += 1
            replaced = [waiting for waiting in self._queue if slot and waiting.slot == slot]
            for waiting in replaced:
                self._queue.remove(waiting)
            if slot:
                self._newest[slot] = request.id
            self._queue.append(request)
            self._wake.notify_all()
        for waiting in replaced:
            self._deliver(RequestCancelled(waiting, superseded=True))
        return request

    def is_stale(self, request: EngineRequest) -> bool:
        """Return whether a newer request of the same slot was sent since."""
        return bool(request.slot) and self._newest.get(request.slot, request.id) != request.id

    def cancel(self) -> EngineRequest | None:
        """Ask the operator's running request, else any, to stop at its next report; return it, or None if
        nothing runs.
        """
        with self._wake:
            runs = sorted(self._runs(), key=lambda run: run.request.origin != "operator")
            if not runs:
                return None
            runs[0].stop_asked = True
            if runs[0].progress is not None:
                runs[0].progress.cancel()
            return runs[0].request

    def _runs(self) -> list[RunningRequest]:
        """Return what the threads are running: the first, the second, the background."""
        return [run for run in (self._main, self._side, self._back) if run is not None]

    @property
    def running(self) -> EngineRequest | None:
        """Request that the first thread runs, else that of another."""
        return next((run.request for run in self._runs()), None)

    @property
    def by_operator(self) -> EngineRequest | None:
        """Running request of the operator, the longest first."""
        return next((run.request for run in self._runs() if run.request.origin == "operator"), None)

    @property
    def waiting(self) -> int:
        """Number of the operator's requests that wait, without those of the screen."""
        with self._wake:
            return sum(request.origin == "operator" for request in self._queue)

    def waits(self, request: EngineRequest) -> bool:
        """Return whether a request is still in the queue."""
        with self._wake:
            return any(request.id == other.id for other in self._queue)

    def close(self, timeout: float = 30.0) -> bool:
        """Stop what runs, drop what waits, close the session, end the threads; return whether they ended within
        `timeout` seconds.
        """
        with self._wake:
            self._closing = True
            self._queue.clear()
            if self._loading is not None:
                self._loading.cancel()
            for run in self._runs():
                if run.progress is not None:
                    run.progress.cancel()
            self._wake.notify_all()
        if not self._thread.is_alive():
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def loads_ahead(self) -> bool:
        """Return whether a model is being preloaded, which cannot be stopped."""
        return self._ahead is not None and self._ahead.is_alive()

    @property
    def works(self) -> bool:
        """Return whether a request runs or a model loads."""
        return self.running is not None or self.loads_ahead

    # --- in the engine's threads --------------------------------------------------------------------------

    def _work(self) -> None:
        _give_way()
        operator = self._open()
        beside = threading.Thread(target=self._work_beside, args=(operator,), name="amgs-engine-beside", daemon=True)
        if operator is not None and self._kind_of is not None:
            beside.start()
        engine = self._engine = operator.engine if _loads_ahead(operator) else None
        if engine is not None:
            self._plan_loading(engine.load_encoder)
        try:
            while (run := self._take()) is not None:
                if operator is None:
                    self._deliver(RequestCancelled(run.request, superseded=True))
                elif self._goes_behind(run):
                    self._behind = threading.Thread(
                        target=self._carry_out, args=(operator, run), name="amgs-engine-behind", daemon=True
                    )
                    self._behind.start()
                else:
                    command = self._carry_out(operator, run)
                    if engine is not None and command in ASKS_FOR_MODEL and not engine.model_is_loaded:
                        self._plan_loading(engine.load_model)
        finally:
            if beside.ident is not None:
                beside.join()
            if self._behind is not None:
                self._behind.join()
            if operator is not None:
                operator.close()

    def _goes_behind(self, run: RunningRequest) -> bool:
        """Move a background request out of the first thread if the background is free; return whether it moved."""
        if self._back is not None or self._kind_of is None or self._kind_of(run.request) != "background":
            return False
        with self._wake:
            self._main, self._back = None, run
        return True

    def _work_beside(self, operator: Any) -> None:
        _give_way()
        if self._kind_of is not None:
            self._kind_of(EngineRequest(0, OPEN))  # import here, not while the queue is locked
        while (run := self._take_beside()) is not None:
            self._carry_out(operator, run)

    def _plan_loading(self, load: Callable[[Progress], object]) -> None:
        """Prepare a separate thread that loads something once there are no requests, unless something loads already."""
        if self._ahead is None or self._ahead.ident is None or not self._ahead.is_alive():
            name = "amgs-engine-ahead"
            self._ahead = threading.Thread(target=self._load_ahead, args=(load,), name=name, daemon=True)

    def _load_ahead(self, load: Callable[[Progress], object]) -> None:
        from amgs.types import Progress

        _give_way()
        progress = Progress(lambda done, total, doing: self._deliver(ModelsLoading(done, total, doing)))
        with self._wake:
            self._loading = progress
        try:
            settling(load)(progress)
        except Stopped:
            pass
        except Exception as error:  # noqa: BLE001 - said to the operator; whatever needs the model says more
            self._deliver(ModelsLoading(0, 1, "", failure(EngineRequest(0, OPEN), error).message))

    def _open(self) -> Any:
        request = EngineRequest(0, OPEN, origin="screen")
        self._deliver(Started(request))
        begun = self._perf()
        try:
            operator = self._open_session()
            opening = Opening.of(operator)
        except Exception as error:  # noqa: BLE001 - told to the operator; the thread must outlive it
            self._deliver(failure(request, error, fatal=True))
            return None
        self._deliver(Finished(request, Answer(OPEN, opening), self._perf() - begun))
        return operator

    def _take(self) -> RunningRequest | None:
        """Return the next request, waiting if there is none; None when the worker closes."""
        with self._wake:
            self._main = None
            while not self._queue and not self._closing:
                waits = self._ahead is not None and self._ahead.ident is None
                if self._wake.wait(QUIET_SECONDS if waits else IDLE_SECONDS):
                    continue
                if waits and self._ahead is not None:
                    self._ahead.start()  # the screen has its first results
                elif self._engine is not None and not self.loads_ahead and self._back is None and self._side is None:
                    self._engine.release_model()
            if self._closing:
                return None
            self._main = RunningRequest(self._queue.popleft(), self._perf())
            self._wake.notify_all()
            return self._main

    def _take_beside(self) -> RunningRequest | None:
        """Return the next request that may overtake the first thread's; None when the worker closes."""
        with self._wake:
            self._side = None
            while not self._closing:
                request = self._overtaking()
                if request is not None:
                    self._queue.remove(request)
                    self._side = RunningRequest(request, self._perf())
                    return self._side
                self._wake.wait(BUSY_SECONDS if self._queue and self._main is not None else None)
            return None

    def _overtaking(self) -> EngineRequest | None:
        """Return the first waiting request that may run beside the first thread's; None if there is none.

        The operator's requests stay in order, except behind long ones: `why @1` refers to the search before it, not to
        the consolidation before that.
        """
        main, kind_of = self._main, self._kind_of
        if main is None or kind_of is None or not self._queue:
            return None
        kind = kind_of(main.request)
        if kind not in ("long", "background") and self._perf() - main.begun < BUSY_SECONDS:
            return None
        in_order = main.request.origin == "operator" and kind not in ("long", "background")
        for request in self._queue:
            kind = kind_of(request)
            if kind == "beside" and not (in_order and request.origin == "operator"):
                return request
            in_order = in_order or (request.origin == "operator" and kind not in ("long", "background"))
        return None

    def _carry_out(self, operator: Any, run: RunningRequest) -> str:
        """Carry out a request and deliver its outcome; return the command, "" for none."""
        from amgs.types import Progress

        request, begun = run.request, self._perf()
        progress = Progress(self._reporter(request, begun))
        with self._wake:
            run.progress = progress
            if run.stop_asked or self._closing:
                progress.cancel()
        self._deliver(Started(request, background=run is self._back))
        event: EngineEvent
        try:
            answer = self._execute(operator, request, progress)
            event = Finished(request, answer, self._perf() - begun)
        except Stopped as stopped:
            event = RequestCancelled(request, stopped.message)
        except Exception as error:  # noqa: BLE001 - told to the operator; the thread must outlive it
            event = failure(request, error)
        with self._wake:
            if self._main is run:
                self._main = None
            elif self._back is run:
                self._back = None
            else:
                self._side = None
        self._deliver(event)
        return event.answer.command if isinstance(event, Finished) else ""

    def _reporter(self, request: EngineRequest, begun: float) -> Callable[[int, int, str], None]:
        """Return a function that reports progress at intervals, with the remaining time by the pace of the phase."""
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
            elif done > phase_done and now - phase_begun >= ENOUGH_SECONDS:
                remaining = (now - phase_begun) / (done - phase_done) * max(0, total - done)
            last = now
            self._deliver(Progressed(request, done, total, doing, now - begun, remaining))

        return report


def _give_way() -> None:
    """Lower the thread's priority below the screen's; on Linux each thread has its own, which the engines' threads
    inherit.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), GIVES_WAY)


def _loads_ahead(operator: Any) -> bool:
    """Return whether the session has an engine of its own whose models are to be preloaded."""
    from amgs_app.session import Operator

    return isinstance(operator, Operator) and not operator.engine.attached and operator.engine.loads_ahead
