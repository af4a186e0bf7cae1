"""A recording is exactly what was done: keys on the real engine, replayed headless, give the same frame and context."""

from __future__ import annotations

from pathlib import Path

from amgs_app.calls.registry import standard
from amgs_app.engine import Engine
from amgs_app.session import Operator
from amgs_app.shell.script import parse_script, run_steps
from amgs_tui.panes.frame import FramePane
from tests.tui.real_world import on_session, options, write_notes

QUESTION = "why did the dome stall?"


def session_on(store: Path, notes: Path) -> Operator:
    return Operator(Engine(options(store, notes)))


def replayed(session: Operator, script: Path) -> None:
    steps = parse_script(standard(), script.read_text(encoding="utf-8"), script.name)
    run_steps(session, steps, script.name)


async def test_a_recording_replays_moved_weights_and_what_was_opened(tmp_path: Path) -> None:
    notes, script = write_notes(tmp_path / "notes"), tmp_path / "recording.amgs"
    sessions: list[Operator] = []

    def make() -> Operator:
        sessions.append(session_on(tmp_path / "screen.duckdb", notes))
        return sessions[0]

    async with on_session(make, (160, 50)) as driven:
        await driven.press("c")
        await driven.press("2", "e")
        await driven.type(QUESTION, "enter")
        frame = driven.pane(FramePane)
        await driven.press("right", "plus")
        await driven.press("plus")
        assert frame.frame is not None
        weighed = frame.frame
        await driven.press("o")
        await driven.press("full_stop", "full_stop")
        await driven.press("R")
        done = sessions[0]
        recorded = [call.line() for call in done.history]
        script.write_text("".join(f"{line}\n" for line in recorded if line != "save"))
        context, opened = done.engine.focus.snapshot(), done.last_frame
    assert sum(line.startswith("frame assemble") for line in recorded) == 2  # the question, the weights at the end
    assert opened is not None
    assert opened.text == weighed.text
    with session_on(tmp_path / "replay.duckdb", notes) as again:
        replayed(again, script)
        assert again.last_frame is not None
        assert again.last_frame.weights == weighed.weights
        assert again.last_frame.text == weighed.text
        assert [c.block.id for c in again.last_frame.candidates] == [c.block.id for c in weighed.candidates]
        replay = again.engine.focus.snapshot()
        assert (replay.text, replay.step, replay.entries) == (context.text, context.step, context.entries)
