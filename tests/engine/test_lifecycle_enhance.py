"""Enhancement proposes what it can say why of, and what it does can be taken back to the last edge."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.identity import block_id
from amgs.ingest.raw_blocks import RawBlock
from amgs.lifecycle.proposing import Proposal
from amgs.memory import Memory
from amgs.types import BlockFilter
from tests.engine.lifecycle_world import OTHERS, OWL, OWL_AGAIN, OWL_COPY, TWO_CONCEPTS, lively
from tests.engine.memory_world import open_memory


def _of(memory: Memory, kind: str) -> tuple[Proposal, ...]:
    return tuple(p for p in memory.lifecycle.plan_enhancement(kinds=[kind]).proposals)


def test_a_copy_is_a_duplicate_and_a_second_account_an_overlap() -> None:
    with lively() as memory:
        (copies,) = _of(memory, "duplicate")
        assert set(copies.subjects) == {block_id(OWL), block_id(OWL_COPY)}
    with open_memory() as memory:
        at = datetime(2026, 2, 1, tzinfo=UTC)
        texts = (OWL, OWL_AGAIN, *OTHERS)
        memory.ingest_many(RawBlock(t, at + timedelta(hours=n), {"source": f"{n}.md"}) for n, t in enumerate(texts))
        memory.consolidate()
        (accounts,) = _of(memory, "overlap")
        assert set(accounts.subjects) == {block_id(OWL), block_id(OWL_AGAIN)}
        memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement(kinds=["overlap"]))
        assert [e.relation_type for e in memory.edges() if e.relation_type == "same_event"] == ["same_event"]
        assert not _of(memory, "overlap"), "what is linked is not proposed again"


def test_a_merge_makes_a_block_of_its_own_hash_and_archives_the_originals() -> None:
    with open_memory() as memory:
        a = f"{OWL}\n\nIlse wrote this down."
        b = f"{OWL}\n\nThe rail was wet."
        at = datetime(2026, 2, 1, tzinfo=UTC)
        memory.ingest_many(RawBlock(t, at, {"source": f"{n}.md"}) for n, t in enumerate((a, b, *OTHERS)))
        memory.consolidate()
        (proposal,) = _of(memory, "duplicate")
        memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement(kinds=["duplicate"]))
        (merged,) = (b for b in memory.blocks(BlockFilter()) if "derived_from" in b.meta)
        assert merged.id == block_id(merged.content)
        assert "Ilse wrote" in merged.content and "rail was wet" in merged.content
        assert merged.content.count("called four times") == 1
        assert {memory.block(i).status for i in proposal.subjects} == {"archived"}
        derived = {e.target_id for e in memory.edges(merged.id) if e.relation_type == "derived_from"}
        assert derived == set(proposal.subjects)
        assert memory.verify().ok


def test_a_block_of_two_concepts_is_split_into_a_chain() -> None:
    with lively() as memory:
        (proposal,) = _of(memory, "split")
        assert proposal.subjects == (block_id(TWO_CONCEPTS),)
        memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement(), only=[proposal.id])
        parts = [b for b in memory.blocks(BlockFilter()) if "split_part" in b.meta]
        assert sorted("Bread" in b.content for b in parts) == [False, True]
        assert memory.block(block_id(TWO_CONCEPTS)).status == "archived"
        ids = {b.id for b in parts}
        assert [e for e in memory.edges() if e.relation_type == "next" and {e.source_id, e.target_id} == ids]


def test_edges_that_use_confirms_gain_and_those_that_it_denies_lose() -> None:
    with lively() as memory:
        related = next(e for e in memory.edges() if e.relation_type == "related")
        ends = {related.source_id, related.target_id}
        for n in range(3):
            memory.reinforce(sorted(ends), event_type="assembled", source=f"TASK {n}")
        assert not [p for p in _of(memory, "strengthen") if set(p.subjects) == ends]
        for n in range(3):
            memory.reinforce(sorted(ends), event_type="explicit", source=f"operator {n}")
        (stronger,) = [p for p in _of(memory, "strengthen") if set(p.subjects) == ends]
        memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement(kinds=["strengthen"]), only=[stronger.id])
        (after,) = [
            e
            for e in memory.edges(related.source_id)
            if {e.source_id, e.target_id} == ends and e.relation_type == "related"
        ]
        assert after.weight > related.weight
    with lively() as memory:
        for n in range(5):
            for end in ends:
                memory.reinforce([end], event_type="explicit", source=f"operator {end[:4]} {n}")
        assert any(set(p.subjects) == ends for p in _of(memory, "weaken"))


def test_like_blocks_that_are_believed_differently_are_named() -> None:
    with lively() as memory:
        memory.set_metadata(block_id(OWL), confidence=0.2)
        memory.set_metadata(block_id(OWL_COPY), confidence=0.9)
        plan = memory.lifecycle.plan_enhancement(kinds=["confidence"])
        named = [p for p in plan.proposals if block_id(OWL) in p.subjects]
        assert named and "0.20" in named[0].reason
        memory.lifecycle.apply_enhancement(plan, only=[named[0].id])
        assert memory.block(block_id(OWL)).confidence == pytest.approx(0.55)


def test_a_subset_by_id_an_unknown_id_and_a_plan_out_of_date() -> None:
    with lively() as memory:
        plan = memory.lifecycle.plan_enhancement()
        assert len(plan.proposals) > 1
        one = plan.proposals[0]
        with pytest.raises(UsageError, match="No proposal"):
            memory.lifecycle.apply_enhancement(plan, only=["zzz"])
        memory.lifecycle.apply_enhancement(plan, only=[one.id])
        with pytest.raises(UsageError, match="Since the plan was computed"):
            memory.lifecycle.apply_enhancement(plan, only=[one.id])


def test_what_was_merged_undone_and_merged_again_is_sound_after_it_was_used() -> None:
    with lively() as memory:
        for _ in range(2):
            plan = memory.lifecycle.plan_enhancement(kinds=["split"])
            operation = memory.lifecycle.apply_enhancement(plan)
            part = next(b for b in memory.blocks(BlockFilter()) if "split_part" in b.meta)
            memory.reinforce([part.id], event_type="assembled", source="TASK x")
            assert memory.verify().ok
            memory.undo(operation.id)
            assert memory.verify().ok


def test_an_index_never_takes_a_new_block_for_one_that_an_undo_took_out() -> None:
    with lively() as memory:
        operation = memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement(kinds=["split"]))
        assert memory.search("antenna wires").hits
        memory.undo(operation.id)
        memory.ingest_many([RawBlock("Zanzibar cloves arrive in crates", meta={"source": "z.md"})])
        memory.consolidate()
        assert "Zanzibar" in memory.search("zanzibar cloves").hits[0].block.content


def test_an_edge_is_used_when_it_led_to_something_useful_and_not_when_it_was_only_walked() -> None:
    with open_memory(now=datetime(2026, 3, 1, tzinfo=UTC)) as memory:
        memory.ingest_many(
            [
                RawBlock("Zephyrine keeps the brass key.", meta={"source": "a.md"}),
                RawBlock("It opens the [[a]] cupboard under the stairs.", meta={"source": "b.md"}),
            ]
        )
        memory.consolidate()
        later = datetime(2026, 3, 2, tzinfo=UTC)
        memory.clock = FixedClock(later)
        before = memory.edges()
        frame = memory.assemble("TASK", query="Zephyrine cupboard")
        reached = [c.block.id for c in frame.selected if "graph" in c.layers]
        assert reached, "the second note is found over the link alone"
        assert memory.edges() == before and memory.lifecycle.walks() == {}
        memory.feedback(reached[0], useful=False)
        assert memory.lifecycle.walks() == {}
        assert all(e.last_reinforced_at < later for e in memory.edges(reached[0]))
        again = memory.assemble("TASK", query="Zephyrine cupboard")
        memory.feedback(reached[0], useful=True, assembly_id=again.id)
        assert set(memory.lifecycle.walks().values()) == {1}
        assert any(e.last_reinforced_at == later for e in memory.edges(reached[0]))
        memory.undo(memory.operations(1)[0].id)
        assert memory.lifecycle.walks() == {}
        assert all(e.last_reinforced_at < later for e in memory.edges(reached[0]))


def test_what_differs_in_a_value_is_not_merged_and_stays_a_finding() -> None:
    pairs = (
        ("The deploy port of the crane is 8080.", "The deploy port of the crane is 8443."),
        ("Retry the upload of the maps after 30 seconds.", "Retry the upload of the maps after 90 seconds."),
        ("Greta signs the invoices of the choir.", "Ruben signs the invoices of the choir."),
    )
    same = ("Drain the tank before closing the valve.", "Please drain the tank before closing the valve!")
    with open_memory() as memory:
        at = datetime(2026, 2, 1, tzinfo=UTC)
        for days, texts in enumerate(zip(*pairs, same, strict=True)):
            memory.ingest_many(RawBlock(text, at + timedelta(days=3 * days)) for text in texts)
        memory.consolidate()
        before = {(r.kind, r.older_id) for r in memory.lifecycle.plan_review().found if r.kind != "merges"}
        assert len(before) == 2 and {kind for kind, _ in before} == {"contradicts"}
        memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement())
        after = {(r.kind, r.older_id) for r in memory.lifecycle.plan_review().found}
        assert after == before
        status = {text: memory.block(block_id(text)).status for text in (*same, *(t for p in pairs for t in p))}
        archived = [text for text, state in status.items() if state == "archived"]
        assert len(archived) == 1 and archived[0] in same
        assert not [
            e for e in memory.edges() if e.relation_type == "duplicates" and e.source_id not in map(block_id, same)
        ]
