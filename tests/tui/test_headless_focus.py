"""The operator's word, branches, traces and telemetry from the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amgs.errors import UsageError
from amgs_app.calls.registry import standard
from amgs_app.engine import Engine, Options
from amgs_app.render.canvas import Canvas
from amgs_app.render.catalogue import draw, table_of
from amgs_app.results.focus import Replayed
from amgs_app.session import Operator
from amgs_app.shell.output import write
from amgs_app.terminal.line import LineError
from amgs_focus.errors import TraceError
from amgs_focus.views import REASON_SENTENCES
from tests.tui.real_world import Desk, say


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    made("focus open DIR/night.txt --question why")
    yield made
    made.session.close()


def test_a_closed_trace_replays_and_its_branches_can_be_compared_without_a_model(desk: Desk) -> None:
    trace = desk.folder / "x.duckdb.trace"
    desk("focus step 10")
    desk("focus branch other --at 3")
    desk("focus set n_diff 0")
    desk("focus step 6")
    desk.session.close()
    with Operator(Engine(Options(store=":memory:", model="tiny"))) as session:
        parted = say(session, f"focus branch --diff {trace}:main --diff {trace}:other")
        assert (parted.shared, parted.what) == (3, "setting")
        assert say(session, f"focus trace {trace}:main --telemetry").branch == "main"
        assert not session.engine.model_is_loaded
        done = say(session, f"focus trace {trace} --replay")
        assert isinstance(done, Replayed)
        assert (done.steps, done.branches, done.complete) == (16, 2, True)
        with pytest.raises(UsageError, match="neither a branch"):
            say(session, "focus branch --diff main --diff other")
        with pytest.raises(TraceError, match="main, other"):
            say(session, f"focus branch --diff {trace}:main --diff {trace}:third")


def test_without_a_lifetime_each_verb_says_how_to_open_one() -> None:
    with Operator(Engine(Options(store=":memory:", model="tiny"))) as session:
        for line in (
            "focus steer 0 pin",
            "focus branch",
            "focus branch --list",
            "focus trace --telemetry",
            "focus set n_diff 1",
        ):
            with pytest.raises(UsageError, match="No working context is open") as refused:
                say(session, line)
            for way in ("amgs shell", "amgs run FILE", "--lifetime DIR"):
                assert way in refused.value.way_out


LINES = [
    "focus steer 0 forbid --release",
    "focus steer 0 pin",
    "focus steer 0 expand",
    "focus measure 0",
    "focus set window 480",
    "focus branch",
    "focus branch --list",
    "focus branch main --switch",
    "focus branch main --diff branch-1",
    "focus trace DIR/x.duckdb.trace",
    "focus trace DIR/x.duckdb.trace --replay",
    "focus trace --telemetry",
]


def test_every_verb_has_a_table_and_json_and_what_the_pane_shows_a_picture(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk("focus steer 0 forbid")
    desk("focus step 34")
    desk("focus branch branch-1 --at 30")
    desk("focus set n_diff 2")
    desk("focus step 6")
    for line in LINES:
        call = standard().parse(line)
        result = desk(line)
        for form in ("table", "json"):
            write(result, form)
            assert capsys.readouterr().out.strip()
        if call is not None and call.operation.pane == "focus":
            assert draw(desk.session, result, Canvas(100, 30), desk.session.look_at).plain.count("\n") == 29


def test_the_answer_says_what_it_depends_on_and_is_decoded_again_without_a_block(desk: Desk) -> None:
    view = desk("focus step 12").view
    depends = desk("focus why --answer")
    assert "".join(word.text for word in depends.words) == view.text and len(depends.blocks) == len(depends.gains)
    shut = depends.blocks[0]
    again = desk(f"focus branch --without {shut}").view
    assert not any(entry.node == shut for entry in again.entries)
    assert [(branch.name, branch.text) for branch in again.branches if not branch.active] == [("main", view.text)]
    assert desk("focus branch main --switch").view.text == view.text
    compared = desk("focus branch main --diff branch-1")
    first, second, *_ = table_of(compared).rows
    assert (first[0], second[0]) == ("main", "branch-1")


@pytest.mark.parametrize(
    ("gone", "now"),
    [
        ("tokens 0 20", "view"),
        ("spans", "view"),
        ("describe 0 trust 1", "set"),
        ("check life", "open"),
        ("refocus", "step"),
        ("feedback", "measure"),
        ("switch main", "branch"),
        ("diff a b", "branch"),
        ("resume", "trace"),
        ("telemetry", "trace"),
        ("restore", "forget"),
        ("purge", "forget"),
        ("tag L1#0 keep", "forget"),
    ],
)
def test_a_command_that_left_names_the_one_that_has_it_as_an_option(gone: str, now: str) -> None:
    with pytest.raises(LineError) as refused:
        standard().parse(f"focus {gone}")
    assert refused.value.way_out == f"Did you mean focus {now}?"


def test_a_trace_alone_is_the_run_at_hand(desk: Desk) -> None:
    desk("focus step 3")
    assert desk("focus trace").branches[0].steps == 3


def test_the_manual_runs_as_it_stands(desk: Desk) -> None:
    manual = (Path(__file__).parents[2] / "docs" / "focus.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```amgs\n(.*?)```", manual, flags=re.S) for line in block.splitlines()]
    assert len(lines) > 15
    for line in lines:
        desk(line.replace("night.txt", "DIR/night.txt"))
    assert [one.name for one in desk("focus branch --list").branches] == ["main", "branch-1", "early"]
    for reason in REASON_SENTENCES:
        assert f"| `{reason}` |" in manual


def test_one_command_at_a_time_goes_on_where_the_last_one_stood(tmp_path: Path) -> None:
    (tmp_path / "night.txt").write_text("the lamp was lit again and the night was long. " * 40)

    def alone(*lines: str) -> Any:
        with Operator(Engine(Options(store=str(tmp_path / "s.duckdb"), model="tiny"))) as session:
            return [say(session, line) for line in lines][-1]

    assert alone("focus view").trace is None
    with pytest.raises(UsageError, match="no earlier working context"):
        alone("focus trace --resume")
    alone(f"focus open {tmp_path / 'night.txt'} --question 'which lamp?'", "focus step 5", "focus steer 0 pin")
    with pytest.raises(UsageError) as refused:
        alone("focus step")
    assert "`focus trace --resume` continues the last context" in refused.value.way_out
    assert alone("focus view").trace.question == "which lamp?"
    resumed = alone("focus trace --resume")
    assert (resumed.steps, resumed.view.step) == (5, 5)
    assert resumed.view.entries[0].pinned
    again = alone("focus trace --resume", "focus step 3")
    assert again.view.step == 8
    with pytest.raises(UsageError, match="open already"):
        alone("focus trace --resume", "focus trace --resume")
