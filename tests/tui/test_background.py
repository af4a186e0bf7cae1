"""What reads the window in the background: what is asked for meanwhile goes first, and it can be stopped."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from amgs_app.engine import Engine, Options
from amgs_app.session import Operator
from amgs_tui.engine_worker import EngineWorker
from amgs_tui.messages import (
    EngineEvent,
    Finished,
    ModelsLoading,
    Progressed,
    RequestCancelled,
    RequestEvent,
    Started,
    kind_of,
    run_through_registry,
)

TEXT = "The dome stalled at azimuth 214. The encoder slipped in the cold night and the motor stopped. "
ANSWER = "focus why --answer"


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

    def ask_about_answer(self) -> None:
        """Begin, and return when the first window is read."""
        self.worker.submit(line=ANSWER)
        begun = self.until(Started)
        while not isinstance(begun, Started) or not begun.background:
            begun = self.until(Started)
        self.until(Progressed)


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    made = Screen(tmp_path)
    made.until(Finished)
    yield made
    assert made.worker.close(timeout=30)


def test_a_look_returns_before_the_reading_ends(screen: Screen) -> None:
    screen.ask_about_answer()
    screen.worker.submit(line="focus view --texts")
    order = [screen.finished() for _ in range(2)]
    assert [each.command for each in order] == ["focus view", "focus why"]
    words = order[-1].result.words
    assert "".join(word.text for word in words) == screen.operator.engine.focus.snapshot().text


def test_a_step_meanwhile_stops_it_for_the_answer_is_another_one(screen: Screen) -> None:
    screen.ask_about_answer()
    screen.worker.submit(line="focus step 1")
    events = [screen.until(Finished, RequestCancelled) for _ in range(2)]
    stopped = next(each for each in events if isinstance(each, RequestCancelled))
    assert stopped.request.line == ANSWER and "has changed" in stopped.message


def test_escape_stops_what_was_asked_for_meanwhile_and_then_the_reading(screen: Screen) -> None:
    screen.ask_about_answer()
    screen.worker.submit(line="focus step 4000")
    screen.until(Started)
    stopped = [screen.worker.cancel()]
    screen.until(RequestCancelled)
    stopped.append(screen.worker.cancel())
    screen.until(RequestCancelled)
    assert [each.line for each in stopped if each is not None] == ["focus step 4000", ANSWER]


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
