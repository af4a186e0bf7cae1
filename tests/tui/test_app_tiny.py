"""Once round the loop on the real engines with the tiny model, by keys alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.message import Message

from amgs_app.engine import Engine, Options
from amgs_app.session.operator import Operator
from amgs_tui.app import Workstation
from amgs_tui.dialogs.dialog import Fatal
from amgs_tui.messages import EngineReport
from amgs_tui.panes.focus import FocusPane
from amgs_tui.panes.frame import FramePane
from tests.tui.app_drive import Drive, waiting_by_the_loop

NOTES = {
    "dome.md": "# Dome motor log\nThe encoder slipped twice before midnight. The motor was reset by hand.\n",
    "night.md": "# Night of 14 May\nThe dome stood still from two until dawn. Linked to [[dome]].\n",
    "bread.md": "# Bread\nMy grandmother baked rye bread every Sunday morning.\n",
    "valve.md": "# Boiler\nThe boiler valve part number is QX-7741-B.\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(f"---\ndate: 2026-02-20\n---\n{text}")
    return folder


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


def options(store: Path, notes: Path) -> Options:
    return Options(store=str(store), corpus=notes, model="tiny", now=datetime(2026, 3, 1, 9, tzinfo=UTC), seed=7)


async def test_from_a_folder_of_notes_to_a_stepped_decode(tmp_path: Path, notes: Path) -> None:
    given = options(tmp_path / "s.duckdb", notes)
    async with on_session(lambda: Operator(Engine(given)), (120, 40)) as driven:
        assert "4 raw" in driven.lines[0] and "press c to consolidate" in driven.text
        await driven.press("c")
        assert "0 raw" in driven.lines[0] and "The inbox is empty" in driven.text
        await driven.press("2", "e")
        await driven.type("why did the dome stall?", "enter")
        frame = driven.app.main.pane("frame")
        assert isinstance(frame, FramePane) and frame.frame is not None and frame.frame.selected
        await driven.press("u")
        await driven.press("o")
        focus = driven.app.main.pane("focus")
        assert isinstance(focus, FocusPane) and focus.view is not None
        assert driven.app.main.focused_pane is focus and focus.view.question == "why did the dome stall?"
        await driven.press("full_stop", "full_stop", "comma")
        assert focus.view.step == 1
        await driven.press("home")
        assert focus.why is not None and focus.why.entry.position == 0
        await driven.press("5")
        assert "1 of" in driven.text and "A fault in this picture" not in driven.text
        await driven.press("7")
        await driven.press("U")  # the verdict first, then the consolidation
        assert "useful, forecast" in driven.text
        await driven.press("y")
        assert "4 blocks" in driven.lines[0]
        await driven.press("U")
        assert "#2: consolidate 4 blocks" in driven.text
        await driven.press("y")
        assert "4 raw" in driven.lines[0]


async def test_what_the_operator_did_is_a_script_and_what_the_screen_looked_at_is_not(
    tmp_path: Path, notes: Path
) -> None:
    sessions: list[Operator] = []

    def make() -> Operator:
        sessions.append(Operator(Engine(options(tmp_path / "s.duckdb", notes))))
        return sessions[0]

    async with on_session(make, (200, 60)) as driven:
        await driven.press("c")
        await driven.press("2", "e")
        await driven.type("dome", "enter")
        await driven.press("u")
    script = [call.line() for call in sessions[0].history]
    assert script[:3] == ["ingest", "consolidate", "frame assemble --query dome"]
    assert len(script) == 4 and script[3].startswith("feedback useful ")


async def test_a_damaged_store_is_told_and_only_the_door_is_left(tmp_path: Path, notes: Path) -> None:
    store = tmp_path / "s.duckdb"
    store.write_bytes(b"this is no store at all" * 400)
    async with on_session(lambda: Operator(Engine(options(store, notes))), (80, 24)) as driven:
        assert isinstance(driven.app.screen, Fatal)
        await driven.press("q")
    assert driven.app.return_code == 4
