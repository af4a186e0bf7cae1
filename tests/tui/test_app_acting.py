"""What every pane is good for at once: stations lead to panes, an empty pane leaves the room, words are explained."""

from __future__ import annotations

from tests.tui.app_drive import drive
from tests.tui.app_world import World


async def test_the_stations_of_the_loop_are_walked_and_opened() -> None:
    async with drive(World(raw=2, consolidated=4), (120, 40)) as driven:
        await driven.press("7", "right")
        assert "enter opens inbox" in driven.text
        await driven.press("left")
        assert "enter opens feedback" in driven.text, "the loop has no end"
        await driven.press("enter")
        assert driven.app.main.body.main == "calibration"
        await driven.press("7", "down")
        assert "enter opens" not in driven.text and "U undoes" in driven.text, "back in the journal"


async def test_an_empty_inbox_says_the_next_step_and_leaves_the_room() -> None:
    async with drive(World(raw=3), (120, 40)) as driven:
        inbox = driven.app.main.pane("inbox")
        assert inbox.size.height > 15
        await driven.press("c")
        assert inbox.size.height <= 7 and "The inbox is empty" in driven.text
        assert "assemble a frame" in driven.text and "ingest more" in driven.text
        await driven.press("U", "y", "1")
        assert inbox.size.height > 15, "there is something to show again"
