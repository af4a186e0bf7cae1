"""Once round the loop on the real engines with the tiny model, by keys alone."""

from __future__ import annotations

from pathlib import Path

from amgs_app.engine import Engine
from amgs_app.session import Operator
from amgs_tui.dialogs.reader import Fatal
from amgs_tui.panes.focus import FocusPane
from amgs_tui.panes.frame import FramePane
from tests.tui.real_world import on_session, on_store, options


async def test_from_a_folder_of_notes_to_a_stepped_decode(tmp_path: Path, notes: Path) -> None:
    async with on_store(tmp_path / "s.duckdb", notes) as driven:
        assert "4 raw" in driven.lines[0] and "press c to consolidate" in driven.text
        await driven.press("c")
        assert "0 raw" in driven.lines[0] and "The inbox is empty" in driven.text
        await driven.press("2", "e")
        await driven.type("why did the dome stall?", "enter")
        frame = driven.pane(FramePane)
        assert frame.frame is not None and frame.frame.selected
        await driven.press("u")
        await driven.press("o")
        focus = driven.pane(FocusPane)
        assert focus.view is not None
        assert driven.app.main.focused_pane is focus and focus.view.question == "why did the dome stall?"
        await driven.press("full_stop", "full_stop", "comma")
        assert focus.view.step == 1
        await driven.press("home")
        assert focus.why is not None and focus.why.entry.position == 0
        await driven.press("5")
        assert "1 of" in driven.text and "A fault in this picture" not in driven.text
        await driven.press("7")
        await driven.press("U")  # the verdict first, then the consolidation
        assert "useful, forecast" in driven.text
        await driven.press("y")
        assert "4 blocks" in driven.lines[0]
        await driven.press("U")
        assert "#2: consolidate 4 blocks" in driven.text
        await driven.press("y")
        assert "4 raw" in driven.lines[0]


async def test_what_the_operator_did_is_a_script_and_what_the_screen_looked_at_is_not(
    tmp_path: Path, notes: Path
) -> None:
    sessions: list[Operator] = []

    def make() -> Operator:
        sessions.append(Operator(Engine(options(tmp_path / "s.duckdb", notes))))
        return sessions[0]

    async with on_session(make, (200, 60)) as driven:
        await driven.press("c")
        await driven.press("2", "e")
        await driven.type("dome", "enter")
        await driven.press("u")
    script = [call.line() for call in sessions[0].history]
    assert script[:3] == ["ingest", "consolidate", "frame assemble --query dome"]
    assert len(script) == 4 and script[3].startswith("feedback useful ")


async def test_a_damaged_store_is_told_and_only_the_door_is_left(tmp_path: Path, notes: Path) -> None:
    store = tmp_path / "s.duckdb"
    store.write_bytes(b"this is no store at all" * 400)
    async with on_store(store, notes, (80, 24)) as driven:
        assert isinstance(driven.app.screen, Fatal)
        await driven.press("q")
    assert driven.app.return_code == 4
