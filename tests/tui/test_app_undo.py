"""Undo on the screen, on the real engine: what will be undone is said before it is."""

from __future__ import annotations

from pathlib import Path

from amgs_app.calls.registry import standard
from amgs_app.engine import Engine
from amgs_app.session import Operator
from amgs_tui.dialogs.reader import Confirm
from amgs_tui.dispatcher import ASK_FIRST
from tests.tui.real_world import on_session, options


async def test_undo_names_what_it_takes_back_and_asks(tmp_path: Path, notes: Path) -> None:
    sessions: list[Operator] = []

    def make() -> Operator:
        sessions.append(Operator(Engine(options(tmp_path / "s.duckdb", notes))))
        return sessions[0]

    async with on_session(make, (120, 40)) as driven:
        await driven.press("c")
        await driven.press("colon")
        await driven.type('ingest "remember the milk"', "enter")
        assert "1 raw" in driven.lines[0]
        await driven.press("colon")
        await driven.type("undo", "enter")
        assert isinstance(driven.app.screen, Confirm)
        assert "#3: ingest 1 block" in driven.text and "will be removed" in driven.text
        await driven.press("n")
        assert "1 raw" in driven.lines[0]
        await driven.press("colon")
        await driven.type("undo", "enter")
        await driven.press("y")
        assert "0 raw" in driven.lines[0] and "4 blocks" in driven.lines[0]
        assert driven.app.main.status.said is not None and driven.app.main.status.said.text.startswith(
            "Undid #3: ingest 1 block"
        )
    lines = [call.line() for call in sessions[0].history]
    assert lines[2:] == ['ingest "remember the milk"', "undo 3 --yes"]


def test_the_screen_asks_before_every_command_that_asks() -> None:
    assert {each.name for each in standard() if each.asks} == ASK_FIRST
