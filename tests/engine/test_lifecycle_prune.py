"""Only what is faded, peripheral, unused and doubted goes, and nothing goes without a trace."""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import Block, BlockFilter
from tests.engine.lifecycle_world import content, lively
from tests.engine.memory_world import NOW

LATER = NOW + timedelta(days=400)


def _old(path: Path | str | None = None, *, at: int = 400) -> Memory:
    """The lively memory, a year later, with every block doubted, and one outside the graph."""
    memory = lively(path)
    memory.ingest_many([RawBlock("qqq zzz xxyyy", meta={"source": "odd.md"})])
    memory.consolidate()
    for block in memory.blocks(BlockFilter()):
        memory.set_metadata(block.id, confidence=0.3, decay_lambda=0.01)
    memory.clock = FixedClock(NOW + timedelta(days=at))
    return memory


def _odd(memory: Memory) -> Block:
    return next(b for b in memory.blocks(BlockFilter()) if b.meta["source"] == "odd.md")


def _planned(memory: Memory) -> set[str]:
    return {c.block.id for c in memory.lifecycle.plan_pruning().candidates}


def test_each_of_the_four_reasons_alone_keeps_a_block() -> None:
    with _old() as memory:
        odd = _odd(memory).id
        assert odd in _planned(memory)
        memory.set_metadata(odd, confidence=0.9)
        assert odd not in _planned(memory)
        memory.set_metadata(odd, confidence=0.3, is_self_component=True)
        assert odd not in _planned(memory)
        memory.set_metadata(odd, is_self_component=False, decay_lambda=0.0)
        assert odd not in _planned(memory), "a pin stays"
        memory.set_metadata(odd, decay_lambda=0.01)
        assert odd in _planned(memory)
        hub = max(memory.blocks(BlockFilter()), key=lambda b: memory.centrality(b.id).degree)
        assert hub.id not in _planned(memory), "what is central stays"
        memory.clock = FixedClock(NOW)
        for _ in range(2):
            memory.reinforce([odd], event_type="assembled", source="x")
        memory.clock = FixedClock(LATER)
        assert odd not in _planned(memory), "what was used stays"
    with _old(at=1) as memory:
        assert _odd(memory).id not in _planned(memory), "what is fresh stays"


def test_a_verdict_counts_in_place_of_how_sure_the_category_is() -> None:
    with _old() as memory:
        odd = _odd(memory).id
        memory.set_metadata(odd, confidence=0.95)
        assert odd not in _planned(memory)
        for useful in (False, True, True):
            frame = memory.assemble("ATTENTION", query="qqq zzz xxyyy")
            assert odd in {c.block.id for c in frame.selected}
            memory.feedback(odd, useful=useful, assembly_id=frame.id)
            memory.clock = FixedClock(memory.clock.now() + timedelta(days=400))
            if not useful:
                assert odd in _planned(memory)
                explained = {s.name: s for s in memory.lifecycle.explain_pruning(odd).signs}
                assert explained["confidence"].value == pytest.approx(1 / 3, abs=1e-6)
                assert explained["confidence"].told == "useful by verdicts 0.33 ≤ 0.5"
        kept = memory.lifecycle.explain_pruning(odd).kept_by
        assert kept == ("reinforcement", "confidence") and odd not in _planned(memory)


