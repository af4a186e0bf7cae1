"""A missed fact on the screen: a key asks for it, the page says why, and its keys carry the fix out or begin a test."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input

from amgs_tui.dialogs.reader import DiagnosisPage
from tests.tui.real_world import on_store


async def test_a_missed_fact_is_diagnosed_and_mended_by_keys(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for night in range(1, 4):
        (notes / f"night{night}.md").write_text(f"# Night {night}\nThe dome did stall {night} times.\n")
    async with on_store(tmp_path / "s.duckdb", notes, (80, 24)) as driven:
        await driven.press("c")
        await driven.press("2", "e")
        await driven.type("Who greased the motor?", "enter")
        await driven.press("m")
        await driven.type("Ilse greased the motor", "enter")
        page = driven.app.screen
        assert isinstance(page, DiagnosisPage)
        assert "Not stored: no block says the fact in its words." in driven.text
        await driven.press("t")
        line = driven.app.query_one("#prompt-input", Input).value
        assert line.startswith('test questions.yml --add "Who greased the motor?" --contains "Ilse greased the motor"')
        await driven.press("escape", "m")
        await driven.type("Ilse greased the motor", "enter")
        await driven.press("c")
        await driven.press("m")
        await driven.type("Ilse greased the motor", "enter")
        assert "Not stored then" in driven.text  # when the question was asked, it was not there
