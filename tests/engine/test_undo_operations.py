"""Every operation is undone exactly, or a sentence says what stands in the way."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.frames import registry, shipping
from amgs.memory import Memory
from amgs.types import BlockFilter, ChildFrame, FrameDefinition
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
    memory.calibration.settle(dict.fromkeys(chosen, True), reinforced=chosen, event_type="resident", source="focus")
    return memory.operations(1)[0].id


def define(memory: Memory, n: int) -> int | None:
    """A frame that is new, or defined anew."""
    memory.define_frame(FrameDefinition("OWLS", "Owls", shipping.TASK.weights, budget=200 + n + memory.change_counter))
    return memory.operations(1)[0].id


def record(memory: Memory, n: int) -> int | None:
    """What the metrics keep for the next look."""
    del n
    memory.calibration.metrics(record=True)
    return memory.operations(1)[0].id


ALL: Mapping[str, Callable[[Memory, int], int | None]] = {
    **OPERATIONS,
    **{each.__name__: each for each in (ingest, verdict, told, define, record)},
}


@pytest.mark.parametrize("name", [*sorted(ALL), "calibrate"])
def test_undo_of_each_operation_is_as_if_nothing_had_happened(name: str) -> None:
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
        assert memory.undo(operation).undone
        if name not in ("verdict", "told"):  # those assemble first, which is no operation of the journal
            assert content(memory) == before
        with pytest.raises(UsageError, match="already undone"):
            memory.undo(operation)
        assert memory.verify().ok


@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_changes_and_undos_leaves_a_sound_store(seed: int) -> None:
    draw = random.Random(seed)
    with world() as memory:
        for step in range(16):
            memory.clock = FixedClock(memory.clock.now() + timedelta(minutes=step))
            journal = memory.operations(1000)
            match draw.choice(["do", "do", "undo", "both"]):
                case "do":
                    name = draw.choice(sorted(set(ALL) - {"prune", "prune_hard"}))
                    ALL[name](memory, draw.randint(1, 5))
                case "undo":
                    _attempt(memory.undo, draw.choice([o.id for o in journal]))
                case _:
                    there = content(memory)
                    name = draw.choice(sorted(set(ALL) - {"prune", "prune_hard", "verdict", "told"}))
                    done = ALL[name](memory, draw.randint(1, 5))
                    if done is not None:
                        memory.undo(done)
                        assert content(memory) == there, (seed, step, name)
        assert memory.verify().faults == ()
        assert memory.search("owl", filter=EVERY).hits


def test_frames_are_defined_and_deleted_step_by_step_and_never_left_without_their_children() -> None:
    with world() as memory:
        states = [content(memory)]
        task = registry.find("TASK", registry.by_name(memory.frame_definitions()))
        changes: tuple[Callable[[], object], ...] = (
            lambda: memory.define_frame(replace(task, name="OWLS")),
            lambda: memory.define_frame(replace(task, name="BOTH", children=(ChildFrame("OWLS", 1.0),))),
            lambda: memory.frames.delete("BOTH"),
            lambda: memory.define_frame(replace(task, budget=300)),
            lambda: memory.frames.delete("TASK"),  # gets its shipped definition back
        )
        for change in changes:
            change()
            states.append(content(memory))
        first = memory.operations(len(changes))[-1].id
        with pytest.raises(UsageError, match="Undo"):
            memory.undo(first)
        for state in reversed(states[:-1]):
            memory.undo(memory.lifecycle.plan_undo().operation.id)
            assert content(memory) == state
        assert {each.kind for each in memory.frames.origins()} == {"shipped"}


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
        memory.undo(entry.id)
        assert memory.blocks(RAW) == ()
        assert set(memory.ingest_folder(tmp_path).added) == set(report.added)


def test_an_undone_verdict_opens_the_forecast_again() -> None:
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
        memory.undo(memory.operations(1)[0].id)
        (opened,) = [one for one in memory.outcomes(1000) if one.prediction_id == outcome.prediction_id]
        assert opened.actual is None


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


def _events(memory: Memory, block: str) -> int:
    return len(memory._storage.reinforcements.of(block))
