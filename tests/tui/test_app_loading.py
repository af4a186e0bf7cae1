"""While a model is read into memory, the status line names it as a phase and the screen obeys every key."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from amgs_app.models import choice
from amgs_app.session import Operator
from tests.tui.app_drive import TIMEOUT_SECONDS, Drive, drive
from tests.tui.app_world import World


class SlowModel:
    """Stands in the way of one model's loading until the test lets it through."""

    def __init__(self) -> None:
        self.ready = threading.Event()
        self.loaded = False

    def load(self) -> None:
        assert self.ready.wait(TIMEOUT_SECONDS)
        self.loaded = True


@pytest.fixture
def slow() -> Iterator[SlowModel]:
    model = SlowModel()
    yield model
    model.ready.set()


async def still_obeys(driven: Drive) -> None:
    """Keys walk the panes, open a dialog and close it, before anything else is answered."""
    await driven.pilot.press("3")
    assert driven.app.main.body.main == "graph"
    await driven.pilot.press("question_mark")
    assert len(driven.app.screen_stack) == 2
    await driven.pilot.press("escape")
    assert len(driven.app.screen_stack) == 1


async def test_opening_the_session_is_a_phase_and_the_panes_can_be_walked_meanwhile(
    slow: SlowModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World()
    really = world.open

    def open_slowly() -> Operator:
        slow.load()
        return really()

    monkeypatch.setattr(world, "open", open_slowly)
    async with drive(world, settle=False) as driven:
        await driven.until(lambda: "opening the session" in driven.text)
        await still_obeys(driven)
        slow.ready.set()
        await driven.settle()
        assert "opening the session" not in driven.text


async def test_the_language_model_s_loading_is_a_phase_of_opening_a_frame(
    slow: SlowModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = choice.load_base_model

    def load_slowly(*given: Any, **options: Any) -> Any:
        slow.load()
        return really(*given, **options)

    monkeypatch.setattr(choice, "load_base_model", load_slowly)
    async with drive(World(raw=0, consolidated=6)) as driven:
        await driven.press("2", "e")
        await driven.type("why did the dome stall?", "enter")
        await driven.pilot.press("o")
        await driven.until(lambda: "loading tiny" in driven.text)
        await still_obeys(driven)
        slow.ready.set()
        await driven.settle()
        assert driven.app.main.lifetime is not None
