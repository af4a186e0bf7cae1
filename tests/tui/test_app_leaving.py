"""What leaving asks, what it keeps, and how the next start goes on from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_tui.dialogs.dialog import Confirm
from amgs_tui.dialogs.palette import ActionPalette
from amgs_tui.kept_state import MOST_STORES, KeptState, drafts_on, what_is_kept
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
        assert driven.app.main.in_front
        await driven.press("q", "y")
    assert driven.app.return_code == 0


async def test_corrections_that_were_not_applied_are_there_at_the_next_start() -> None:
    world = World(raw=2, consolidated=4)
    async with drive(world, (120, 40)) as driven:
        await driven.press("1", "d", "x")
        left = {pane.NAME: pane.drafted for pane in driven.app.main.panes if pane.drafted}
        assert left == {"inbox": "corrections to 1 block"}
        assert what_is_kept(None, drafts_on(driven.app.main), driven.app.state) == [
            f"Your {each} are kept: the next start goes on with them." for each in left.values()
        ]
        await driven.press("q")
    assert driven.app.return_code == 0, "nothing is lost, so nothing is asked"
    before = world.session
    assert before.draft is not None
    async with drive(world, (120, 40)) as driven:
        assert "Corrections to 1 block: d in pane 1" in driven.text
        await driven.press("1", "d")
        inbox = driven.app.main.pane("inbox")
        assert isinstance(inbox, InboxPane) and inbox.draft is not None
        assert inbox.draft.edits == before.draft.edits
        await driven.press("1", "0")
    async with drive(world, (120, 40)) as driven:
        assert "Kept from last time" not in driven.text, "applied, and taken back"


async def test_corrections_to_a_block_that_no_longer_waits_are_not_offered() -> None:
    world = World(raw=2)
    async with drive(world, (120, 40)) as driven:
        await driven.press("d", "x")
        driven.app.run_line("consolidate")
        await driven.settle()
    async with drive(world, (120, 40)) as driven:
        assert "Kept from last time" not in driven.text


def test_a_damaged_file_of_drafts_is_as_none() -> None:
    world = World(raw=2)
    with world.open() as operator:
        beside = world.store.with_name(f"{world.store.name}.drafts")
        for text in ("", "[]", '[{"$tuple": [3]}, 4]', '{"$type": "os:system"}'):
            beside.write_text(text)
            assert operator.take_up_drafts() == ()
        assert operator.draft is None


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
    assert (kept.recent, kept.theme, kept.find_selected("a")) == ([], "", "")
    kept.write("a", "block")
    assert KeptState(file).find_selected("a") == "block"


def test_stores_of_another_workstation_stay_and_the_oldest_go(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    one, two = KeptState(file), KeptState(file)
    one.write("a", "1")
    two.write("b", "2")
    assert [KeptState(file).find_selected(name) for name in "ab"] == ["1", "2"]
    for number in range(MOST_STORES):
        two.write(f"store {number}", "3")
    assert KeptState(file).find_selected("a") == "" and KeptState(file).find_selected("store 0") == "3"
    two.write("store 0", "")
    assert KeptState(file).find_selected("store 0") == ""
