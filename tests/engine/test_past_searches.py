"""Past searches are explained from what was kept of them, which no search waits for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.memory import Memory
from amgs.settings import RetrievalSettings, Settings
from amgs.types import BlockFilter, Explanation
from tests.engine.memory_world import NOW


def opened(path: Path, *, settings: Settings | None = None, read_only: bool = False) -> Memory:
    return Memory.open(path, clock=FixedClock(NOW), settings=settings, read_only=read_only)


def test_a_search_that_was_kept_is_explained_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    with opened(path) as memory:
        for text in ("The dome stalled on Sunday.", "The dome was greased.", "The valve leaks."):
            memory.add(text)
        memory.consolidate()
        counter = memory.change_counter
        memory.search("valve")  # unless it is asked for, nothing is kept
        memory.search("dome", top_k=1, keep=True)
        assert len(memory.searches()) == 1 and memory.change_counter == counter
        then = [memory.why("dome", block.id, top_k=1) for block in memory.blocks(BlockFilter())]
        assert sorted(one.admitted for one in then) == [False, False, True]
        memory.add("The dome has a new motor.")
        memory.consolidate()
        assert_as_it_was(memory, then)
    with opened(path) as memory:
        assert [(one.number, one.query, one.places) for one in memory.searches()] == [(1, "dome", 1)]
        assert_as_it_was(memory, then)
        (late,) = (block for block in memory.blocks(BlockFilter()) if "motor" in block.content)
        assert not memory.why_then(1, late.id).admitted and memory.why_then(1, late.id).rank == 0
        memory.search("leak", keep=True)
        assert memory.verify().ok
    with opened(path, read_only=True) as memory:
        memory.search("dome", keep=True)
        assert [one.number for one in memory.searches()] == [2, 1]


def assert_as_it_was(memory: Memory, then: Sequence[Explanation]) -> None:
    """What is told of a kept search is what `why` told when it was made."""
    told = {one.block.id: memory.why_then(1, one.block.id) for one in then}
    assert sum(one.candidate is not None for one in told.values()) == 2  # "valve" was never one
    for one in then:
        kept = told[one.block.id]
        assert kept.admitted == one.admitted
        if kept.candidate is not None:
            assert (kept.rank, kept.fell_at) == (one.rank, one.fell_at)
            assert kept.score == pytest.approx(one.score, abs=1e-5)
            assert kept.needed == pytest.approx(one.needed, abs=1e-5)


def test_so_many_searches_are_kept_as_the_settings_say(tmp_path: Path) -> None:
    for keep in (2, 0):
        settings = Settings(retrieval=RetrievalSettings(searches=keep))
        path = tmp_path / f"{keep}.duckdb"
        with opened(path, settings=settings) as memory:
            memory.add("The dome stalled on Sunday.")
            memory.consolidate()
            for query in ("dome", "Sunday", "valve"):
                memory.search(query, keep=True)
        with opened(path, settings=settings) as memory:
            assert [one.query for one in memory.searches()] == ["valve", "Sunday"][:keep]
            (block,) = memory.blocks(BlockFilter())
            with pytest.raises(UsageError, match=f"Search 1 is no longer stored; the latest {keep} are"):
                memory.why_then(1, block.id)
