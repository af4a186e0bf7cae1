"""`cold`: a first start in a terminal of its own shows the answer, an empty store does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import cold


def test_a_first_start_shows_the_answer_and_is_measured(tmp_path: Path) -> None:
    with cold._started(tmp_path) as terminal:
        painted = cold._until(terminal, cold.PAINTED)
        useful = cold._until(terminal, cold.USEFUL)
    assert 0 < painted.wall <= useful.wall
    assert 0 < painted.processor <= useful.processor
    assert [path.name for path in tmp_path.glob("*.duckdb")] == ["observatory.duckdb"]


def test_an_empty_store_does_not_show_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold, "EMPTY_SECONDS", 1.0)
    waits: dict[str, list[cold.StartWait]] = {"empty_paint_ms": []}
    assert not cold._empty(tmp_path, waits)
    assert len(waits["empty_paint_ms"]) == 1 and waits["empty_paint_ms"][0].wall > 0
