"""How the screen's tests drive it: they wait on messages, never on time, and read the screen as an operator does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual import events
from textual.message import Message
from textual.pilot import Pilot

from amgs_tui.app import Workstation
from amgs_tui.messages import EngineReport
from tests.tui.app_world import NOW, World

TIMEOUT_SECONDS = 20.0


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

    async def settle(self) -> None:
        """Wait until nothing is unanswered."""
        await self.until(lambda: not self.app.dispatcher.unanswered)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for reports of the engine until something holds."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self.pilot.pause()
            while True:
                self._reported.clear()
                if holds():
                    break
                await self._reported.wait()
                await self.pilot.pause()
        await self.pilot.pause()

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
        async with app.run_test(size=size, message_hook=hook, notifications=True) as pilot:
            driven = Drive(app, pilot, reported)
            if settle:
                await driven.settle()
            yield driven
            world.release()
    finally:
        world.release()
        assert app.engine.close(timeout=10)
