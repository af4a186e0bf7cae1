"""Sources on the screen, on the real engine: chosen from a list, read again as a plan first, and blocks by hand."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input

from amgs_tui.dialogs.chooser import Chooser
from amgs_tui.panes.inbox import InboxPane
from tests.tui.app_drive import Drive
from tests.tui.real_world import on_store


def line_of(driven: Drive) -> str:
    """What stands in the command line."""
    return driven.app.query_one("#prompt-input", Input).value


async def test_a_source_is_chosen_read_again_as_a_plan_and_then_revised(tmp_path: Path, notes: Path) -> None:
    changed = min(notes.glob("*.md"))
    async with on_store(tmp_path / "s.duckdb", notes) as driven:
        pane = driven.pane(InboxPane)
        changed.write_text(changed.read_text() + "\nA sentence that was not there.\n")
        await driven.press("s")
        assert isinstance(driven.app.screen, Chooser) and changed.name in driven.text
        assert "4 sources" in driven.text
        await driven.press("enter")
        assert "keep its folder in sync" in driven.text
        await driven.press("down", "enter")
        assert pane.revision is not None and "superseded" in driven.text
        assert "nothing has changed yet" in driven.text and "4 raw" in driven.lines[0]
        assert line_of(driven).startswith("source update ") and changed.name in line_of(driven)
        await driven.press("enter")
        assert "revision #2" in driven.text and "superseded" in driven.text
        await driven.press("d")
        assert "revision #2" not in driven.text and "raw · press c to consolidate" in driven.text
