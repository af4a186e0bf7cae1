"""What a screen of 80 columns spends its cells on."""

from __future__ import annotations

from amgs_tui.dialogs.reader import Confirm
from tests.tui.app_drive import drive
from tests.tui.app_world import World


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
