"""What a screen of 80 columns spends its cells on."""

from __future__ import annotations

from textual.widgets import OptionList

from amgs_tui.dialogs.dialog import Confirm
from amgs_tui.dialogs.finder import Finder
from tests.tui.app_drive import drive
from tests.tui.app_world import World


async def test_the_finder_offers_the_latest_blocks_before_anything_is_typed() -> None:
    world = World(consolidated=6)
    async with drive(world, (80, 24)) as driven:
        await driven.press("slash")
        assert isinstance(driven.app.screen, Finder)
        listed = [option.id for option in driven.app.screen.query_one(OptionList).options]
        assert listed == [block.id for block in world.consolidated]
        assert "The latest 6 blocks; type to search all blocks." in driven.text
        await driven.type("mirror")
        assert "Mirror cleaning procedure" in driven.text and "The latest" not in driven.text
        await driven.press(*["backspace"] * len("mirror"))
        assert "The latest 6 blocks" in driven.text
        await driven.press("down", "enter")
        assert driven.app.selected == listed[1]


async def test_a_lone_pane_opens_on_the_overview_where_the_inbox_is_empty() -> None:
    async with drive(World(raw=0, consolidated=3), (60, 15)) as driven:
        assert driven.app.main.body.shown == ("overview",)
        await driven.press("1")
        assert "The inbox is empty" in driven.text
    async with drive(World(raw=1, consolidated=3), (60, 15)) as driven:
        assert driven.app.main.body.shown == ("inbox",)


async def test_no_notice_lies_over_a_question() -> None:
    async with drive(World(consolidated=3), (80, 24)) as driven:
        await driven.press("colon")
        await driven.type("block show " + "none" * 30, "enter")
        assert "No such block" in driven.text
        await driven.press("R", "q")
        assert isinstance(driven.app.screen, Confirm)
        box = driven.dialog
        asked = "\n".join(line[box.x : box.right] for line in driven.lines[box.y : box.bottom])
        assert "y yes    n no" in asked and "No such block" not in asked and "nonenone" not in asked
