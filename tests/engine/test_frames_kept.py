"""A composite takes its children's candidates over while they are fresh, says so, and can still be replayed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from amgs.frames import shipping
from amgs.memory import Memory
from amgs.storage.duckdb.storage import DuckDBStorage
from amgs.types import BlockFilter, ChildFrame, Frame
from tests.engine.memory_world import consolidated, open_memory
from tests.engine.test_frames_api import add, move


def _told(frame: Frame, child: str) -> bool:
    return any(remark.startswith(f"{child} was scored") for remark in frame.remarks)


def _scores(frame: Frame, child: str) -> dict[str, float]:
    return {c.block.id: c.score for c in frame.candidates if c.child == child}


def test_the_self_of_a_session_is_not_scored_anew_for_every_question(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        first = memory.assemble("SESSION", query="dome valve")
        assert not _told(first, "SELF") and _scores(first, "SELF")
        move(memory, 0.5)
        again = memory.assemble("SESSION", query="who is Ilse?")
        assert _told(again, "SELF"), "another question, the same identity"
        assert any("scored 30 min ago" in remark for remark in again.remarks)
        assert _scores(again, "SELF") == _scores(first, "SELF")
        assert not _told(again, "SHORT_TERM"), "that one asks by the query, and is fresh for minutes"
        move(memory, 0.6)
        late = memory.assemble("SESSION", query="who is Ilse?")
        assert not _told(late, "SELF")


def test_a_new_self_tagged_block_is_in_the_next_session(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        memory.assemble("SESSION", query="dome")
        (dome,) = memory.resolve_source("places/dome.md")
        memory.set_metadata(dome, is_self_component=True)
        frame = memory.assemble("SESSION", query="valve")
        assert not _told(frame, "SELF") and dome in _scores(frame, "SELF")
        assert _told(memory.assemble("SESSION", query="dome"), "SELF")


def test_a_kept_pool_falls_with_its_block_its_definition_and_the_memory(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        memory.assemble("DEEP_RECALL", query="dome")
        assert _told(memory.assemble("DEEP_RECALL", query="dome"), "WORLD")
        assert not _told(memory.assemble("DEEP_RECALL", query="valve"), "WORLD")
        memory.assemble("DEEP_RECALL", query="dome")
        add(memory, "The dome has a new motor.")
        frame = memory.assemble("DEEP_RECALL", query="dome")
        assert not _told(frame, "WORLD") and _told(frame, "SELF")
        memory.define_frame(replace(shipping.SELF, budget=300))
        assert not _told(memory.assemble("DEEP_RECALL", query="dome"), "SELF")
        gone = next(iter(_scores(frame, "SELF")))
        memory.set_metadata(gone, status="pruned")
        assert gone not in {c.block.id for c in memory.assemble("DEEP_RECALL", query="dome").candidates}


def test_what_is_taken_over_is_exactly_what_was_scored(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        first = memory.assemble("DEEP_RECALL", query="dome valve")
        again = memory.assemble("DEEP_RECALL", query="dome valve")
        assert _told(again, "WORLD") and _told(again, "SELF")
        # The blocks themselves were reinforced by the first assembly.
        fresh = {c.block.id: c.block for c in again.candidates}
        assert again.candidates == tuple(replace(c, block=fresh[c.block.id]) for c in first.candidates)
        assert again.text == first.text


def test_an_assembly_that_took_pools_over_is_replayed_equal(tmp_path: Path) -> None:
    with consolidated(tmp_path, tmp_path / "m.duckdb") as memory:
        memory.assemble("SESSION", query="dome valve")
        move(memory, 0.5)
        memory.reinforce([b.id for b in memory.blocks(BlockFilter())][:2], event_type="hand", source="test")
        taken = memory.assemble("SESSION", query="dome valve")
        assert _told(taken, "SELF")
        add(memory, "The dome valve leaks.")
        move(memory, 30)
        memory.assemble("SESSION", query="dome valve")
        found = memory.frames.replay(taken.id)
        assert found.equal and found.frame.text == taken.text
        assert [(c.block.id, c.score) for c in found.frame.candidates] == [
            (c.block.id, c.score) for c in taken.candidates
        ]


def test_one_pool_a_child_is_kept_and_a_reader_only_reads(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    with consolidated(tmp_path, path) as memory:
        for query in ("dome", "valve", "Ilse"):
            memory.assemble("DEEP_RECALL", query=query)
        assert isinstance(memory._storage, DuckDBStorage)
        rows = memory._storage.rows("SELECT frame_name FROM frame_cache WHERE starts_with(request, 'pool:')")
        assert sorted(rows) == [("SELF",), ("WORLD",)]
        assert memory._storage.frame_cache.get("SELF", "nothing") is None
    with Memory.open(path, clock=memory.clock, read_only=True) as reader:
        assert _told(reader.assemble("DEEP_RECALL", query="Ilse"), "WORLD")
        assert not _told(reader.assemble("DEEP_RECALL", query="dome"), "WORLD")


def test_a_composite_of_composites_takes_over_too() -> None:
    with open_memory() as memory:
        add(memory, "I am the keeper of notes.", tags=["self"])
        memory.define_frame(
            replace(shipping.SESSION, name="ALL", children=(ChildFrame("SESSION", 1.0), ChildFrame("TASK", 1.0)))
        )
        memory.assemble("ALL", query="notes")
        assert _told(memory.assemble("ALL", query="keeper"), "SELF")
