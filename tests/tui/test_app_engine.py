"""The engine's thread: one at a time, in order, newer replaces older, all is answered, nothing hangs."""

from __future__ import annotations

import queue
import threading
from pathlib import Path
from typing import Any

import pytest

from amgs.errors import InputError, ModelError, StoreLockedError
from amgs.types import Progress
from amgs_app.engine import Engine, Options
from amgs_app.session import Operator
from amgs_focus.records import Segment
from amgs_tui import engine_worker
from amgs_tui.engine_worker import OPEN, EngineWorker
from amgs_tui.messages import (
    Answer,
    EngineEvent,
    EngineRequest,
    Failed,
    Finished,
    Kind,
    KindOf,
    ModelsLoading,
    Progressed,
    RequestCancelled,
    RequestEvent,
    Started,
    kind_of,
)


class Bench:
    """A worker on an engine that does what the test says; events are read from a queue."""

    def __init__(self, error: Exception | None = None, kind_of: KindOf | None = None) -> None:
        self.events: queue.Queue[EngineEvent] = queue.Queue()
        self.gate = threading.Event()
        self.closed = threading.Event()
        self.done: list[str] = []
        self.seconds = 0.0
        self._error = error
        self.worker = EngineWorker(self._open, self._execute, self.events.put, kind_of=kind_of, perf=self._perf)

    def _open(self) -> Bench:
        if self._error is not None:
            raise self._error
        return self

    def close(self) -> None:
        self.closed.set()

    def _perf(self) -> float:
        return self.seconds

    def _execute(self, _session: Any, request: EngineRequest, progress: Progress) -> Answer:
        match request.command:
            case "wait":
                while not self.gate.wait(0.001):
                    progress(1, 4, "waiting")
            case "hold":
                self.gate.wait(10)
                progress(1, 1, "holding")
            case "count":
                for done in range(1, 5):
                    self.seconds += 1.0
                    progress(done, 4, "counting")
            case "refuse":
                raise InputError("There is nothing.", way_out="Bring something.")
            case "break":
                raise ZeroDivisionError("division by zero")
        self.done.append(str(request.arguments.get("n", request.command)))
        return Answer(request.command, request.arguments)

    def until(self, kind: type[EngineEvent], command: str = "") -> RequestEvent:
        """The next event of a kind (and a verb); what comes before it is dropped."""
        while True:
            event = self.events.get(timeout=10)
            assert not isinstance(event, ModelsLoading)
            if isinstance(event, kind) and (not command or event.request.command == command):
                return event


@pytest.fixture
def bench() -> Any:
    made = Bench()
    made.worker.start()
    made.until(Finished, OPEN)
    yield made
    made.gate.set()
    assert made.worker.close(timeout=10)
    assert made.closed.is_set()


def test_requests_are_carried_out_in_order_in_one_thread_that_is_not_this_one(bench: Bench) -> None:
    for n in range(5):
        bench.worker.submit("do", {"n": n})
    for n in range(5):
        event = bench.until(Finished)
        assert isinstance(event, Finished) and event.result == {"n": n}
    assert bench.done == ["0", "1", "2", "3", "4"]


def test_a_newer_request_of_a_slot_replaces_the_one_that_waits_and_marks_the_running_one_stale(bench: Bench) -> None:
    running = bench.worker.submit("wait", slot="graph")
    bench.until(Started, "wait")
    bench.worker.submit("do", {"n": 1}, slot="graph")
    newest = bench.worker.submit("do", {"n": 2}, slot="graph")
    dropped = bench.until(RequestCancelled, "do")
    assert isinstance(dropped, RequestCancelled) and dropped.superseded and dropped.request.arguments == {"n": 1}
    bench.gate.set()
    bench.until(Finished, "wait")
    assert running is not None and bench.worker.is_stale(running)
    last = bench.until(Finished, "do")
    assert newest is not None and last.request.id == newest.id and not bench.worker.is_stale(last.request)


def test_cancelling_stops_the_running_request_at_its_next_report_and_the_next_one_runs(bench: Bench) -> None:
    bench.worker.submit("wait")
    bench.until(Progressed, "wait")
    bench.worker.submit("do", {"n": 7})
    bench.worker.cancel()
    stopped = bench.until(RequestCancelled, "wait")
    assert isinstance(stopped, RequestCancelled) and not stopped.superseded
    assert bench.until(Finished, "do")
    assert bench.done == ["7"]


def test_progress_tells_what_is_left_once_the_pace_is_known(bench: Bench) -> None:
    bench.worker.submit("count")
    seen = [bench.until(Progressed, "count") for _ in range(4)]
    assert [(event.done, event.remaining) for event in seen if isinstance(event, Progressed)] == [
        (1, None),
        (2, None),  # one step in one second is no pace
        (3, 1.0),
        (4, 0.0),
    ]


def test_a_fault_of_the_program_comes_with_its_trace_and_the_thread_lives_on(bench: Bench) -> None:
    bench.worker.submit("break")
    event = bench.until(Failed)
    assert isinstance(event, Failed) and "ZeroDivisionError" in event.detail
    bench.worker.submit("do", {"n": 1})
    assert bench.until(Finished, "do")


def test_a_store_that_cannot_be_opened_is_fatal() -> None:
    made = Bench(StoreLockedError("Process 4711 writes to it.", way_out="Close it there."))
    made.worker.start()
    event = made.until(Failed)
    assert isinstance(event, Failed) and event.fatal and event.exit_code == 4
    assert made.worker.close(timeout=10)


def test_closing_stops_what_runs_and_closes_the_session(bench: Bench) -> None:
    bench.worker.submit("wait")
    bench.until(Progressed, "wait")
    assert bench.worker.close(timeout=10)
    assert bench.closed.is_set() and not bench.done


