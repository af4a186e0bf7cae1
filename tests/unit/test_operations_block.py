"""`block find` without a text: what the memory holds by date; and corrections by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest

from amgs.errors import UsageError
from amgs.ingest.metadata import change_tags
from amgs.ingest.raw_blocks import RawBlock
from amgs.types import BlockFilter
from amgs_app.graph import commands as edge
from amgs_app.memory import commands as block
from amgs_app.render.catalogue import sentence_of
from amgs_app.session import Operator
from tests.engine.memory_world import NOW
from tests.unit.typed_lines import opened


@pytest.fixture
def operator() -> Operator:
    """Three consolidated blocks, one a day, and a raw one."""
    made = opened()
    memory = made.engine.memory
    memory.ingest_many([RawBlock(f"Note {day}.", NOW - timedelta(days=day), {}) for day in (3, 1, 2)])
    memory.consolidate()
    memory.ingest_many([RawBlock("Note 0.", NOW, {})])
    return made


def test_tags_and_notes_by_hand_can_be_undone_and_outlast_a_new_reading(operator: Operator) -> None:
    memory = operator.engine.memory
    one = memory.blocks(BlockFilter())[0]
    done = operator.run(block.set_block(one.id, tag=["#recipe", "soup"]))
    assert done.block.meta["tags"] == ["recipe", "soup"]
    assert operator.run(block.set_block(one.id, untag=["soup"])).block.meta["tags"] == ["recipe"]
    assert change_tags({**memory.block(one.id).meta, "tags": ["soup", "new"]}, ())["tags"] == ["new", "recipe"]
    noted = operator.run(block.set_block(one.id, note="Ask Ilse."))
    assert "tags recipe, note “Ask Ilse.”" in sentence_of(noted)
    for _ in range(3):
        memory.undo(memory.lifecycle.plan_undo().operation.id)
    assert memory.block(one.id).meta == one.meta
    with pytest.raises(UsageError, match="both added and removed"):
        operator.run(block.set_block(one.id, tag=["a"], untag=["a"]))


def test_an_edge_by_hand_is_added_changed_removed_and_undone(operator: Operator) -> None:
    memory = operator.engine.memory
    first, second = (each.id for each in memory.blocks(BlockFilter())[:2])
    before = set(memory.edges())
    operator.run(edge.set_edge(first, second, kind="depends_on"))
    added = operator.run(edge.set_edge(first, second, kind="depends_on", weight=0.4))
    assert set(memory.edges()) - before == {added.edge} and added.edge.weight == 0.4
    operator.run(edge.remove(first, second, kind="depends_on"))
    assert set(memory.edges()) == before
    memory.undo(memory.lifecycle.plan_undo().operation.id)
    memory.undo(memory.lifecycle.plan_undo().operation.id)
    assert [e.weight for e in set(memory.edges()) - before] == [0.8]
    assert memory.verify().ok
