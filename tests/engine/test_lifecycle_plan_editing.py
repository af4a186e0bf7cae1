"""A plan is corrected before it is applied: what was said is what is written, and one undo takes it back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amgs.errors import UsageError
from amgs.ingest.raw_blocks import RawBlock as Note
from amgs.lifecycle import plan_editing
from amgs.lifecycle.plan_editing import PlanDraft
from amgs.memory import Memory
from amgs.types import ConsolidationItem
from tests.engine.lifecycle_world import content
from tests.engine.memory_world import open_memory, write_notes


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_notes(tmp_path_factory.mktemp("notes"))


@pytest.fixture
def memory(notes: Path) -> Iterator[Memory]:
    with open_memory() as opened:
        opened.ingest_folder(notes)
        yield opened


@pytest.fixture(scope="module")
def fixed(notes: Path) -> PlanDraft:
    """A draft to try corrections on."""
    with open_memory() as opened:
        opened.ingest_folder(notes)
        return opened.lifecycle.draft_consolidation()


def linked(draft: PlanDraft) -> ConsolidationItem:
    """An item with edges."""
    return max(draft.proposed.items, key=lambda item: len(item.edges))


def of_source(draft: PlanDraft, source: str) -> ConsolidationItem:
    return next(i for i in draft.proposed.items if i.block.meta["source"] == source)


def test_a_draft_without_corrections_is_the_proposal(fixed: PlanDraft) -> None:
    assert fixed.plan == fixed.proposed


def test_what_was_corrected_is_written_and_undone_as_one(memory: Memory) -> None:
    door = memory.lifecycle
    before = content(memory)
    draft = door.draft_consolidation()
    item, out = linked(draft), of_source(draft, "people/ilse.md").block.id
    assert item.block.id != out
    gone, kept = item.edges[0], item.edges[-1]
    draft = door.edit_draft(
        draft, item.block.id, category="decision", confidence=0.4, drop=["1"], sure={str(len(item.edges)): 0.33}
    )
    draft = door.edit_draft(draft, out, left_out=True)
    assert content(memory) == before  # drafting and correcting write nothing
    done = door.apply_draft(draft)
    assert done.blocks == len(draft.proposed.items) - 1 and "2 corrected by hand" in done.summary
    written = memory.block(item.block.id)
    assert (written.category, written.confidence, written.decay_lambda) == ("decision", 0.4, 0.001)
    assert memory.block(out).status == "raw"
    edges = {e.key: e for e in memory.edges()}
    assert gone.key not in edges
    assert not any(out in k[:2] for k in edges)
    if kept.key in edges:
        assert edges[kept.key].confidence == 0.33
    assert memory.verify().ok
    memory.undo(done.id)
    assert content(memory) == before


def test_a_value_of_the_owner_becomes_part_of_the_self(fixed: PlanDraft) -> None:
    item = next(i for i in fixed.proposed.items if not i.is_self_component and "author" not in i.block.meta)
    plan = plan_editing.edit_draft(fixed, item.block.id, category="value", known=("value",)).plan
    assert plan_editing.item_of(plan, item.block.id).is_self_component


def test_the_same_inbox_keeps_its_draft_and_another_carries_the_corrections_over(memory: Memory) -> None:
    door = memory.lifecycle
    first = door.draft_consolidation()
    item = linked(first)
    draft = door.edit_draft(first, item.block.id, category="task", drop=["1"])
    assert door.draft_consolidation(before=draft) is draft
    memory.ingest_many([Note("A new line of the ledger.", meta={"source": "new.md"})])
    again = door.draft_consolidation(before=draft)
    assert len(again.proposed.items) == len(first.proposed.items) + 1
    assert again.edit_of(item.block.id) == draft.edit_of(item.block.id)
    memory.set_metadata(item.block.id, status="pruned")
    assert door.draft_consolidation(before=again).edits == ()


# --- what cannot be asked ---------------------------------------------------------------------------------


def test_what_cannot_be_is_refused_with_a_way_out(memory: Memory) -> None:
    door = memory.lifecycle
    draft = door.draft_consolidation()
    one = linked(draft).block.id
    with pytest.raises(UsageError, match="has no block") as unknown:
        door.edit_draft(draft, "f" * 64, category="task")
    assert "raw blocks" in unknown.value.way_out
    with pytest.raises(UsageError, match="no category 'desicion'") as typo:
        door.edit_draft(draft, one, category="desicion")
    assert "Did you mean decision" in typo.value.way_out
    with pytest.raises(UsageError, match="no category 'xyzzy'") as none:
        door.edit_draft(draft, one, category="xyzzy")
    assert "fact" in none.value.way_out and "has to be allowed" in none.value.way_out
    for value in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="between 0 and 1"):
            door.edit_draft(draft, one, confidence=value)
        with pytest.raises(UsageError, match="between 0 and 1"):
            door.edit_draft(draft, one, sure={"1": value})
    for word in ("0", "99", "zzzz", ""):
        with pytest.raises(UsageError, match="has no edge"):
            door.edit_draft(draft, one, drop=[word])
    with pytest.raises(UsageError, match="dropped and retained"):
        door.edit_draft(draft, one, drop=["1"], keep=["1"])


def test_an_edge_is_named_by_its_number_or_by_where_it_leads(fixed: PlanDraft) -> None:
    item = linked(fixed)
    for n, edge in enumerate(item.edges, 1):
        assert plan_editing.find_edge(item, str(n)) == edge.key
    ends = [plan_editing.far_end(item, e) for e in item.edges]
    for edge, end in zip(item.edges, ends, strict=True):
        if ends.count(end) == 1:
            assert plan_editing.find_edge(item, end[:16]) == edge.key
        else:
            with pytest.raises(UsageError, match="edges of"):
                plan_editing.find_edge(item, end[:16])


# --- any corrections at all -------------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_corrections_do_what_they_say_and_can_be_taken_back_in_any_order(fixed: PlanDraft, data: st.DataObject) -> None:
    draft, items = fixed, fixed.proposed.items
    said: dict[str, dict[str, object]] = {}
    for _ in range(data.draw(st.integers(0, 12))):
        item = data.draw(st.sampled_from(items))
        numbers = st.sets(st.integers(1, max(1, len(item.edges))).map(str)) if item.edges else st.just(set[str]())
        change = data.draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "category": st.sampled_from(["fact", "task", "value", "mine"]),
                    "confidence": st.floats(0, 1),
                    "left_out": st.booleans(),
                    "drop": numbers,
                },
            )
        )
        draft = plan_editing.edit_draft(draft, item.block.id, **change)  # type: ignore[arg-type]
        told = said.setdefault(item.block.id, {"drop": set()})
        told.update({k: v for k, v in change.items() if k != "drop"})
        told["drop"] = {*told["drop"], *change.get("drop", ())}  # type: ignore[misc]
    plan = draft.plan
    out = {i for i, told in said.items() if told.get("left_out")}
    assert {i.block.id for i in plan.items} == {i.block.id for i in items} - out
    for item in plan.items:
        told, proposed = (said.get(item.block.id, {"drop": set()}), plan_editing.item_of(fixed.proposed, item.block.id))
        assert item.category == told.get("category", proposed.category) == item.block.category
        assert item.confidence == told.get("confidence", proposed.confidence) == item.block.confidence
        assert item.decay_lambda == item.block.decay_lambda
        assert item.is_self_component == item.block.is_self_component
        gone = {proposed.edges[int(n) - 1].key for n in told["drop"]}  # type: ignore[attr-defined]
        left = {e.key for e in proposed.edges if not out & {e.source_id, e.target_id}} - gone
        assert {e.key for e in item.edges} == left
    for block in data.draw(st.permutations(list(said))):
        draft = plan_editing.reset_block(draft, block)
    assert draft == fixed
