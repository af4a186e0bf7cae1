"""Real engines with the tiny model for the tests of this folder: on the screen, and spoken to in lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textual.message import Message

from amgs_app.calls.registry import standard
from amgs_app.engine import Engine, Options
from amgs_app.session import Operator
from amgs_tui.app import Workstation
from amgs_tui.messages import EngineReport
from tests.tui.app_drive import Drive, waiting_by_the_loop

NOTES = {
    "dome.md": "# Dome motor log\nThe encoder slipped twice before midnight. The motor was reset by hand.\n",
    "night.md": "# Night of 14 May\nThe dome stood still from two until dawn. Linked to [[dome]].\n",
    "bread.md": "# Bread\nMy grandmother baked rye bread every Sunday morning.\n",
    "valve.md": "# Boiler\nThe boiler valve part number is QX-7741-B.\n",
}
TEXT = "The dome stalled at azimuth 214. The encoder slipped in the cold night and the motor stopped. "


def write_notes(folder: Path) -> Path:
    """Four notes in a new folder."""
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(f"---\ndate: 2026-02-20\n---\n{text}")
    return folder


def options(store: Path, notes: Path) -> Options:
    return Options(store=str(store), corpus=notes, model="tiny", now=datetime(2026, 3, 1, 9, tzinfo=UTC), seed=7)


@asynccontextmanager
async def on_session(make: Callable[[], Operator], size: tuple[int, int], **given: Any) -> AsyncIterator[Drive]:
    """A workstation on a real session."""
    reported = asyncio.Event()

    def hook(message: Message) -> None:
        if isinstance(message, EngineReport):
            reported.set()

    app = Workstation(make, **given)
    try:
        with waiting_by_the_loop():
            async with app.run_test(size=size, message_hook=hook, notifications=True) as pilot:
                driven = Drive(app, pilot, reported)
                await driven.settle()
                yield driven
    finally:
        assert app.engine.close(timeout=30)


def on_store(store: Path, notes: Path, size: tuple[int, int] = (120, 40)) -> AbstractAsyncContextManager[Drive]:
    """A workstation on a store and a folder of notes."""
    return on_session(lambda: Operator(Engine(options(store, notes))), size)


def say(session: Operator, line: str) -> Any:
    """What a line gives."""
    call = standard().parse(line)
    assert call is not None
    return session.run(call)


class Desk:
    """A session spoken to in lines; DIR is its folder, which holds `night.txt`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "night.txt").write_text(TEXT * 40, encoding="utf-8")
        self.session = self.begin()

    def begin(self) -> Operator:
        return Operator(Engine(Options(store=str(self.folder / "x.duckdb"), model="tiny")))

    def __call__(self, line: str) -> Any:
        return say(self.session, line.replace("DIR", str(self.folder)))
