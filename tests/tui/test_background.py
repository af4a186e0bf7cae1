"""Polishing in the background: what is asked for meanwhile goes first; the trace and undo are exact all the same."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from amgs_app import cli
from amgs_app.engine import Engine, Options
from amgs_app.results.focus import PolishedGists
from amgs_app.session.operator import Operator
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_tui.engine_worker import EngineWorker
from amgs_tui.messages import EngineEvent, Finished, ModelsLoading, Progressed, RequestCancelled, RequestEvent, Started
from amgs_tui.request_execution import kind_of, run_through_registry

TEXT = "The dome stalled at azimuth 214. The encoder slipped in the cold night and the motor stopped. "
POLISH = "focus rebuild --polish --blocks 16"


class Screen:
    """The engine's threads on the tiny model with a lifetime open; events are read from a queue."""

    def __init__(self, folder: Path) -> None:
        (folder / "night.txt").write_text(TEXT * 40, encoding="utf-8")
        self.store = folder / "x.duckdb"
        self.operator = Operator(Engine(Options(store=str(self.store), model="tiny")))
        self.events: queue.Queue[EngineEvent] = queue.Queue()
        self.worker = EngineWorker(lambda: self.operator, run_through_registry, self.events.put, kind_of=kind_of)
        self.worker.start()
        self.ask(f"focus open {folder / 'night.txt'}")
        self.ask("focus step 2")

    def ask(self, line: str) -> Finished:
        self.worker.submit(line=line)
        return self.finished()

    def finished(self) -> Finished:
        found = self.until(Finished, RequestCancelled)
        assert isinstance(found, Finished), found
        return found

    def until(self, *kinds: type[EngineEvent]) -> RequestEvent:
        """The next event of one of the kinds; what comes before it is dropped."""
        while True:
            event = self.events.get(timeout=60)
            if isinstance(event, kinds) and not isinstance(event, ModelsLoading):
                return event

    def polish(self) -> None:
        """Begin, and return when the first tokens are being drawn."""
        self.worker.submit(line=POLISH)
        begun = self.until(Started)
        while not isinstance(begun, Started) or not begun.background:
            begun = self.until(Started)
        self.until(Progressed)

    @property
    def runtime(self) -> FocusRuntime:
        return self.operator.engine.focus

    def gists(self) -> torch.Tensor:
        with self.operator.engine.working():
            return self.runtime.tree.gists(1, 0, self.runtime.tree.count(1))


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    made = Screen(tmp_path)
    made.until(Finished)
    yield made
    assert made.worker.close(timeout=30)


def test_a_step_returns_before_polishing_ends_and_trace_and_undo_are_exact(screen: Screen) -> None:
    begun, before = screen.gists(), screen.runtime.state_hash()
    screen.polish()
    screen.worker.submit(line="focus step 1")
    screen.worker.submit(line="focus why 0")
    order = [screen.finished() for _ in range(3)]
    assert [each.command for each in order] == ["focus step", "focus why", "focus rebuild"]
    done = order[-1].result
    assert isinstance(done, PolishedGists) and len(done.blocks) == 16 and done.view.step == 3
    assert not torch.equal(screen.gists(), begun)
    after = screen.runtime.state_hash()
    screen.ask("focus back 1")
    assert screen.runtime.state_hash() == before and torch.equal(screen.gists(), begun)
    screen.ask("focus step 1")
    assert screen.worker.close(timeout=30)
    told = ["--store", str(screen.store.with_name("y.duckdb")), "--model", "tiny"]
    assert cli.run([*told, "focus", "trace", f"{screen.store}.trace", "--replay"]) == 0
    assert after != before


def test_stepping_back_meanwhile_stops_it_and_no_branch_is_begun(screen: Screen) -> None:
    screen.polish()
    screen.worker.submit(line="focus back 1")
    events = [screen.until(Finished, RequestCancelled) for _ in range(2)]
    stopped = next(each for each in events if isinstance(each, RequestCancelled))
    assert stopped.request.line == POLISH and "branch" in stopped.message
    assert [each.name for each in screen.runtime.branches()] == ["main"] and screen.runtime.state.step == 1


def test_escape_stops_what_was_asked_for_meanwhile_and_then_polishing(screen: Screen) -> None:
    screen.polish()
    screen.worker.submit(line="focus step 4000")
    screen.until(Started)
    stopped = [screen.worker.cancel()]
    screen.until(RequestCancelled)
    stopped.append(screen.worker.cancel())
    screen.until(RequestCancelled)
    assert [each.line for each in stopped if each is not None] == ["focus step 4000", POLISH]


def test_who_holds_the_working_context_for_long_lets_all_who_wait_go_first(tmp_path: Path) -> None:
    engine, order = Engine(Options(store=str(tmp_path / "x.duckdb"), model="tiny")), list[str]()

    def other(name: str) -> None:
        with engine.working():
            order.append(name)

    with engine.working():
        threads = [threading.Thread(target=other, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        while engine._open._waiting < 2:
            threading.Event().wait(0.001)
        assert not order
        engine.give_way()
        order.append("long")
        engine.give_way()
    for thread in threads:
        thread.join()
    assert sorted(order[:2]) == ["a", "b"] and order[2:] == ["long"]
    engine.close()
