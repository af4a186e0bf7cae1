"""The calibration pane: from the diagram to a single forecast, by group, and a recalibration there and back."""

from __future__ import annotations

from amgs_tui.panes.calibration import CalibrationPane
from amgs_tui.screens.chooser import Chooser
from tests.tui.app_drive import Drive, drive
from tests.tui.app_world import World


async def calibration(driven: Drive) -> CalibrationPane:
    await driven.press("5")
    pane = driven.app.pane("calibration")
    assert isinstance(pane, CalibrationPane)
    return pane


async def test_the_arrows_choose_a_bin_and_its_forecasts_are_listed_to_walk() -> None:
    world = World(consolidated=8)
    async with drive(world, (120, 40)) as driven:
        pane = await calibration(driven)
        assert len(pane.cases) == 8 and "1 open" in driven.text
        await driven.press("right")
        asked = [call.arguments for call in world.calls if call.verb == "calibration forecasts"][-1]
        assert asked == {"bins": 10, "bin": 2, "state": "settled"}  # the first bin has no outcome
        assert [case.outcome.prediction_id for case in pane.cases] == ["p3", "p4", "p5"]
        assert ".10 to .20" in driven.text and "▸1" in driven.text
        await driven.press("down")
        assert driven.app.selected == world.blocks[4].id
        await driven.press("left")
        assert len(pane.cases) == 8


async def test_enter_gives_the_forecasts_the_whole_pane() -> None:
    async with drive(World(consolidated=8), (120, 40)) as driven:
        await calibration(driven)
        assert "why did it stall" not in driven.text and "uncertainty" in driven.text
        await driven.press("enter")
        assert "why did it stall" in driven.text and "uncertainty" not in driven.text


async def test_the_forecasts_are_filtered_and_sorted_like_every_list() -> None:
    async with drive(World(consolidated=8), (120, 40)) as driven:
        pane = await calibration(driven)
        await driven.press("F")
        await driven.type("verdict:useful forecast<0.2", "enter")
        assert [case.outcome.prediction_id for case in pane.cases] == ["p1", "p3", "p5"]
        assert "3 of 8 latest forecasts" in driven.text


async def test_a_group_is_chosen_from_a_list_with_its_figures() -> None:
    world = World(consolidated=8)
    async with drive(world, (120, 40)) as driven:
        await calibration(driven)
        await driven.press("f")
        assert (
            isinstance(driven.app.screen, Chooser) and "2 of 3 forecasts settled, Brier .300" in driven.text
        )
        await driven.press("down", "enter")
        asked = [call.arguments for call in world.calls if call.verb == "calibration table"][-1]
        assert asked == {"bins": 10, "by": "frame", "value": "SELF"}
        assert "only frame SELF" in driven.text


async def test_a_recalibration_is_seen_first_then_carried_out_then_taken_back() -> None:
    world = World(consolidated=8)
    async with drive(world, (120, 40)) as driven:
        pane = await calibration(driven)
        await driven.press("c")
        assert "proposal, nothing has happened yet" in driven.text and "c carries it out" in driven.text
        assert [call.arguments for call in world.calls if call.verb == "calibrate"] == [{"dry_run": True}]
        await driven.press("d")
        assert pane.plan is None and "uncertainty" in driven.text
        await driven.press("c", "c")
        assert [call.arguments["dry_run"] for call in world.calls if call.verb == "calibrate"] == [
            True,
            True,
            False,
        ]
        assert pane.plan is None and "operation 9" in driven.text
        await driven.press("U")
        assert [call.arguments for call in world.calls if call.verb == "undo"] == [{"operation": 9}]
