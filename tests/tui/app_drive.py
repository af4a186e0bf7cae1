"""How the screen's tests drive it: they wait until the event loop rests and what they wait for holds, and read the
screen as an operator does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, TypeVar
from unittest.mock import patch

from textual import events
from textual._context import active_app
from textual.geometry import Region
from textual.message import Message
from textual.pilot import Pilot

from amgs_tui.app import Workstation
from amgs_tui.messages import EngineReport
from amgs_tui.panes.base import Pane
from tests.tui.app_world import NOW, World

P = TypeVar("P", bound=Pane)
PaneKind = type[P]
TIMEOUT_SECONDS = 120.0
"""No wait lasts as long on the busiest machine: what comes to this stands still."""
LOOK_SECONDS = 0.1
"""How often `Drive.until` looks without a report."""
SOON_SECONDS = 0.02
"""Textual puts some things off for less: it follows a new size of the terminal after 8 ms."""


async def until_idle(*_: object) -> None:
    """Return when no task of the event loop can go on or can within `SOON_SECONDS`, nothing moves and all is drawn.

    Textual's own wait looks every 20 ms whether the process still computes; this one looks at what the loop has to do.
    What the engine's threads do is `Drive.settle`'s to wait for.
    """
    loop: Any = asyncio.get_running_loop()
    app = active_app.get()
    soon = loop.time() + SOON_SECONDS
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            await asyncio.sleep(0)
            if loop._ready:
                continue
            await app.animator.wait_until_complete()
            app.screen._on_timer_update()
            if loop._ready:
                continue
            due = [timer.when() for timer in loop._scheduled if not timer.cancelled() and timer.when() <= soon]
            if not due:
                return
            await asyncio.sleep(max(0.0, min(due) - loop.time()))


@contextmanager
def waiting_by_the_loop() -> Iterator[None]:
    """Textual's pilot waits with `until_idle`."""
    with patch("textual.pilot.wait_for_idle", until_idle), patch("textual.app.wait_for_idle", until_idle):
        yield


class Drive:
    """A running workstation: press keys, wait for the engine, read the lines."""

    def __init__(self, app: Workstation, pilot: Pilot[None], reported: asyncio.Event) -> None:
        self.app = app
        self.pilot = pilot
        self._reported = reported

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, as an operator does: each when what the last one asked for is answered."""
        for key in keys:
            await self.pilot.press(key)
            if self.app.dispatcher.unanswered:
                await self.settle()
        await self.settle()

    async def type(self, text: str, *then: str) -> None:
        """Put a text into what has the focus, then press keys, then wait."""
        focused = self.app.screen.focused
        assert focused is not None
        focused.post_message(events.Paste(text))
        await self.pilot.pause()
        await self.press(*then)

    def pane(self, kind: PaneKind[P]) -> P:
        """The pane of a kind."""
        found = self.app.main.pane(kind.NAME)
        assert isinstance(found, kind)
        return found

    async def settle(self) -> None:
        """Wait until nothing is unanswered."""
        await self.until(lambda: not self.app.dispatcher.unanswered)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds: look after each report of the engine, and at times for what the clock brings."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self.pilot.pause()
            while True:
                self._reported.clear()
                if holds():
                    break
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._reported.wait(), LOOK_SECONDS)
                await self.pilot.pause()
        await self.pilot.pause()

    @property
    def dialog(self) -> Region:
        """Where the dialog in front lies; beside it a screen holds only Textual's own notices and tips."""
        return next(child.region for child in self.app.screen.children if not child.has_class("-textual-system"))

    @property
    def lines(self) -> list[str]:
        """The screen's text, line by line."""
        width, height = self.app.size
        strips = self.app.screen._compositor.render_strips()
        assert len(strips) == height
        texts = [strip.text for strip in strips]
        assert all(len(text) <= width for text in texts)
        return texts

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@asynccontextmanager
async def drive(
    world: World, size: tuple[int, int] = (120, 40), *, settle: bool = True, **options: Any
) -> AsyncIterator[Drive]:
    """A workstation on an invented memory; closed, and its thread ended, when the block ends."""
    reported = asyncio.Event()

    def hook(message: Message) -> None:
        if isinstance(message, EngineReport):
            reported.set()

    given: dict[str, Any] = {"execute": world.execute, "now": lambda: NOW, "store_name": "observatory.duckdb"}
    app = Workstation(world.open, **(given | options))
    try:
        with waiting_by_the_loop():
            async with app.run_test(size=size, message_hook=hook, notifications=True) as pilot:
                driven = Drive(app, pilot, reported)
                if settle:
                    await driven.settle()
                yield driven
                world.release()
    finally:
        world.release()
        assert app.engine.close(timeout=TIMEOUT_SECONDS)
