"""Garbage of the screen is collected between two acts, and a removed widget's pictures end with it."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.widgets import Static

from amgs_tui.idle_collection import DUE_AFTER, REST_SECONDS, IdleCollection, end_with_widgets


class Clocks:
    """A clock that stands, and the processor time of collections that each take `pause`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.busy = False
        self.gathered = DUE_AFTER
        self.pause = 0.0
        self.collected = 0

    def collect(self) -> int:
        self.collected += 1
        self.gathered = 0
        return 0

    def collections(self) -> int:
        return self.collected


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clocks]:
    made = Clocks()
    monkeypatch.setattr(gc, "collect", made.collect)
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, made.gathered))
    yield made


def idle(clocks: Clocks) -> IdleCollection:
    return IdleCollection(lambda: clocks.busy, perf=lambda: clocks.now, spent=lambda: clocks.collected * clocks.pause)


def test_garbage_is_collected_when_the_operator_rests_and_not_between_the_keys_of_a_held_one(clocks: Clocks) -> None:
    collection = idle(clocks)
    for _ in range(20):
        collection.note_act()
        clocks.now += REST_SECONDS / 2
        collection.tick()
    assert clocks.collections() == 0
    clocks.now += REST_SECONDS
    collection.tick()
    assert clocks.collections() == 1


def test_a_removed_widget_and_its_pictures_are_freed() -> None:
    class Shown(App[None]):
        def compose(self) -> ComposeResult:
            yield Static("what stays")

    async def removed() -> weakref.ref[StylesCache]:
        end_with_widgets()
        app = Shown()
        async with app.run_test() as pilot:
            note = Static("what goes", id="note")
            await app.mount(note)
            await pilot.pause()
            cache = weakref.ref(note._styles_cache)
            assert note._styles_cache._cache, "it was never drawn"
            await note.remove()
            del note
            await pilot.pause()
        return cache

    cache = asyncio.run(removed())
    gc.collect()
    assert cache() is None
