"""The calibration pane: from the diagram to a single forecast, by group, and a recalibration there and back."""

from __future__ import annotations

from amgs_tui.panes.calibration import CalibrationPane
from tests.tui.app_drive import Drive, drive
from tests.tui.app_world import World

QUESTIONS = (
    "why did the dome stall",
    "who sends the encoder",
    "when is the road open",
    "what does Ilse value",
    "how is the mirror washed",
    "what is the budget for",
    "when do the pupils come",
)


def judged() -> World:
    """A memory that was asked a few times, and told that only the first block was useful; of the last, nothing."""
    world = World(consolidated=8)
    with world.open() as session:
        for question in QUESTIONS:
            frame = session.engine.memory.assemble("ATTENTION", query=question)
            for place, block in enumerate(frame.selected[:-1]):
                session.engine.memory.feedback(block.block.id, useful=place == 0)
    return world


async def calibration(driven: Drive) -> CalibrationPane:
    await driven.press("5")
    return driven.pane(CalibrationPane)


async def test_the_arrows_choose_a_bin_and_its_forecasts_are_listed_to_walk() -> None:
    world = judged()
    with world.open() as session:
        forecasts = len(session.engine.memory.outcomes(1000))
    async with drive(world, (120, 40)) as driven:
        pane = await calibration(driven)
        every = len(pane.items)
        assert every == forecasts and f"{len(QUESTIONS)} open" in driven.text
        await driven.press("right")
        asked = world.asked("calibration")[-1]
        assert asked["view"] == "forecasts"
        assert asked["state"] == "settled" and asked["bins"] == 10
        low, high = (asked["bin"] - 1) / 10, asked["bin"] / 10
        assert pane.items and all(low <= case.outcome.predicted <= high for case in pane.items)
        await driven.press("down")
        assert driven.app.selected == pane.items[1].outcome.block_id
        await driven.press("left")
        assert len(pane.items) == every


async def test_a_recalibration_is_seen_first_then_carried_out_then_taken_back() -> None:
    world = judged()
    async with drive(world, (120, 40)) as driven:
        pane = await calibration(driven)
        before = {block.id: block.confidence for block in world.consolidated}
        await driven.press("c")
        assert pane.plan is not None and "would change" in driven.text
        assert {block.id: block.confidence for block in world.consolidated} == before
        await driven.press("d")
        assert "edges" not in driven.lines[2] and "uncertainty" in driven.text
        await driven.press("c")
        await driven.press("c")
        assert [asked["dry_run"] for asked in world.asked("calibrate")] == [True, True, False]
        done = world.operations[0]
        assert done.kind == "calibrate" and f"operation {done.id}" in driven.text
        assert {block.id: block.confidence for block in world.consolidated} == before
        assert world.session.engine.memory.calibration.forecast([0.5]) != [0.5]
        await driven.press("U")
        assert "Undo this change?" in driven.text
        await driven.press("y")
        assert world.asked("undo")[-1] == {"operation": done.id, "yes": True, "dry_run": False}
        assert world.session.engine.memory.calibration.forecast([0.5]) == [0.5]
