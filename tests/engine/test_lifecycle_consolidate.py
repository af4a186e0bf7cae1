"""Consolidation: a plan changes nothing, applying it changes all at once, undo takes all of it back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from amgs.clock import FixedClock
from amgs.errors import Cancelled, StoreError, UnknownBlockError, UsageError
from amgs.memory import Memory
from amgs.settings import ConsolidationSettings, Settings
from amgs.storage.journal import JournalStorage
from amgs.text.embedding import HashingEmbedder
from amgs.types import Block, BlockFilter, Edge, Progress
from tests.engine.memory_world import NOW, consolidated, open_memory, write_notes

EVERYTHING = BlockFilter(statuses=("raw", "consolidated", "archived", "pruned"))


def snapshot(memory: Memory) -> tuple[list[Block], tuple[Edge, ...], list[bool]]:
    """All that an operation may change."""
    blocks = memory.blocks(EVERYTHING, order="id")
    return list(blocks), memory.edges(), [memory.block(b.id).embedding is None for b in blocks]


def test_a_plan_changes_nothing_and_applying_it_does_all_seven_steps(tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path))
        before, counter = snapshot(memory), memory.change_counter
        plan = memory.plan_consolidation()
        assert (snapshot(memory), memory.change_counter) == (before, counter)
        operation = memory.apply_consolidation(plan)
        assert (operation.kind, operation.blocks) == ("consolidate", 6)
        after = {b.meta["source"]: b for b in memory.blocks(BlockFilter())}
        kept = [(b.id, b.content, b.created_at, b.last_reinforced_at) for b in memory.blocks(EVERYTHING, order="id")]
        assert kept == [(b.id, b.content, b.created_at, b.last_reinforced_at) for b in before[0]]
        person = after["people/ilse.md"]
        assert (person.category, person.decay_lambda) == ("person", 0.001)
        assert "QX-7741-B" in person.meta["entities"]
        assert after["values/self.md"].is_self_component
        assert after["talks/first.md#2"].meta["dates"] == ["2026-02-09 0.95"]
        vector = memory.block(person.id).embedding
        assert vector is not None
        assert np.isclose(np.linalg.norm(vector), 1.0, atol=1e-5)
        relations = {(e.relation_type, e.source_id, e.target_id) for e in memory.edges()}
        ids = {source: b.id for source, b in after.items()}
        assert ("next", ids["talks/first.md#1"], ids["talks/first.md#2"]) in relations
        assert ("links_to", ids["places/dome.md"], ids["people/ilse.md"]) in relations
        assert ("mentions_same", ids["places/dome.md"], ids["people/ilse.md"]) in relations
        assert memory.verify().ok


def test_a_stale_plan_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path))
        plan = memory.plan_consolidation()
        memory.apply_consolidation(memory.plan_consolidation(limit=2))
        before = snapshot(memory)
        with pytest.raises(UsageError, match="no longer raw"):
            memory.apply_consolidation(plan)
        assert snapshot(memory) == before


def test_a_source_noted_while_the_plan_waited_is_kept(tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.ingest_text("A note.", meta={"source": "a.md"})
        plan = memory.plan_consolidation()
        memory.ingest_text("A note.", meta={"source": "b.md"})
        memory.apply_consolidation(plan)
        (one,) = memory.resolve_source("b.md")
        assert memory.block(one).meta["sources"] == ["a.md", "b.md"]


def test_two_embedding_spaces_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    consolidated(tmp_path / "n", path).close()
    with Memory.open(path, clock=FixedClock(NOW), embedder=HashingEmbedder(64)) as memory:
        memory.ingest_text("one more")
        with pytest.raises(StoreError, match="hashing-256"):
            memory.plan_consolidation()
        with pytest.raises(StoreError, match="hashing-256"):
            memory.search("dome")


# --- editing by hand --------------------------------------------------------------------------------------


def test_an_older_operation_waits_until_the_later_one_is_undone(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        (ilse,) = memory.resolve_source("people/ilse.md")
        memory.set_metadata(ilse, category="friend")
        with pytest.raises(UsageError, match="Operation 3"):
            memory.undo(2)
        memory.undo(3)
        memory.undo(2)
        assert memory.status().blocks == {"raw": 6}
        with pytest.raises(UsageError, match="no operation 9"):
            memory.undo(9)


def test_pruning_by_hand_takes_the_edges_along_and_undo_brings_them_back(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        before = snapshot(memory)
        (ilse,) = memory.resolve_source("people/ilse.md")
        memory.set_metadata(ilse, status="pruned")
        assert memory.edges(ilse) == ()
        assert memory.verify().ok
        assert all(hit.block.id != ilse for hit in memory.search("Ilse mechanic").hits)
        memory.undo(memory.operations()[0].id)
        assert snapshot(memory) == before
        assert memory.verify().ok


@pytest.mark.parametrize(
    "change",
    [
        {"confidence": 1.5},
        {"confidence": float("nan")},
        {"decay_lambda": -1.0},
        {"decay_lambda": float("inf")},
        {"category": " "},
        {"status": "raw"},
    ],
)
def test_values_out_of_range_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    with consolidated(tmp_path) as memory:
        (ilse,) = memory.resolve_source("people/ilse.md")
        before = memory.block(ilse)
        with pytest.raises(UsageError):
            memory.set_metadata(ilse, **change)  # type: ignore[arg-type]
        assert memory.block(ilse) == before


def test_a_raw_block_is_not_made_consolidated_by_hand() -> None:
    with open_memory() as memory:
        (one,) = memory.ingest_text("A note.").added
        with pytest.raises(UsageError, match="by hand"):
            memory.set_metadata(one, status="consolidated")


# --- reinforcement ----------------------------------------------------------------------------------------


def test_reinforcing_is_logged_once_a_block_and_its_decay_curve_jumps_back_to_one(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        (ilse,) = memory.resolve_source("people/ilse.md")
        with pytest.raises(UnknownBlockError):
            memory.reinforce([ilse, "0" * 64], event_type="resident", source="test")
        memory.reinforce([ilse, ilse], event_type="resident", source="test")
        assert memory.block(ilse).last_reinforced_at == NOW
        curve = memory.decay_curve(ilse, days=10)
        assert len(curve.reinforced_hours) == 1
        assert curve.hours[0] == pytest.approx(-(NOW - datetime(2026, 2, 1, tzinfo=UTC)).total_seconds() / 3600)
        assert (curve.relevance[0], curve.hours[-1]) == (1.0, 240.0)
        assert list(curve.hours) == sorted(curve.hours)
        at_now = [r for h, r in zip(curve.hours, curve.relevance, strict=True) if h == 0.0]
        assert max(at_now) == 1.0
        assert min(at_now) < 0.6


IN_TWOS = Settings(consolidation=ConsolidationSettings(transaction=2, batch=1))


def test_a_large_inbox_goes_in_batches_that_one_undo_takes_back(tmp_path: Path) -> None:
    with open_memory(settings=IN_TWOS) as memory:
        memory.ingest_folder(write_notes(tmp_path))
        before = snapshot(memory)
        counter = memory.change_counter
        done = [operation for _, operation in memory.consolidate_in_batches()]
        assert [d.blocks for d in done] == [2, 4, 6]
        assert memory.change_counter == counter + 3
        assert memory.operations(1) == (done[-1],)
        assert [each.kind for each in memory.operations()] == ["consolidate", "ingest"]
        assert done[-1].summary.startswith("6 blocks")
        assert memory.verify().ok
        memory.undo(done[-1].id)
        assert snapshot(memory) == before
        assert memory.verify().ok


class _Running(FixedClock):
    """A clock that a minute passes on at each look."""

    def now(self) -> datetime:
        self.advance(timedelta(minutes=1))
        return super().now()


def test_a_consolidation_is_of_the_instant_when_it_was_written(tmp_path: Path) -> None:
    clock = _Running(NOW)
    settings = Settings(consolidation=ConsolidationSettings(transaction=2))
    with Memory.open(":memory:", clock=clock, embedder=HashingEmbedder(), settings=settings) as memory:
        memory.ingest_folder(write_notes(tmp_path))
        began = clock.now()
        entries = [entry for _, entry in memory.consolidate_in_batches()]
        assert len(entries) == 3 and began < entries[0].at < entries[1].at < entries[2].at
        assert memory.operations(1)[0].at == entries[2].at


def test_an_undo_that_goes_page_by_page_takes_back_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = JournalStorage.pages
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path))
        before = snapshot(memory)
        done = memory.apply_consolidation(memory.plan_consolidation())
        assert done.edges > 2
        monkeypatch.setattr(JournalStorage, "pages", lambda self, done, what: whole(self, done, what, 2))
        memory.undo(done.id)
        assert snapshot(memory) == before
        assert memory.verify().ok


def test_batches_see_what_the_batches_before_them_brought(tmp_path: Path) -> None:
    with open_memory(settings=IN_TWOS) as memory, consolidated(tmp_path / "whole") as whole:
        memory.ingest_folder(write_notes(tmp_path / "notes"))
        for _ in memory.consolidate_in_batches():
            pass
        edges = {(e.source_id, e.target_id, e.relation_type) for e in memory.edges()}
        assert edges == {(e.source_id, e.target_id, e.relation_type) for e in whole.edges()}


def test_stopping_in_the_first_batch_says_that_nothing_was_kept(tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path))
        progress = Progress()
        progress.cancel()
        with pytest.raises(Cancelled, match=r"Nothing was stored: 6 blocks are still raw\."):
            for _ in memory.consolidate_in_batches(progress=progress):
                pass
        assert memory.status().blocks == {"raw": 6}


def test_stopping_keeps_the_batches_that_were_committed(tmp_path: Path) -> None:
    with open_memory(settings=IN_TWOS) as memory:
        memory.ingest_folder(write_notes(tmp_path))
        progress = Progress(lambda done, total, doing: progress.cancel() if done > 2 else None)
        with pytest.raises(Cancelled, match="after 2 blocks of 6"):
            for _ in memory.consolidate_in_batches(progress=progress):
                pass
        assert memory.status().blocks == {"consolidated": 2, "raw": 4}
        assert memory.verify().ok


def test_a_change_that_comes_between_two_batches_splits_the_journal_entry(tmp_path: Path) -> None:
    with open_memory(settings=IN_TWOS) as memory:
        memory.ingest_folder(write_notes(tmp_path))
        ids = []
        for plan, operation in memory.consolidate_in_batches():
            ids.append(operation.id)
            if len(ids) == 2:
                memory.set_metadata(plan.items[0].block.id, category="place")
        assert ids == [2, 2, 4]
        assert [o.blocks for o in memory.operations()] == [2, 1, 4, 6]
        for one in (4, 3, 2):
            memory.undo(one)
        assert memory.status().blocks == {"raw": 6}
        assert memory.edges() == ()
