"""`tui`: the terminal it holds, the walk it times, and that a program which does not answer is not fast."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from amgs.errors import AmgsError
from amgs_app.operations.standard import standard
from benchmarks import tui
from benchmarks.terminal import Terminal


def test_a_walk_over_the_inbox_times_every_key_until_the_command_has_ended(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    tui._prepare(store, 900)
    with Terminal(["--store", str(store), "--model", "tiny"], 120, 40) as terminal:
        assert terminal.wait("Note 000000", 60) is not None
        times = tui._Walk(terminal).during(":consolidate\r", "onsolidated 900")
        assert times and all(0 < each < tui.SLOWEST * 1000 for each in times)
        assert terminal.wait("never drawn", 0.2) is None
        assert terminal.resident() > 20
    assert terminal._child.poll() is not None


def test_a_program_that_never_comes_to_its_end_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tui, "PATIENCE", 0.5)
    with (
        Terminal(["--store", str(tmp_path / "none.duckdb"), "--model", "tiny"], 80, 24) as terminal,
        pytest.raises(AmgsError, match="did not come"),
    ):
        tui._until(terminal, "a sign that is not drawn")


SLOW_TO_ANSWER = "import time; time.sleep(3); print('Consolidated 60', flush=True); time.sleep(60)"
AT_WORK = "while True: pass"


def test_a_program_that_others_keep_from_working_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tui, "PATIENCE", 1.5)
    with Terminal([SLOW_TO_ANSWER], 80, 24, program=(sys.executable, "-S", "-c")) as terminal:
        tui._until(terminal, "onsolidated 60")
    with (
        Terminal([AT_WORK], 80, 24, program=(sys.executable, "-S", "-c")) as terminal,
        pytest.raises(AmgsError, match="did not come"),
    ):
        tui._until(terminal, "onsolidated 60")


def test_a_program_that_does_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.terminal.LONGEST", 1.0)
    with Terminal(["input()"], 80, 24, program=(sys.executable, "-S", "-c")) as terminal:
        assert not terminal.come("onsolidated 60", tui.PATIENCE)


def test_the_map_is_drawn_from_a_real_working_context() -> None:
    view = tui._view(3_000)
    assert view.lifetime > 2_000 and tui._paint(view) > 0


def test_the_p95_is_of_all_keys() -> None:
    assert tui._p95([1.0] * 19 + [101.0]) == pytest.approx(6.0)
    assert tui._p95([7.0]) == 7.0


class Held(Terminal):
    """A program that holds one MiB more after each act."""

    def __init__(self) -> None:
        self.acts: list[str] = []
        self.rested = 0.0

    def press(self, keys: str) -> None:
        self.acts.append(keys)

    def read(self, seconds: float) -> None:
        self.rested = seconds

    def resident(self) -> float:
        assert self.rested >= tui.REST
        return float(len(self.acts))


def test_memory_is_read_at_rest_after_each_share_of_the_acts() -> None:
    held = Held()
    assert tui._course(held, ("1", "2", "3"), [0, 2, 4, 8]) == [0, 2, 4, 8]
    assert held.acts == ["1", "2", "3", "1", "2", "3", "1", "2"]
    assert tui._rested(Held(), [0, 2, 4], 12.0) == [0, 0, 0]


def test_what_the_hour_asks_of_the_shell_are_commands_that_it_knows() -> None:
    typed = [line.removeprefix(":") for line in (*tui.ENGINE, *tui.SCREEN) if line.endswith("\r")]
    assert len(typed) == len(tui.ENGINE) + 2
    assert all(standard().parse(line.strip()) is not None for line in typed)
