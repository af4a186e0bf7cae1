"""What leaving asks, what it keeps, and how the next start goes on from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_tui.dialogs.palette import ActionPalette
from amgs_tui.dialogs.reader import Confirm
from amgs_tui.kept_state import KeptState, describe_kept_state, drafts_on
from amgs_tui.panes.inbox import InboxPane
from tests.tui.app_drive import drive
from tests.tui.app_world import World


async def test_a_draft_of_a_store_in_memory_is_asked_about_where_it_holds_corrections() -> None:
    async with drive(World(raw=2), (120, 40), store_name=":memory:") as driven:
        await driven.press("d")
        assert not driven.app.main.pane("inbox").drafted
        await driven.press("x", "q")
        assert isinstance(driven.app.screen, Confirm) and "corrections to 1 block" in driven.text
        await driven.press("n")
        assert driven.app.main.is_in_front
        await driven.press("q", "y")
    assert driven.app.return_code == 0


async def test_corrections_that_were_not_applied_are_there_at_the_next_start() -> None:
    world = World(raw=2, consolidated=4)
    async with drive(world, (120, 40)) as driven:
        await driven.press("1", "d", "x")
        left = {pane.NAME: pane.drafted for pane in driven.app.main.panes if pane.drafted}
        assert left == {"inbox": "corrections to 1 block"}
        assert describe_kept_state(None, drafts_on(driven.app.main), driven.app.state) == [
            f"Your {each} are saved: the next start goes on with them." for each in left.values()
        ]
        await driven.press("q")
    assert driven.app.return_code == 0, "nothing is lost, so nothing is asked"
    before = world.session
    assert before.draft is not None
    async with drive(world, (120, 40)) as driven:
        assert "Corrections to 1 block: d in pane 1" in driven.text
        await driven.press("1", "d")
        inbox = driven.pane(InboxPane)
        assert inbox.draft is not None
        assert inbox.draft.edits == before.draft.edits
        await driven.press("1", "0")
    async with drive(world, (120, 40)) as driven:
        assert "Kept from last time" not in driven.text, "applied, and taken back"


async def test_a_recording_and_a_half_typed_line_are_asked_about() -> None:
    async with drive(World(consolidated=3), (120, 40)) as driven:
        await driven.press("R", "colon")
        await driven.type("graph sta")
        await driven.app.action_quit()
        await driven.pilot.pause()
        assert isinstance(driven.app.screen, Confirm)
        assert "not entered yet: graph sta" in driven.text and "recording is not saved" in driven.text


async def test_the_next_start_has_the_selection_the_theme_and_what_was_used_last(tmp_path: Path) -> None:
    world, file = World(consolidated=4), tmp_path / "state" / "screen.json"
    async with drive(world, (120, 40), kept_state=KeptState(file)) as driven:
        await driven.press("slash")
        await driven.type("mirror", "enter")
        chosen = driven.app.selected
        await driven.press("t", "ctrl+p")
        await driven.type("graph stats", "enter", "escape")
        theme = driven.app.theme
        driven.app.keep_state()
    assert chosen is not None
    async with drive(world, (120, 40), kept_state=KeptState(file)) as driven:
        assert driven.app.selected == chosen and driven.app.theme == theme
        assert "Selected as you left it: " in driven.text
        await driven.press("ctrl+p")
        palette = driven.app.screen
        assert isinstance(palette, ActionPalette) and palette._listed[0].name == "graph stats"
    other = World(consolidated=3)
    async with drive(other, (120, 40), kept_state=KeptState(file)) as driven:
        assert driven.app.selected is None, "a selection belongs to its store"
        assert driven.app.theme == theme, "a new store begins with the theme that was chosen last"


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"recent": 3, "theme": [], "selected": [1]}', '{"selected": {"a": 1}}']
)
def test_a_damaged_file_is_as_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "screen.json"
    file.write_text(text)
    kept = KeptState(file)
    assert (kept.recent, kept.theme, kept.find_selected("a")) == ([], "", "")
    kept.write("a", "block")
    assert KeptState(file).find_selected("a") == "block"
