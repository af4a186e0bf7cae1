"""The memory as it will look: the fast sums agree with one block after the other, and a supposition with the doing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from amgs.clock import FixedClock
from amgs.decay import relevance_at
from amgs.memory import Memory
from amgs.types import BlockFilter
from tests.engine.lifecycle_world import lively
from tests.engine.memory_world import NOW

DAYS = 40.0


@pytest.fixture
def memory() -> Iterator[Memory]:
    """Seven blocks of several categories and paces, two of them used a while ago."""
    with lively() as opened:
        ids = [block.id for block in opened.blocks(BlockFilter(), order="id")]
        for place, block in enumerate(ids):
            opened.set_metadata(
                block, category=("fact", "task")[place % 2], decay_lambda=(0.001, 0.01, 0.1, 0.0)[place % 4]
            )
        for days in (9, 4):
            opened.clock = FixedClock(NOW - timedelta(days=days))
            opened.reinforce(ids[:2], event_type="resident", source="test")
        opened.clock = FixedClock(NOW)
        yield opened


def at(memory: Memory, block_id: str, instant: datetime) -> float | None:
    """Relevance of a block at an instant by its own curve's rule: since its last use before then; None before it."""
    block = memory.block(block_id)
    resets = [NOW - timedelta(days=days) for days in (9, 4)] if block.last_reinforced_at > block.created_at else []
    before = [reset for reset in (block.created_at, *resets) if reset <= instant]
    return relevance_at(block.decay_lambda, max(before), instant) if before else None


def test_the_outlook_of_each_category_agrees_with_its_blocks_one_by_one(memory: Memory) -> None:
    blocks = memory.blocks(BlockFilter())
    for days in (0.0, 3.0, DAYS, 4000.0):
        forecast = memory.lifecycle.forecast(days=days)
        then = NOW + timedelta(days=days)
        assert sum(each.blocks for each in forecast.categories) == len(blocks)
        for each in forecast.categories:
            own = [block.id for block in blocks if block.category == each.category]
            now_, then_ = ([at(memory, i, t) or 0.0 for i in own] for t in (NOW, then))
            assert (each.alive_now, each.alive_then) == (
                sum(r >= forecast.threshold for r in now_),
                sum(r >= forecast.threshold for r in then_),
            )
            assert each.mean_now == pytest.approx(sum(now_) / len(own))
            assert each.mean_then == pytest.approx(sum(then_) / len(own))
        lost = sum(each.alive_now - each.alive_then for each in forecast.categories)
        assert lost == forecast.falling == len(forecast.rows)


def test_the_curves_of_categories_are_the_means_of_their_blocks_curves(memory: Memory) -> None:
    found = memory.lifecycle.category_curves(days=DAYS)
    blocks = memory.blocks(BlockFilter())
    assert {each.category for each in found.curves} == {"fact", "task"}
    for each in found.curves:
        own = [block.id for block in blocks if block.category == each.category]
        assert each.hours[-1] == DAYS * 24 and 0.0 in each.hours and each.hours[0] < 0
        for hour, mean in zip(each.hours, each.relevance, strict=True):
            values = [at(memory, i, NOW + timedelta(hours=hour)) for i in own]
            alive = [value for value in values if value is not None]
            assert mean == pytest.approx(sum(alive) / len(alive), abs=1e-6)
