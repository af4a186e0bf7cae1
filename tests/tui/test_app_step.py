"""What one key costs in the working context: one request to the engine, and one new figure."""

from __future__ import annotations

import pytest
from rich.text import Text

from amgs_app.render.canvas import Canvas
from amgs_tui.panes.focus import FocusPane
from tests.tui.app_drive import Drive, drive
from tests.tui.app_world import World


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The step that each figure of the working context showed, as they were drawn."""
    steps: list[int] = []
    draw = FocusPane.draw

    def counted(self: FocusPane, canvas: Canvas) -> Text:
        if self.view is not None:
            steps.append(self.view.step)
        return draw(self, canvas)

    monkeypatch.setattr(FocusPane, "draw", counted)
    return steps


async def opened(driven: Drive) -> FocusPane:
    """The working context of a frame, in front."""
    await driven.press("2", "e")
    await driven.type("why did the dome stall?", "enter")
    await driven.press("o")
    pane = driven.pane(FocusPane)
    assert pane.view is not None
    return pane


async def test_a_step_is_one_request_and_one_figure(drawn: list[int]) -> None:
    world = World(consolidated=6)
    async with drive(world, (80, 24)) as driven:
        pane = await opened(driven)
        world.calls.clear()
        drawn.clear()
        await driven.press("full_stop")
        assert world.commands() == ["focus step"]
        assert drawn == [1]
        assert pane.why is not None and pane.why.entry.position == pane.cursor


async def test_a_cursor_that_was_moved_during_a_step_stays_where_it_was_put() -> None:
    world = World(consolidated=6)
    async with drive(world, (120, 40)) as driven:
        pane = await opened(driven)
        world.held.add("focus step")
        await driven.pilot.press("full_stop")
        await driven.until(lambda: driven.app.engine.by_operator is not None)
        await driven.pilot.press("home")
        world.release()
        await driven.settle()
        assert pane.view is not None and pane.view.step == 1
        assert pane.cursor == 0 and pane.why is not None and pane.why.entry.position == 0


async def test_an_explanation_that_fails_takes_no_step_away(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(consolidated=6)
    async with drive(world, (120, 40)) as driven:
        pane = await opened(driven)

        def fails(*_: object) -> None:
            raise ValueError("no explanation")

        with monkeypatch.context() as broken:
            broken.setattr(type(world.session.engine.focus), "why", fails)
            await driven.press("full_stop")
            assert pane.view is not None and pane.view.step == 1
            assert world.commands()[-2:] == ["focus step", "focus why"]  # asked again, and told there
