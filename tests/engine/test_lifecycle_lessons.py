"""Corrections teach, and say that they did; consolidation is due by volume and by time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from amgs.ingest.raw_blocks import RawBlock
from amgs.lifecycle.schedule import due
from amgs.memory import Memory
from amgs.settings import ConsolidationSettings
from amgs.types import ConsolidationItem
from tests.engine.memory_world import NOW, open_memory

FIRST = "The kiln was fired with beech and the glaze on the bowls came out blue."
ALIKE = "A kiln fired with larch gives a dull glaze."
UNLIKE = "The bus to the coast leaves at noon."


def _plan(memory: Memory, text: str) -> ConsolidationItem:
    memory.ingest_many([RawBlock(text, meta={"source": f"{len(text)}.md"})])
    (item,) = memory.plan_consolidation().items
    return item


def test_a_correction_changes_later_plans_and_says_so() -> None:
    with open_memory() as memory:
        memory.ingest_many(
            RawBlock(text, meta={"source": f"{n}.md"})
            for n, text in enumerate((FIRST, *(f"Line {n} of the ledger." for n in range(20))))
        )
        memory.apply_consolidation(memory.plan_consolidation())
        block = next(b for b in memory.find("kiln") if b.content == FIRST)
        before = _plan(memory, ALIKE)
        memory.set_metadata(block.id, category="pottery")
        assert memory.lifecycle.corrections() == 1
        (after,) = memory.plan_consolidation().items
        assert before.category != "pottery" and after.category == "pottery"
        assert "your corrections" in after.category_because and "kiln" in after.category_because
        memory.undo(memory.operations(1)[0].id)
        assert memory.plan_consolidation().items[0].category == before.category


def test_a_correction_does_not_reach_texts_of_another_kind() -> None:
    with open_memory() as memory:
        memory.ingest_many([RawBlock(FIRST, meta={"source": "a.md"}), RawBlock("Line of the ledger.")])
        memory.apply_consolidation(memory.plan_consolidation())
        before = _plan(memory, UNLIKE)
        block = next(b for b in memory.find("kiln") if b.content == FIRST)
        memory.set_metadata(block.id, category="pottery")
        (after,) = memory.plan_consolidation().items
        assert (after.category, after.category_because) == (before.category, before.category_because)


def test_consolidation_is_due_by_volume_or_by_time_and_never_for_nothing() -> None:
    settings = ConsolidationSettings(interval_minutes=15, volume=3)
    hour = timedelta(hours=1)
    assert not due(0, None, NOW - hour, NOW, settings).due
    assert due(3, NOW, NOW, NOW, settings).due
    assert not due(2, NOW, NOW - timedelta(minutes=14), NOW, settings).due
    assert due(2, NOW, NOW - timedelta(minutes=15), NOW, settings).due
    assert due(1, NOW - hour, None, NOW, settings).due


@given(st.integers(0, 10), st.integers(-1000, 1000), st.integers(0, 1000))
def test_what_is_due_stays_due_while_nothing_is_consolidated(waiting: int, last: int, later: int) -> None:
    settings = ConsolidationSettings(interval_minutes=15, volume=5)
    at = NOW + timedelta(minutes=last)
    if due(waiting, NOW, at, NOW, settings).due:
        assert due(waiting, NOW, at, NOW + timedelta(minutes=later), settings).due


def test_the_door_asks_the_store() -> None:
    with open_memory() as memory:
        assert not memory.lifecycle.due().due
        memory.ingest_text("A note.", created_at=datetime(2026, 2, 1, tzinfo=UTC))
        assert memory.lifecycle.due().due
        memory.apply_consolidation(memory.plan_consolidation())
        assert memory.lifecycle.due().waiting == 0
