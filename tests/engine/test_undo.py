"""Whatever an operation of the lifecycle did, undo takes back: the tables are then as they were, value for value."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.clock import FixedClock
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.settings import PruningSettings, Settings
from amgs.types import BlockFilter
from tests.engine.lifecycle_world import EVERY, OTHERS, OWL, OWL_AGAIN, OWL_COPY, TWO_CONCEPTS
from tests.engine.memory_world import NOW, open_memory
from tests.prepared_store import copy_store

OLD_RENT = "# Rent of the boat house\n\nThe rent of the boat house is 120 crowns a month, due on the first."
NEW_RENT = "# Rent of the boat house\n\nFrom 1 May the rent of the boat house is 135 crowns a month, not 120."

NOT_CONTENT = {"operations", "operation_rows", "change_counter", "meta", "scores_cache", "frame_cache"}
NOT_CONTENT |= {"undone_blocks", "undone_edges", "sources", "deleted_blocks"}
"""The journal itself, what earlier versions kept for a redo, counters, caches, names of sources, and the ledger."""
POSITIONS = {"number", "revision"}
"""Where a row stands for the indexes: one that leaves and comes back gets a new place."""


STANDS_WITH = {"reviews": ("found_by", "operation_id"), "edge_forecasts": ("", "counted")}
STANDS_WITH |= {
    "messages": ("added_by", "ended_by"),
    "forecast_curves": ("operation_id", ""),
    "source_blocks": ("added_by", "ended_by"),
}
"""(column of the operation with which a row stands, column of the one with which its verdict stands)."""


def content(memory: Memory) -> dict[str, list[str]]:
    """Every row of every table that holds something of its own, as it reads, in an order that does not matter."""
    store = memory._storage
    gone = {operation.id for operation in memory.operations(1000) if operation.undone}
    found = {}
    for table, columns in store.tables.schema().items():
        if table in NOT_CONTENT:
            continue
        kept = tuple(c for c in columns if c.name not in POSITIONS)
        rows, verdict = STANDS_WITH.get(table, ("", ""))
        told = []
        for batch in store.tables.rows(table, kept):
            for row in batch:
                named = {c.name: value for c, value in zip(kept, row, strict=True)}
                if rows and named[rows] in gone:
                    continue
                if verdict and named[verdict] in gone:
                    named |= {verdict: None, **dict.fromkeys({"verdict", "until"} & named.keys())}
                told.append(repr(named))
        found[table] = sorted(told)
    return found


LOOSE = Settings(pruning=PruningSettings(centrality=1.0, reinforcements=5, confidence=1.0))


def world() -> Memory:
    """Copies, accounts of one event, a contradiction, a block to split, what is faded, and raw arrivals."""
    return open_memory(copy_store(_make_world), settings=LOOSE)


def _make_world(path: Path) -> Memory:
    memory = open_memory(path, settings=LOOSE)
    texts = (NEW_RENT, OWL, OWL_COPY, OWL_AGAIN, TWO_CONCEPTS, *OTHERS, OLD_RENT)
    memory.ingest_many(
        RawBlock(text, NOW - timedelta(days=20 * n), {"source": f"{n}.md", "tags": ["reference"]})
        for n, text in enumerate(texts)
    )
    memory.consolidate()
    memory.ingest_many(RawBlock(f"Raw arrival {n} about the owl.", NOW) for n in range(3))
    frame = memory.assemble("SESSION", query="owl")
    for n, chosen in enumerate(frame.selected):
        memory.feedback(chosen.block.id, useful=n % 2 == 0)
    return memory


def consolidate(memory: Memory, n: int) -> int | None:
    plan = memory.plan_consolidation(limit=n)
    return memory.apply_consolidation(plan).id if plan.items else None


def enhance(memory: Memory, n: int) -> int | None:
    plan = memory.lifecycle.plan_enhancement()
    some = [proposal.id for proposal in plan.proposals][: n + 1]
    return memory.lifecycle.apply_enhancement(plan, some).id if some else None


def review(memory: Memory, n: int) -> int | None:
    plan = memory.lifecycle.plan_review()
    return memory.lifecycle.apply_review(plan).id if plan.found else None


def decide(memory: Memory, n: int) -> int | None:
    found = memory.lifecycle.reviews()
    if not found:
        return None
    verdict = memory.lifecycle.accept if n % 2 else memory.lifecycle.reject
    return verdict(found[n % len(found)].review.id).id


def prune(memory: Memory, n: int) -> int | None:
    memory.clock = FixedClock(NOW + timedelta(days=4000))
    plan = memory.lifecycle.plan_pruning(limit=n)
    return memory.lifecycle.apply_pruning(plan).operation.id if plan.candidates else None


def prune_hard(memory: Memory, n: int) -> int | None:
    plan = memory.lifecycle.plan_pruning(hard=True, limit=n)
    if not plan.candidates:
        return None
    return memory.lifecycle.apply_pruning(plan).operation.id


def edit(memory: Memory, n: int) -> int | None:
    blocks = memory.blocks(BlockFilter(), order="id")
    if not blocks:
        return None
    before = len(memory.operations(1000))
    some = blocks[n % len(blocks)]
    memory.set_metadata(
        some.id,
        category="decision",
        confidence=0.1 * n,
        decay_lambda=0.0,
        is_self_component=bool(n % 2),
        status="pruned" if n == 4 else None,
    )
    return memory.operations(1)[0].id if len(memory.operations(1000)) > before else None


def calibrate(memory: Memory, n: int) -> int | None:
    plan = memory.calibration.plan("platt" if n % 2 else "isotonic")
    return memory.calibration.apply(plan).operation.id


OPERATIONS: Mapping[str, Callable[[Memory, int], int | None]] = {
    each.__name__: each for each in (consolidate, enhance, review, decide, prune, prune_hard, edit)
}


@pytest.mark.parametrize("seed", range(3))
def test_operations_taken_back_in_turn_leave_what_was(seed: int) -> None:
    draw = random.Random(seed)
    steps = [(draw.choice(sorted(OPERATIONS)), draw.randint(1, 5)) for _ in range(8)]
    with world() as memory:
        done: list[tuple[str, int, dict[str, list[str]]]] = []
        for name, n in steps:
            before = content(memory)
            operation = OPERATIONS[name](memory, n)
            if operation is not None:
                done.append((name, operation, before))
        assert memory.verify().ok
        for name, operation, before in reversed(done):
            memory.undo(operation)
            assert content(memory) == before, (name, steps)
        assert memory.verify().ok
        assert memory.search("owl", filter=EVERY).hits


@given(st.floats(0, 1e6, allow_nan=False), st.floats(-1e9, 1e9, allow_nan=False), st.floats(0, 1e9, allow_nan=False))
def test_relevance_only_falls_and_half_lives_halve(rate: float, hours: float, more: float) -> None:
    from amgs.decay import half_life_hours, relevance

    assert 0 <= relevance(rate, hours) <= 1
    assert relevance(rate, hours + more) <= relevance(rate, hours)
    if rate > 0 and half_life_hours(rate) < 1e300:
        assert math.isclose(relevance(rate, half_life_hours(rate)), 0.5)
