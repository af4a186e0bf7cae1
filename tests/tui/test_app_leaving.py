"""What leaving asks, what it keeps, and how the next start goes on from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_tui.dialogs.dialog import Confirm
from amgs_tui.dialogs.palette import ActionPalette
from amgs_tui.kept_state import MOST_STORES, KeptState
from tests.tui.app_drive import drive
from tests.tui.app_world import World


async def test_a_draft_without_corrections_is_not_asked_about_and_one_with_them_is() -> None:
    async with drive(World(raw=2), (120, 40)) as driven:
        await driven.press("d")
        assert not driven.app.main.pane("inbox").unsaved
        await driven.press("x", "q")
        assert isinstance(driven.app.screen, Confirm) and "corrections to 1 block" in driven.text
        await driven.press("n")
        assert driven.app.main.in_front
        await driven.press("q", "y")
    assert driven.app.return_code == 0


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
    async with drive(world, (120, 40), kept=KeptState(file)) as driven:
        await driven.press("slash")
        await driven.type("mirror", "enter")
        chosen = driven.app.selected
        await driven.press("t", "ctrl+p")
        await driven.type("graph stats", "enter", "escape")
        theme = driven.app.theme
        driven.app.keep_state()
    assert chosen is not None
    async with drive(world, (120, 40), kept=KeptState(file)) as driven:
        assert driven.app.selected == chosen and driven.app.theme == theme
        assert "Selected as you left it: " in driven.text
        await driven.press("ctrl+p")
        palette = driven.app.screen
        assert isinstance(palette, ActionPalette) and palette._listed[0].name == "graph stats"
    other = World(consolidated=3)
    async with drive(other, (120, 40), kept=KeptState(file)) as driven:
        assert driven.app.selected is None, "a selection belongs to its store"
        assert driven.app.theme == theme, "a new store begins with the theme that was chosen last"


async def test_a_block_that_is_gone_is_not_selected_and_nothing_is_said(tmp_path: Path) -> None:
    world, kept = World(consolidated=3), KeptState(tmp_path / "screen.json")
    kept.write(str(world.store), "0" * 64)
    async with drive(world, (120, 40), kept=kept) as driven:
        assert driven.app.selected is None and "as you left it" not in driven.text


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"recent": 3, "theme": [], "selected": [1]}', '{"selected": {"a": 1}}']
)
def test_a_damaged_file_is_as_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "screen.json"
    file.write_text(text)
    kept = KeptState(file)
    assert (kept.recent, kept.theme, kept.selected_in("a")) == ([], "", "")
    kept.write("a", "block")
    assert KeptState(file).selected_in("a") == "block"


def test_stores_of_another_workstation_stay_and_the_oldest_go(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    one, two = KeptState(file), KeptState(file)
    one.write("a", "1")
    two.write("b", "2")
    assert [KeptState(file).selected_in(name) for name in "ab"] == ["1", "2"]
    for number in range(MOST_STORES):
        two.write(f"store {number}", "3")
    assert KeptState(file).selected_in("a") == "" and KeptState(file).selected_in("store 0") == "3"
    two.write("store 0", "")
    assert KeptState(file).selected_in("store 0") == ""
