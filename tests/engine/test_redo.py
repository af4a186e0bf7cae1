"""An undone operation comes back exactly as its undo found it, or a sentence says what stands in the way."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.memory import Memory
from amgs.storage.duckdb.storage import DuckDBStorage
from amgs.types import BlockFilter
from tests.engine.lifecycle_world import EVERY
from tests.engine.memory_world import NOW, open_memory, write_notes
from tests.engine.test_undo import OPERATIONS, calibrate, content, prune, review, world

RAW = BlockFilter(statuses=("raw",))


def ingest(memory: Memory, n: int) -> int | None:
    """A text that is new, or one that is known from elsewhere and gains a source."""
    text = f"The lamp in cellar {n} flickers when the owl calls." if n % 2 else "Raw arrival 1 about the owl."
    return memory.ingest_text(text, meta={"source": f"lamp-{n}-{memory.change_counter}.md"}).operation


def verdict(memory: Memory, n: int) -> int | None:
    """A verdict on one of what a frame selects."""
    frame = memory.assemble("SESSION", query=f"owl {n}")
    if not frame.selected:
        return None
    memory.feedback(frame.selected[n % len(frame.selected)].block.id, useful=bool(n % 2))
    return memory.operations(1)[0].id


def told(memory: Memory, n: int) -> int | None:
    """What a lifetime context tells: reinforcements and verdicts together."""
    chosen = [c.block.id for c in memory.assemble("SESSION", query=f"owl {n}").selected][:3]
    if not chosen:
        return None
    memory.calibration.settle(
        dict.fromkeys(chosen, True), reinforced=chosen, event_type="resident", source="focus"
    )
    return memory.operations(1)[0].id


ALL: Mapping[str, Callable[[Memory, int], int | None]] = {
    **OPERATIONS,
    **{each.__name__: each for each in (ingest, verdict, told)},
}


@pytest.mark.parametrize("name", [*sorted(ALL), "calibrate"])
def test_undo_and_redo_of_each_operation_is_as_if_nothing_had_happened(name: str) -> None:
    with world() as memory:
        if name == "decide":
            assert review(memory, 1) is not None
        if name == "prune_hard":
            assert prune(memory, 5) is not None
        if name == "calibrate":
            for k in range(6):
                told(memory, k)
        before = content(memory)
        operation = calibrate(memory, 1) if name == "calibrate" else ALL[name](memory, 3)
        assert operation is not None
        after = content(memory)
        undone = memory.undo(operation)
        assert undone.undone
        if name not in ("verdict", "told"):  # those assemble first, which is no operation of the journal
            assert content(memory) == before
        redone = memory.redo(operation)
        assert not redone.undone and redone.id == operation
        assert content(memory) == after
        assert memory.verify().ok


@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_changes_undos_and_redos_leaves_a_sound_store(seed: int) -> None:
    draw = random.Random(seed)
    with world() as memory:
        for step in range(16):
            memory.clock = FixedClock(memory.clock.now() + timedelta(minutes=step))
            journal = memory.operations(1000)
            match draw.choice(["do", "do", "undo", "redo", "both"]):
                case "do":
                    name = draw.choice(sorted(set(ALL) - {"prune", "prune_hard"}))
                    ALL[name](memory, draw.randint(1, 5))
                case "undo":
                    _attempt(memory.undo, draw.choice([o.id for o in journal]))
                case "redo":
                    _attempt(memory.redo, draw.choice([o.id for o in journal]))
                case _:
                    there = content(memory)
                    chosen = draw.choice([o.id for o in journal])
                    if _attempt(memory.undo, chosen):
                        memory.redo(chosen)
                        assert content(memory) == there, (seed, step, chosen)
        assert memory.verify().faults == ()
        assert memory.search("owl", filter=EVERY).hits


def test_a_chain_that_is_undone_is_redone_in_order_by_plain_redo() -> None:
    draw = random.Random(0)
    with world() as memory:
        states = [content(memory)]
        done: list[int] = []
        for _ in range(6):
            name = draw.choice(sorted(set(ALL) - {"prune", "prune_hard", "verdict", "told"}))
            operation = ALL[name](memory, draw.randint(1, 5))
            if operation is not None:
                done.append(operation)
                states.append(content(memory))
        for operation, state in zip(reversed(done), reversed(states[:-1]), strict=True):
            assert memory.lifecycle.plan_undo().operation.id == operation
            memory.undo(operation)
            assert content(memory) == state
        for operation, state in zip(done, states[1:], strict=True):
            assert memory.redo().id == operation
            assert content(memory) == state
        with pytest.raises(UsageError, match="nothing to redo"):
            memory.redo()


def _attempt(change: Callable[[int], object], operation: int) -> bool:
    try:
        change(operation)
    except UsageError:
        return False
    return True


def test_an_ingest_is_one_entry_and_undo_takes_its_blocks_out_again(tmp_path: Path) -> None:
    with open_memory() as memory:
        report = memory.ingest_folder(write_notes(tmp_path))
        (entry,) = memory.operations()
        assert (entry.kind, entry.blocks, entry.id) == ("ingest", 6, report.operation)
        assert entry.summary == f"6 blocks from {tmp_path.name}"
        assert memory.ingest_folder(tmp_path).operation is None
        assert len(memory.operations()) == 1
        before = content(memory)
        memory.undo(entry.id)
        assert memory.blocks(RAW) == ()
        memory.redo()
        assert content(memory) == before
        assert {b.id for b in memory.blocks(RAW)} == set(report.added)


def test_a_block_of_another_source_keeps_its_text_when_that_ingest_is_undone() -> None:
    with open_memory() as memory:
        (one,) = memory.ingest_text("The same words.", meta={"source": "a.md"}).added
        second = memory.ingest_text("The same words.", meta={"source": "b.md"})
        assert memory.block(one).meta["sources"] == ["a.md", "b.md"]
        assert second.operation == 2 and memory.operations(1)[0].summary.startswith(
            "1 known block gained a source"
        )
        memory.undo(2)
        assert "sources" not in memory.block(one).meta or memory.block(one).meta["sources"] == ["a.md"]
        memory.redo(2)
        assert memory.block(one).meta["sources"] == ["a.md", "b.md"]


def test_the_latest_change_is_the_ingest_and_not_the_consolidation_before_it() -> None:
    with world() as memory:
        memory.ingest_text("Remember the milk.")
        assert memory.lifecycle.plan_undo().operation.kind == "ingest"


def test_a_redo_says_what_stands_in_its_way() -> None:
    with open_memory() as memory:
        (one,) = memory.ingest_text("The dome stood still.").added
        memory.apply_consolidation(memory.plan_consolidation())
        memory.set_metadata(one, category="decision")
        with pytest.raises(UsageError, match="Operation 3 changed the same blocks") as refused:
            memory.undo(2)
        assert refused.value.way_out == "Undo 3 first."
        memory.undo(3)
        memory.undo(2)
        with pytest.raises(
            UsageError, match="Operation 3 depends on operation 2, which is undone"
        ) as refused:
            memory.redo(3)
        assert refused.value.way_out == "Redo 2 first."
        memory.redo(2)
        memory.set_metadata(one, category="person")
        with pytest.raises(UsageError, match="Operation 4 changed the same blocks since"):
            memory.redo(3)
        with pytest.raises(UsageError, match="is not undone"):
            memory.redo(2)
        with pytest.raises(UsageError, match="no operation 99"):
            memory.redo(99)


def test_an_undone_verdict_opens_the_forecast_again_and_a_redo_settles_it_as_before() -> None:
    with world() as memory:
        frame = memory.assemble("SESSION", query="owl")
        chosen = frame.selected[0].block
        outcome = memory.feedback(chosen.id, useful=True)
        (entry,) = memory.operations(1)
        assert entry.kind == "feedback" and entry.summary.startswith(f"“{chosen.title}” useful, forecast ")
        detail = memory.lifecycle.operation(entry.id)
        assert [(b.id, b.title) for b in detail.blocks] == [(chosen.id, chosen.title)]
        memory.undo(entry.id)
        assert memory.feedback(chosen.id, useful=False).prediction_id == outcome.prediction_id
        with pytest.raises(UsageError, match="changed the same blocks since"):
            memory.redo(entry.id)
        memory.undo(memory.operations(1)[0].id)
        memory.redo(entry.id)
        assert memory.outcomes(1000) and outcome.prediction_id in {
            o.prediction_id for o in memory.outcomes(1000) if o.actual == 1.0
        }


def test_a_verdict_that_a_recalibration_learned_from_stays_until_that_is_undone() -> None:
    with world() as memory:
        for k in range(6):
            told(memory, k)
        given = memory.operations(1)[0].id
        learned = calibrate(memory, 0)
        with pytest.raises(UsageError, match=f"Operation {learned}"):
            memory.undo(given)
        assert learned is not None
        memory.undo(learned)
        memory.undo(given)


def test_a_reinforcement_that_is_undone_leaves_the_clock_where_it_stood() -> None:
    with world() as memory:
        chosen = [c.block.id for c in memory.assemble("SESSION", query="owl").selected][:2]
        before = [(memory.block(i).last_reinforced_at, _events(memory, i)) for i in chosen]
        memory.clock = FixedClock(NOW + timedelta(days=3))
        memory.calibration.settle({}, reinforced=chosen, event_type="resident", source="focus")
        assert memory.block(chosen[0]).last_reinforced_at == NOW + timedelta(days=3)
        memory.undo(memory.operations(1)[0].id)
        assert [(memory.block(i).last_reinforced_at, _events(memory, i)) for i in chosen] == before
        memory.redo()
        assert memory.block(chosen[0]).last_reinforced_at == NOW + timedelta(days=3)


def _events(memory: Memory, block: str) -> int:
    return len(memory._storage.reinforcements.of(block))


def test_what_an_earlier_version_undid_cannot_be_redone_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Memory.open(path, clock=FixedClock(NOW)) as memory:
        memory.ingest_text("The dome stood still.")
        memory.undo(1)
    with DuckDBStorage.open(path) as store, store.transaction():
        store.execute("DELETE FROM undone_blocks")
    with (
        Memory.open(path, clock=FixedClock(NOW)) as memory,
        pytest.raises(UsageError, match="earlier version"),
    ):
        memory.redo(1)


def test_the_journal_speaks_of_titles_and_of_values_that_a_reader_knows() -> None:
    with open_memory() as memory:
        (one,) = memory.ingest_text("# Owl present\nThe owl was there.").added
        memory.apply_consolidation(memory.plan_consolidation())
        memory.set_metadata(one, decay_lambda=0.01, confidence=0.5)
        memory.set_metadata(one, decay_lambda=0.0001, confidence=0.25)
        (edit,) = memory.operations(1)
        assert edit.summary == "Owl present: confidence 0.50 → 0.25, standard → core"
        (changed,) = memory.lifecycle.operation(edit.id).blocks
        assert (changed.title, changed.told) == ("Owl present", "confidence 0.50 → 0.25, standard → core")