# --- two at a time ----------------------------------------------------------------------------------------


@pytest.fixture
def double() -> Any:
    """A worker whose `wait` is long, whose `look` may run beside it, and whose other verbs are short."""
    kinds: dict[str, Kind] = {"wait": "long", "look": "beside"}
    made = Bench(kind_of=lambda request: kinds.get(request.command, "short"))
    made.worker.start()
    made.until(Finished, OPEN)
    yield made
    made.gate.set()
    assert made.worker.close(timeout=10)
    assert made.closed.is_set()


def test_what_only_reads_runs_beside_something_long_and_what_writes_waits(double: Bench) -> None:
    double.worker.submit("wait")
    double.until(Started, "wait")
    writes = double.worker.submit("do", {"n": 1})
    double.worker.submit("look", {"n": 2}, origin="screen")
    double.until(Finished, "look")
    assert double.done == ["2"] and writes is not None and double.worker.waits(writes)
    assert double.worker.running is not None and double.worker.running.command == "wait"
    double.gate.set()
    double.until(Finished, "do")
    assert double.done == ["2", "wait", "1"]


def test_the_operators_own_requests_keep_their_order_but_for_the_long_ones(double: Bench) -> None:
    double.worker.submit("wait")
    double.until(Started, "wait")
    double.worker.submit("look", {"n": 1})
    double.until(Finished, "look")
    double.worker.submit("do", {"n": 2})
    double.worker.submit("look", {"n": 3})  # may mean what `do` gives
    double.worker.submit("look", {"n": 4}, origin="screen")
    double.until(Finished, "look")
    assert double.done == ["1", "4"]
    double.gate.set()
    double.until(Finished, "look")
    assert double.done == ["1", "4", "wait", "2", "3"]


def test_every_command_has_a_kind_and_none_that_touches_the_model_runs_beside_another() -> None:
    from amgs_app.calls.registry import standard

    kinds = {command.name: kind_of(EngineRequest(1, command.name)) for command in standard()}
    beside = {name for name, kind in kinds.items() if kind == "beside"}
    assert {"search", "why", "status", "block show", "graph neighbours", "decay forecast"} <= beside
    assert {"inbox list", "calibration", "frame assemble", "operations", "select"} <= beside
    assert not any(name.startswith(("focus", "simulate")) for name in beside)
    assert {"undo", "consolidate edit", "prune", "feedback", "show"}.isdisjoint(beside)
    assert kinds["consolidate"] == kinds["focus step"] == "long" and kinds["undo"] == "short"
    assert kind_of(EngineRequest(1, "", line="serch dome")) == "beside"
    assert kind_of(EngineRequest(1, "", line="search 'dome")) == "beside"


class _Ahead(Operator):
    """An operator whose engine loads as the test says."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__(Engine(Options(store=":memory:")))
        self.loaded: list[str] = []
        self.engine.load_encoder = self._load_encoder  # type: ignore[method-assign]
        self.engine.load_model = self._load  # type: ignore[method-assign,assignment]
        self._error = error

    def _load_encoder(self, progress: Progress) -> None:
        del progress
        self.loaded.append("encoder")

    def _load(self, progress: Progress) -> None:
        progress(0, 1, "loading")
        if self._error is not None:
            raise self._error
        self.loaded.append("model")
        progress(1, 1, "loaded")


@pytest.mark.parametrize(
    ("error", "words"),
    [(None, ["loading", "ready"]), (ModelError("The weights are not installed."), ["loading", "not loaded"])],
    ids=["there", "missing"],
)
def test_the_language_model_is_loaded_once_a_frame_was_seen_and_the_encoder_before(
    error: Exception | None, words: list[str]
) -> None:
    events: queue.Queue[EngineEvent] = queue.Queue()
    operator = _Ahead(error)
    worker = EngineWorker(lambda: operator, lambda _operator, request, _progress: Answer(request.command), events.put)
    worker.start()
    worker.submit("search")
    seen: list[ModelsLoading] = []
    while len(seen) < len(words):
        event = events.get(timeout=10)
        if isinstance(event, ModelsLoading):
            seen.append(event)
        elif isinstance(event, Finished) and event.request.command == "search":
            assert not seen
            worker.submit("frame assemble")
    assert [str(event) for event in seen] == words
    assert seen[-1].trouble == ("" if error is None else "The weights are not installed.")
    assert worker.close(timeout=10)
    assert "model" in operator.loaded or error is not None


def test_a_model_that_nobody_asks_for_any_more_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_worker, "IDLE_SECONDS", 0.01)
    operator, released = _Ahead(None), threading.Event()
    operator.engine.release_model = released.set  # type: ignore[method-assign]
    worker = EngineWorker(lambda: operator, lambda *_: Answer(""), lambda _event: None)
    worker.start()
    assert released.wait(timeout=10)
    assert worker.close(timeout=10)


def test_a_model_under_an_open_context_is_not_released() -> None:
    with Engine(Options(store=":memory:", model="tiny")) as engine:
        engine.load_model()
        engine.release_model()
        assert not engine.model_is_loaded
        engine.open_focus((Segment("The dome stuck in the frost."),))
        engine.release_model()
        assert engine.model_is_loaded


def test_nothing_is_loaded_ahead_for_the_tiny_model_nor_where_the_settings_say_so(tmp_path: Path) -> None:
    assert Engine(Options(store=":memory:")).loads_ahead
    assert not Engine(Options(store=":memory:", model="tiny")).loads_ahead
    (tmp_path / "s.toml").write_text("[screen]\nload_ahead = false\n")
    assert not Engine(Options(store=":memory:", settings=tmp_path / "s.toml")).loads_ahead
