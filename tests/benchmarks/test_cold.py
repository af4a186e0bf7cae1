"""`cold`: a first start in a terminal of its own shows the answer, an empty store does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs.errors import AmgsError
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


def test_a_screen_that_never_comes_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold, "PATIENCE", 0.2)
    with cold._started(tmp_path) as terminal, pytest.raises(AmgsError, match="did not come"):
        cold._until(terminal, "a sign that is not drawn")


def test_files_are_dropped_from_the_cache_and_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "folder").mkdir()
    assert cold.drop_cached([tmp_path, tmp_path / "nowhere"]) == 5
    assert (tmp_path / "a").read_bytes() == b"12345"
