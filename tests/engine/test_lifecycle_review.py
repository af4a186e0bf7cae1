"""What changed is found, shown, and decided by the operator alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from amgs.errors import UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.lifecycle.supersede import ReviewItem
from amgs.memory import Memory
from amgs.types import BlockFilter
from tests.engine.lifecycle_world import OWL, OWL_COPY, content, lively
from tests.engine.memory_world import open_memory
from tests.prepared_store import copy_store

OLD_RENT = "# Rent of the boat house\n\nThe rent of the boat house is 120 crowns a month, due on the first."
NEW_RENT = "# Rent of the boat house\n\nFrom 1 May the rent of the boat house is 135 crowns a month, not 120."
TOWER_A = "# The lighthouse\n\nThe lighthouse of Sundby is 41 metres high and was finished under queen Agda."
TOWER_B = "# Height of the lighthouse\n\nThe lighthouse of Sundby is 38 metres high by the surveyor's book."
CHIEF = "# The harbour master\n\nThe harbour master is Oline Kvam and she answers before six in the morning."
NEW_CHIEF = "# Harbour\n\nOline Kvam is no longer the harbour master; her nephew answers in the morning."
OTHER = ("# Herring\n\nThe herring came in late.", "# Nets\n\nThirty nets dry on the racks behind the shed.")
TEXTS = (OLD_RENT, TOWER_A, CHIEF, *OTHER, NEW_RENT, TOWER_B, NEW_CHIEF)


def _harbour() -> Memory:
    return open_memory(copy_store(_make_harbour))


def _make_harbour(path: Path) -> Memory:
    memory = open_memory(path)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    tags = {"tags": ["reference"]}
    memory.ingest_many(
        RawBlock(text, at + timedelta(days=n), {"source": f"{n}.md", **tags}) for n, text in enumerate(TEXTS)
    )
    memory.consolidate()
    return memory


def _found(memory: Memory) -> dict[tuple[str, str], str]:
    plan = memory.lifecycle.plan_review()
    text = {b: memory.block(b).content for r in plan.found for b in (r.older_id, r.newer_id)}
    return {(text[r.older_id], text[r.newer_id]): r.kind for r in plan.found}


def _finding(memory: Memory, kind: str) -> ReviewItem:
    """The first finding of a kind, in a queue that was just filled."""
    memory.lifecycle.apply_review(memory.lifecycle.plan_review())
    return next(item for item in memory.lifecycle.reviews() if item.review.kind == kind)


def test_a_value_that_a_later_note_replaces_and_two_that_disagree_are_found_apart() -> None:
    with _harbour() as memory:
        found = _found(memory)
        assert found[OLD_RENT, NEW_RENT] == "supersedes"
        assert found[CHIEF, NEW_CHIEF] == "supersedes"
        assert found[TOWER_A, TOWER_B] == "contradicts"
        assert not any(text in OTHER for pair in found for text in pair)


def test_nothing_is_resolved_by_finding_it() -> None:
    with _harbour() as memory:
        before = content(memory)
        memory.lifecycle.apply_review(memory.lifecycle.plan_review())
        assert content(memory) == before
        assert memory.lifecycle.reviews()
        assert not memory.lifecycle.plan_review().found, "what is in the queue is not found again"


def test_an_accepted_supersession_marks_the_old_block_and_keeps_it() -> None:
    with _harbour() as memory:
        item = _finding(memory, "supersedes")
        memory.lifecycle.accept(item.review.id)
        old = memory.block(item.older.id)
        assert old.status == "consolidated"
        assert old.meta["superseded_by"] == item.newer.id
        assert datetime.fromisoformat(old.meta["superseded_at"]) == item.newer.created_at == old.valid_to
        frame = memory.assemble("ATTENTION", query=old.title, reinforce=False)
        assert old.id not in {c.block.id for c in frame.candidates}
        assert ("supersedes", item.newer.id) in {(e.relation_type, e.source_id) for e in memory.edges(old.id)}
        with pytest.raises(UsageError, match="already accepted"):
            memory.lifecycle.reject(item.review.id)
        assert memory.verify().ok


def test_an_accepted_contradiction_is_an_edge_and_a_rejected_one_never_comes_back() -> None:
    with _harbour() as memory:
        item = _finding(memory, "contradicts")
        memory.lifecycle.reject(item.review.id)
        assert item.review.id not in {i.review.id for i in memory.lifecycle.reviews()}
        assert not memory.lifecycle.plan_review().found
        rejected = memory.lifecycle.reviews(every=True)[-1].review
        assert rejected.state == "rejected" and rejected.operation is not None
        memory.undo(rejected.operation)
        memory.lifecycle.accept(item.review.id)
        assert "contradicts" in {e.relation_type for e in memory.edges(item.older.id)}
        assert "superseded_by" not in memory.block(item.older.id).meta


def test_undoing_the_look_empties_the_queue_and_a_new_look_fills_it() -> None:
    with _harbour() as memory:
        done = memory.lifecycle.apply_review(memory.lifecycle.plan_review())
        count = len(memory.lifecycle.reviews())
        memory.undo(done.id)
        assert memory.lifecycle.reviews() == ()
        memory.lifecycle.apply_review(memory.lifecycle.plan_review())
        assert len(memory.lifecycle.reviews()) == count
        with pytest.raises(UsageError, match="no finding"):
            memory.lifecycle.accept(999)


@pytest.mark.parametrize(
    "texts",
    [
        [f"# Water in the well\n\nThe water in the well stands {level} centimetres high." for level in (41, 38)],
        [OWL, f"{OWL} All was still."],
    ],
    ids=["other values", "the same again"],
)
def test_observations_of_different_weeks_neither_contradict_each_other_nor_are_merged(texts: list[str]) -> None:
    with open_memory() as memory:
        at = datetime(2026, 1, 1, tzinfo=UTC)
        memory.ingest_many(
            RawBlock(text, at + timedelta(days=7 * n), {"source": f"{n}.md", "tags": ["observation"]})
            for n, text in enumerate(texts)
        )
        memory.consolidate()
        assert not memory.lifecycle.plan_review().found


def test_of_a_pruned_block_there_is_nothing_to_decide_until_it_is_back() -> None:
    with _harbour() as memory:
        item = _finding(memory, "supersedes")
        memory.set_metadata(item.older.id, status="pruned")
        assert item.review.id not in {i.review.id for i in memory.lifecycle.reviews()}
        with pytest.raises(UsageError, match="no finding"):
            memory.lifecycle.accept(item.review.id)
        memory.undo(memory.operations(1)[0].id)
        memory.lifecycle.accept(item.review.id)


# --- merges -----------------------------------------------------------------------------------------------


def test_copies_wait_in_the_same_queue_and_are_merged_by_a_verdict() -> None:
    with lively() as memory:
        door = memory.lifecycle
        before = content(memory)
        item = _finding(memory, "merges")
        assert {item.older.content, item.newer.content} == {OWL, OWL_COPY}
        done = door.accept(item.review.id)
        states = {memory.block(b.id).status for b in (item.older, item.newer)}
        kept = [b for b in memory.blocks(BlockFilter()) if "four times" in b.content and "fly off" in b.content]
        assert "archived" in states and len(kept) == 1
        assert memory.verify().ok
        memory.undo(done.id)
        assert content(memory) == before
        assert item.review.id in {i.review.id for i in door.reviews()}


def test_a_merge_of_what_was_archived_is_refused_with_a_way_out() -> None:
    with lively() as memory:
        item = _finding(memory, "merges")
        memory.set_metadata(item.older.id, status="archived")
        with pytest.raises(UsageError, match="nothing to merge") as refused:
            memory.lifecycle.accept(item.review.id)
        assert "Reject finding" in refused.value.way_out
