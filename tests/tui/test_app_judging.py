"""The frame and the calibration pane on the real engine with the tiny model: every row is reached, what a key does is
done to the row under ▸, and what was said of a block stays visible.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from amgs_tui.panes.calibration import CalibrationPane
from amgs_tui.panes.frame import FramePane
from tests.tui.app_drive import Drive
from tests.tui.real_world import on_store

QUESTION = "why did the dome stall?"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A self of two notes, and twenty nights at the dome."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("Quiet hours", "What I am"):
        text = f"# {name}\nI keep the log of the dome and speak softly.\n"
        (folder / f"{name}.md").write_text(f"---\ndate: 2026-02-20\ntags: [self]\n---\n{text}")
    for night in range(1, 21):
        text = f"# Night {night}\nIn night {night} the dome did stall {night} times and the motor hummed.\n"
        (folder / f"night{night}.md").write_text(f"---\ndate: 2026-02-{night:02}\n---\n{text}")
    return folder


@asynccontextmanager
async def asked(
    tmp_path: Path, notes: Path, size: tuple[int, int] = (120, 40), *, question: str = QUESTION
) -> AsyncIterator[tuple[Drive, FramePane]]:
    """The frame pane after a question."""
    async with on_store(tmp_path / "s.duckdb", notes, size) as driven:
        await driven.press("c")
        await driven.press("2", "e")
        await driven.type(question, "enter")
        pane = driven.pane(FramePane)
        assert pane.frame is not None
        yield driven, pane


# --- 2 Frame ----------------------------------------------------------------------------------------------


async def test_the_rows_that_answer_come_first_part_by_part_and_in_before_out(tmp_path: Path, notes: Path) -> None:
    async with asked(tmp_path, notes) as (driven, pane):
        order = [(row.item.child, row.item.fate == "selected") for row in pane.items]
        parts = list(dict.fromkeys(child for child, _ in order))
        assert parts[0] == "ATTENTION" and parts[-1] != "ATTENTION"
        for part in parts:
            fates = [taken for child, taken in order if child == part]
            assert fates == sorted(fates, reverse=True)
        assert "! " not in driven.text and "there is no query" not in driven.text


# --- 5 Calibration ----------------------------------------------------------------------------------------


async def test_judging_down_the_list_judges_the_row_under_the_cursor_and_goes_on(tmp_path: Path, notes: Path) -> None:
    async with asked(tmp_path, notes) as (driven, _):
        await driven.press("5")
        pane = driven.pane(CalibrationPane)
        assert "no verdict yet" in driven.text and "20 more verdicts" in driven.text
        waiting = [case.outcome.prediction_id for case in pane.items]
        assert len(waiting) > 4
        await driven.press("home", "down")
        for place, key in ((1, "u"), (2, "x"), (3, "u")):
            case = pane.items[pane.cursor]
            assert case.outcome.prediction_id == waiting[place] and case.outcome.actual is None
            await driven.press(key)
            assert driven.app.selected == pane.items[pane.cursor].outcome.block_id
        judged = {c.outcome.prediction_id: c.outcome.actual for c in pane.items if c.outcome.actual is not None}
        assert judged == {waiting[1]: 1.0, waiting[2]: 0.0, waiting[3]: 1.0}
        assert pane.items[pane.cursor].outcome.prediction_id == waiting[4]
        assert "from 3 verdicts (20 needed)" in driven.text and "goal" not in driven.text
        await driven.press("end", "u")
        assert "was judged" in driven.text
        await driven.press("U")
        assert "Undo this change?" in driven.text and "forecast reopened" in " ".join(driven.text.split())
        await driven.press("y")
        under = pane.items[pane.cursor].outcome
        assert (under.prediction_id, under.actual) == (waiting[3], None)
        assert sum(c.outcome.actual is not None for c in pane.items) == 2
        assert pane.last is not None and pane.last.kind == "feedback"


async def test_a_selection_that_is_not_in_the_list_does_not_change_what_the_keys_judge(
    tmp_path: Path, notes: Path
) -> None:
    async with asked(tmp_path, notes) as (driven, frame):
        assert frame.frame is not None
        chosen = {row.block.id for row in frame.frame.selected}
        await driven.press("5")
        pane = driven.pane(CalibrationPane)
        other = next((row.item.block.id for row in frame.items if row.item.block.id not in chosen), "0" * 64)
        driven.app.main.select(other)
        await driven.settle()
        under = pane.items[pane.cursor].outcome
        await driven.press("u")
        found = next(c.outcome for c in pane.items if c.outcome.prediction_id == under.prediction_id)
        assert found.actual == 1.0
