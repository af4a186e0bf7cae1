"""Stated causes are proposed where they are asked for, kept with their sentence, and taken back whole."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from amgs.identity import block_id
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import BlockFilter
from tests.engine.lifecycle_world import content
from tests.engine.memory_world import open_memory

STALL = "# Stall\n\nThe dome stalled because the rail was iced. We left at nine."
WIRE = "# Loose wire\n\nThe wire came off at night."
LOSS = "# Lost nights\n\nTwo nights were lost because of [[loose-wire]] on the roof."
ICE = "Ilse: The rail was iced again this morning."
WHY = "Tally: That's why we heat the rail now."
BOTH = "# Market\n\nThe market was loud. The bell rang at noon."


@pytest.fixture
def memory() -> Iterator[Memory]:
    with open_memory() as memory:
        at = datetime(2026, 2, 1, tzinfo=UTC)
        named = {"stall.md": STALL, "loose-wire.md": WIRE, "loss.md": LOSS, "market.md": BOTH}
        memory.ingest_many(
            [
                *(RawBlock(text, at, {"source": name}) for name, text in named.items()),
                RawBlock(ICE, at, {"source": "talk#1"}),
                RawBlock(WHY, at + timedelta(hours=1), {"source": "talk#2", "follows": {"talk#2": "talk#1"}}),
            ]
        )
        memory.apply_consolidation(memory.plan_consolidation())
        memory.add_edge(block_id(ICE), block_id(WHY), kind="next")
        yield memory


def test_causes_are_never_proposed_unasked(memory: Memory) -> None:
    assert not [p for p in memory.lifecycle.plan_enhancement().proposals if p.kind == "causes"]
    memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement())
    assert not memory.graph.causes().causes


def test_what_a_block_states_is_kept_with_its_sentence_and_undone_whole(memory: Memory) -> None:
    before = content(memory)
    plan = memory.lifecycle.plan_enhancement(kinds=["causes"])
    ids = {p.subjects[0] for p in plan.proposals}
    assert len(ids) == 3 and content(memory) == before
    done = memory.lifecycle.apply_enhancement(plan)
    edges = {e.key for e in memory.edges() if e.relation_type == "causes"}
    held = {b.meta["source"]: b.id for b in memory.blocks(BlockFilter())}
    assert edges == {
        (held["loose-wire.md"], held["loss.md"], "causes"),
        (held["talk#1"], held["talk#2"], "causes"),
    }
    kept = memory.graph.causes()
    assert {one.sentence for one in kept.causes} == {
        "The dome stalled because the rail was iced.",
        "Two nights were lost because of [[loose-wire]] on the roof.",
        "That's why we heat the rail now.",
    }
    (stated,) = memory.graph.causes(held["loose-wire.md"]).causes
    assert stated.block.id == held["loss.md"] and stated.cause_block == memory.block(held["loose-wire.md"])
    assert not memory.graph.causes(held["market.md"]).causes
    assert (len(memory.graph.causes(limit=1).causes), memory.graph.causes(limit=1).left_out) == (1, 2)
    assert not memory.lifecycle.plan_enhancement(kinds=["causes"]).proposals, (
        "what is kept is not proposed again"
    )
    memory.undo(done.id)
    assert content(memory) == before
    memory.redo(done.id)
    assert memory.graph.causes() == kept
    assert memory.verify().ok


def test_one_proposal_alone_can_be_carried_out(memory: Memory) -> None:
    plan = memory.lifecycle.plan_enhancement(kinds=["causes"])
    (one,) = [p for p in plan.proposals if p.titles[0] == "Stall"]
    memory.lifecycle.apply_enhancement(plan, only=[one.id])
    (kept,) = memory.graph.causes().causes
    assert (kept.cause, kept.effect) == ("the rail was iced", "The dome stalled")
    assert kept.cause_block is None and kept.effect_block is None
