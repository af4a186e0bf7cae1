"""A composite takes its children's candidates over while they are fresh, and says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amgs.frames import shipping
from amgs.storage.duckdb.connection import Connection
from amgs.types import Frame
from tests.engine.memory_world import consolidated
from tests.engine.test_frames_api import add


def _told(frame: Frame, child: str) -> bool:
    return any(remark.startswith(f"{child} was scored") for remark in frame.remarks)


def _scores(frame: Frame, child: str) -> dict[str, float]:
    return {c.block.id: c.score for c in frame.candidates if c.child == child}


@pytest.mark.parametrize("frame", ["SESSION", "DEEP_RECALL", "ATTENTION"])
def test_a_frame_is_read_in_three_statements_and_a_search_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frame: str
) -> None:
    statements: list[str] = []

    def count(method: Any) -> Any:
        def read(connection: Connection, sql: str, *values: Any, **way: Any) -> Any:
            statements.append(sql)
            return method(connection, sql, *values, **way)

        return read

    for method in (Connection.rows, Connection.columns):
        monkeypatch.setattr(Connection, method.__name__, count(method))
    with consolidated(tmp_path) as memory:
        memory.assemble(frame, query="dome")
        assert len(statements) > 3  # they are counted
        for query in ("valve", "stalls at azimuth 200"):
            statements.clear()
            assert memory.assemble(frame, query=query, reinforce=False).selected
            assert len(statements) <= 3, statements
            statements.clear()
            assert memory.search(query).hits
            assert len(statements) <= 1, statements


def test_a_kept_pool_falls_with_its_block_its_definition_and_the_memory(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        memory.assemble("DEEP_RECALL")
        assert _told(memory.assemble("DEEP_RECALL"), "WORLD")
        for _ in range(2):
            assert not _told(memory.assemble("DEEP_RECALL", query="valve"), "WORLD")
        add(memory, "The dome has a new motor.")
        frame = memory.assemble("DEEP_RECALL")
        assert not _told(frame, "WORLD") and _told(frame, "SELF")
        memory.define_frame(replace(shipping.SELF, budget=300))
        assert not _told(memory.assemble("DEEP_RECALL"), "SELF")
        gone = next(iter(_scores(frame, "SELF")))
        memory.set_metadata(gone, status="pruned")
        assert gone not in {c.block.id for c in memory.assemble("DEEP_RECALL").candidates}


def test_what_is_taken_over_is_exactly_what_was_scored(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        first = memory.assemble("DEEP_RECALL")
        again = memory.assemble("DEEP_RECALL")
        assert _told(again, "WORLD") and _told(again, "SELF")
        # The blocks themselves were reinforced by the first assembly.
        fresh = {c.block.id: c.block for c in again.candidates}
        assert again.candidates == tuple(replace(c, block=fresh[c.block.id]) for c in first.candidates)
        assert again.text == first.text
