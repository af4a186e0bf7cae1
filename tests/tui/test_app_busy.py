"""While a consolidation runs or the model decodes, the operator goes where they like, reads, asks and searches."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amgs.text.embedding import HashingEmbedder
from amgs_tui.panes.focus import FocusPane
from tests.tui.real_world import on_store


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Open; once cleared, whatever embeds several texts waits before it until it is set again."""
    opened = threading.Event()
    opened.set()
    embed = HashingEmbedder.embed

    def gated(self: HashingEmbedder, texts: Any, progress: Any = None) -> Any:
        if len(texts) > 1:
            assert opened.wait(20)
        return embed(self, texts, progress)

    monkeypatch.setattr(HashingEmbedder, "embed", gated)
    yield opened
    opened.set()


async def test_a_result_does_not_take_the_pane_that_the_operator_went_to(
    tmp_path: Path, notes: Path, gate: threading.Event
) -> None:
    async with on_store(tmp_path / "s.duckdb", notes, (80, 24)) as driven:
        gate.clear()
        await driven.pilot.press("c")
        await driven.until(lambda: driven.app.engine.by_operator is not None)
        await driven.pilot.press("5")
        await driven.until(lambda: not driven.app.main.pane("calibration").stale)
        gate.set()
        await driven.settle()
        assert driven.app.main.body.main == "calibration"
        assert "Consolidated 4" in driven.text and "1 shows it" in driven.text
        await driven.press("1")
        assert "The inbox is empty" in driven.text


async def test_a_search_and_a_question_are_answered_while_a_consolidation_runs(
    tmp_path: Path, notes: Path, gate: threading.Event
) -> None:
    async with on_store(tmp_path / "s.duckdb", notes) as driven:
        await driven.press("colon")
        await driven.type("consolidate --limit 2", "enter")
        gate.clear()
        await driven.pilot.press("c")
        await driven.until(lambda: driven.app.engine.by_operator is not None)
        await driven.pilot.press("colon")
        await driven.pilot.press(*"search", "space", *"dome", "enter")
        await driven.until(lambda: driven.app.main.body.main == "frame")
        assert "dome" in driven.text.lower() and driven.app.engine.by_operator is not None
        await driven.pilot.press("7")
        await driven.until(lambda: not driven.app.main.pane("overview").stale and "Waiting" not in driven.text)
        await driven.pilot.press("colon")
        await driven.pilot.press(*"frame", "space", *"delete", "space", *"SESSION", "enter")
        await driven.until(lambda: "frame delete SESSION waits for consolidate" in driven.text or ticked(driven))
        gate.set()
        await driven.settle()
        assert "4 raw" not in driven.text


def ticked(driven: Any) -> bool:
    """The status line says it; a test does not wait for it."""
    driven.app.dispatcher.tick()
    return False


async def test_while_the_model_plays_the_operator_stays_where_they_went(tmp_path: Path, notes: Path) -> None:
    async with on_store(tmp_path / "s.duckdb", notes, (80, 24)) as driven:
        await driven.press("c")
        await driven.press("2", "e")
        await driven.type("why did the dome stall?", "enter")
        await driven.press("o")
        focus = driven.pane(FocusPane)
        assert focus.view is not None
        await driven.pilot.press("space")
        await driven.until(lambda: focus.view is not None and focus.view.step >= 1)
        await driven.pilot.press("3")
        before = focus.view.step
        # The answer of the tiny model may end while the keys are pressed.
        await driven.until(lambda: focus.view is not None and (focus.view.step >= before + 3 or focus.view.finished))
        assert driven.app.main.body.main == "graph"
        await driven.pilot.press("escape")
        await driven.settle()
        assert driven.app.main.body.main == "graph" and not focus.playing


async def test_an_error_is_said_once_and_gives_way_to_the_next_action(tmp_path: Path, notes: Path) -> None:
    async with on_store(tmp_path / "s.duckdb", notes) as driven:
        await driven.press("colon")
        await driven.type("block show 0000", "enter")
        assert driven.text.count("No block id starts with") == 1
        assert not [toast.message for toast in driven.app._notifications]
        await driven.press("colon")
        # A quick answer may come before the prompt has given the line its place back.
        driven.app.notices.error("Not found", "No block is meant.")
        await driven.settle()
        assert not [toast.message for toast in driven.app._notifications]
        await driven.type("status", "enter")
        assert "No block id starts with" not in driven.text
