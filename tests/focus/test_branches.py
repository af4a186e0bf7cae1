"""Branches: nothing that was decoded is lost, every branch comes back exactly, and the trace tells them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import FocusError, TraceError, WindowBudgetError
from amgs_focus.records import NodeRef, Segment, StepRecord
from amgs_focus.runtime.replay import header_of, replay
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.trace.events import Trace
from amgs_focus.trace.lineage import diff, lineage
from amgs_focus.trace.trace import TraceWriter, read
from tests.focus.focus_world import notes, small_runtime, traced


def told(writer: TraceWriter) -> Trace:
    return read(writer.raw(), allow_incomplete=True)


def a_gist(runtime: FocusRuntime) -> NodeRef:
    return next(entry.node for entry in runtime.context.entries() if entry.level)


DOINGS = st.sampled_from(["step", "back", "refocus", "pin", "ask", "ingest", "set", "branch", "switch"])


def do(runtime: FocusRuntime, doing: str, number: int) -> None:
    """One thing that an operator may do, where it is possible."""
    if doing == "step" and not runtime.state.finished:
        runtime.decode(2)
    elif doing == "back" and runtime.state.step:
        runtime.back(min(3, runtime.state.step))
    elif doing == "refocus":
        runtime.refocus()
    elif doing == "pin":
        runtime.override(runtime.context.entries()[0].node, "pin" if number % 2 else None)
    elif doing == "ask":
        runtime.question("where?")
    elif doing == "ingest":
        runtime.ingest([Segment(f"a note more, {number}. ", source=f"more-{number}")])
    elif doing == "set":
        runtime.configure("tau_expand", f"0.{number % 9 + 1}")
    elif doing == "branch":
        runtime.branch(at=min(number, runtime.steps_known))
    elif doing == "switch":
        names = [branch.name for branch in runtime.branches()]
        runtime.switch(names[number % len(names)])


@given(st.lists(DOINGS, max_size=6), st.lists(DOINGS.filter(lambda one: one != "switch"), max_size=8))
def test_a_branch_that_was_left_comes_back_exactly(before: list[str], after: list[str]) -> None:
    runtime, writer = traced()
    for number, doing in enumerate(before):
        do(runtime, doing, number)
    runtime.switch(runtime.branch_name)
    name, was, spans = runtime.branch_name, runtime.state_hash(), runtime.tree.spans()
    runtime.branch("aside")
    for number, doing in enumerate(after):
        do(runtime, doing, number)
    runtime.switch(name)
    assert runtime.state_hash() == was
    assert runtime.tree.spans() == spans
    assert runtime.context.lifetime == runtime.tree.length
    runtime.context.check()
    found = lineage(told(writer))
    assert [(one.name, one.parent, one.at, one.steps) for one in runtime.branches()] == [
        (line.name, line.parent, line.at, len(line.steps)) for line in found.lines.values()
    ]
    assert found.active == runtime.branch_name
    assert replay(told(writer), small_runtime()) == len(told(writer).steps)


def test_what_is_done_in_the_past_begins_a_branch_and_the_old_one_stays() -> None:
    runtime, _ = traced()
    old = [record.state_hash for record in runtime.decode(8)]
    runtime.back(5)
    view = runtime.override(a_gist(runtime), "expand")
    assert (view.branch, view.position, view.head) == ("branch-1", 3, 3)
    runtime.decode(4)
    main, aside = runtime.branches()
    assert (main.name, main.steps, main.active) == ("main", 8, False)
    assert (aside.parent, aside.at, aside.steps, aside.active) == ("main", 3, 7, True)
    assert runtime.switch("main").position == 8
    runtime.back(4)
    assert [record.state_hash for record in runtime.decode(4)] == old[4:]


def test_a_branch_can_begin_at_any_step_and_names_are_checked() -> None:
    runtime, _ = traced()
    hashes = [record.state_hash for record in runtime.decode(6)]
    view = runtime.branch("early", at=2)
    assert (view.branch, view.position, runtime.state_hash()) == ("early", 2, hashes[1])
    with pytest.raises(FocusError, match="already"):
        runtime.branch("early")
    with pytest.raises(FocusError, match="steps 0 to 2"):
        runtime.branch("other", at=5)
    with pytest.raises(FocusError, match="main, early"):
        runtime.switch("late")
    assert (runtime.branch_name, runtime.state_hash()) == ("early", hashes[1])


def test_a_smaller_window_makes_room_and_one_that_is_too_small_changes_nothing() -> None:
    runtime, _ = traced()
    runtime.decode(2)
    view = runtime.configure("window", "40")
    assert view.window == 40 and view.used <= 40
    runtime.context.check()
    before = runtime.state_hash()
    with pytest.raises(WindowBudgetError):
        runtime.configure("window", "12")
    assert runtime.state_hash() == before
    assert runtime.configure("window", "96").window == 96
    assert runtime.step().used <= 96


def test_the_difference_of_two_branches_is_told_up_to_the_first_decision() -> None:
    runtime, writer = traced()
    runtime.decode(9)
    runtime.branch("pinned", at=3)
    node = a_gist(runtime)
    runtime.override(node, "expand")
    runtime.decode(6)
    found = lineage(told(writer))
    told_apart = diff(found.line("main"), found.line("pinned"))
    assert (told_apart.shared, told_apart.what) == (3, "override")
    assert told_apart.theirs_did == f"expand {node}"
    assert told_apart.refocus_step == 4
    changed = told_apart.changed[0]
    assert "applied" in (changed.ours, changed.theirs)
    assert any(one.node == node and one.theirs == "applied" for one in told_apart.changed)
    steps = {name: found.line(name).steps for name in ("main", "pinned")}
    assert told_apart.ours_text == "".join(step.text for step in steps["main"][3:])
    assert told_apart.theirs_text == "".join(step.text for step in steps["pinned"][3:])


def test_a_trace_that_changes_the_past_without_a_branch_is_refused() -> None:
    runtime, writer = traced()
    runtime.decode(3)
    trace = told(writer)
    back = trace.events[-1]
    assert isinstance(back.record, StepRecord)
    from amgs_focus.trace.events import QuestionRecord, SteppedBack, TraceEvent

    forged = Trace(
        trace.header,
        (*trace.events, TraceEvent(90, SteppedBack(2, "")), TraceEvent(91, QuestionRecord("?", ""))),
        False,
    )
    with pytest.raises(TraceError, match="Line 91"):
        lineage(forged)


class FullDisk:
    """A file on a disk that is full after so many characters."""

    def __init__(self, path: Path, room: int) -> None:
        self.file, self.room, self.closed = path.open("w", encoding="utf-8", newline="\n"), room, False

    def write(self, text: str) -> int:
        kept = text[: max(0, self.room)]
        self.room -= len(text)
        self.file.write(kept)
        self.file.flush()
        if len(kept) < len(text):
            raise OSError(28, "No space left on device")
        return len(kept)

    def flush(self) -> None:
        self.file.flush()

    def close(self) -> None:
        self.closed = True
        self.file.close()


def test_on_a_full_disk_the_run_goes_on_and_its_trace_ends_with_a_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    writer = TraceWriter(path, header_of(small_runtime()))
    runtime = small_runtime(trace=writer)
    runtime.ingest(notes())
    size = path.stat().st_size
    writer._file.close()
    writer._file = FullDisk(tmp_path / "full", 300)  # type: ignore[assignment]
    with pytest.raises(TraceError, match="No space left"):
        runtime.decode(5)
    assert runtime.state.step == 1
    assert len(runtime.decode(5)) == 5
    writer.close()
    held = path.read_bytes()[:size] + (tmp_path / "full").read_bytes()
    assert not held.endswith(b"\n")
    whole = read(held, allow_incomplete=True)
    assert replay(whole, small_runtime()) == len(whole.steps)