def test_no_edge_ends_at_a_pruned_block_and_undo_brings_all_of_them_back() -> None:
    with _old() as memory:
        loose = memory.settings.pruning.model_copy(update={"centrality": 1.0})
        memory.settings = memory.settings.model_copy(update={"pruning": loose})
        before = content(memory)
        assert memory.edges()
        done = memory.lifecycle.apply_pruning(memory.lifecycle.plan_pruning())
        assert memory.status().blocks == {"pruned": 8}
        assert memory.edges() == ()
        assert memory.verify().ok
        memory.undo(done.operation.id)
        assert content(memory) == before
        assert memory.verify().ok


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Of a file; tests/safety/postgres/test_contract.py has one of PostgreSQL."""
    return str(tmp_path / "s.duckdb")


def test_what_a_hard_pruning_deletes_stands_whole_in_a_table_until_it_is_erased(place: str) -> None:
    with _old(place) as memory:
        odd, edges = _odd(memory), memory.edges()
        memory.set_metadata(edges[0].source_id, status="pruned")
        memory.lifecycle.apply_pruning(memory.lifecycle.plan_pruning())
        done = memory.lifecycle.apply_pruning(memory.lifecycle.plan_pruning(hard=True))
        assert "pruned" not in memory.status().blocks and memory.verify().ok
        kept = {line["id"]: line for line in memory._storage.deleted_blocks.lines()}
        assert kept.keys() == {candidate.block.id for candidate in done.plan.candidates}
        assert kept[odd.id]["content"] == odd.content and kept[odd.id]["meta"]["source"] == "odd.md"
        memory.undo(memory.operations(1)[0].id)
        memory.erasure.erase([odd.id])
        left = {str(line["id"]) for line in memory._storage.deleted_blocks.lines()}
        assert left == kept.keys() - {odd.id} and memory.verify().ok


def test_an_edge_to_a_block_pruned_since_is_not_lost_by_an_undo_out_of_order() -> None:
    with _old() as memory:
        edge = memory.edges()[0]
        memory.set_metadata(edge.source_id, status="pruned")
        first = memory.operations(1)[0].id
        memory.set_metadata(edge.target_id, status="pruned")
        second = memory.operations(1)[0].id
        with pytest.raises(UsageError, match="pruned since"):
            memory.undo(first)
        memory.undo(second)
        memory.undo(first)
        assert edge in memory.edges()


def test_a_preview_shows_a_pin_and_changes_nothing() -> None:
    with lively() as memory:
        block = memory.blocks(BlockFilter())[0]
        counter = memory.change_counter
        seen = memory.lifecycle.preview_decay(block.id, 0.0, days=50)
        assert seen.then.falls_below_at is None and seen.relevance_then == 1.0
        assert seen.relevance_now < 1.0
        assert memory.change_counter == counter
        with pytest.raises(UsageError):
            memory.lifecycle.preview_decay(block.id, -1.0)


def test_it_is_told_which_of_the_four_signs_keeps_a_block_and_when_it_will_have_faded() -> None:
    with _old() as memory:
        odd = _odd(memory).id
        assert memory.lifecycle.explain_pruning(odd).kept_by == ()
        memory.set_metadata(odd, confidence=0.9)
        seen = memory.lifecycle.explain_pruning(odd[:12])
        assert seen.kept_by == ("confidence",)
        assert [s.told for s in seen.signs if not s.low] == ["confidence 0.900 > 0.88"]
        assert seen.fades_at == NOW + timedelta(hours=math.log(20) / 0.01)
        assert memory.lifecycle.explain_pruning(odd, threshold=1e-60).kept_by == ("relevance", "confidence")
        memory.set_metadata(odd, decay_lambda=0.0, status="archived")
        seen = memory.lifecycle.explain_pruning(odd)
        assert seen.kept_by[:2] == ("is archived", "pinned") and seen.fades_at is None
        with pytest.raises(UsageError, match="Invalid "):
            memory.lifecycle.explain_pruning(odd, threshold=2.0)
        with pytest.raises(UsageError, match="Invalid "):
            memory.lifecycle.plan_pruning(threshold=0.0)


def test_a_plan_says_what_keeps_the_faded_blocks_and_everything_agrees_with_the_explanation() -> None:
    with _old() as memory:
        for n, block in enumerate(memory.blocks(BlockFilter(), order="id")):
            memory.set_metadata(block.id, confidence=0.3 + 0.1 * n, is_self_component=n == 2)
        plan = memory.lifecycle.plan_pruning()
        every = memory.blocks(BlockFilter())
        kept = {block.id: memory.lifecycle.explain_pruning(block.id).kept_by for block in every}
        assert {c.block.id for c in plan.candidates} == {i for i, by in kept.items() if not by}
        assert len(plan.candidates) + sum(plan.spared.values()) == len(every)
        assert plan.spared["self or pin"] == 1
