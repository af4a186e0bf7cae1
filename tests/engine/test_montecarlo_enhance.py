"""The simulation is a function of its seed, knows decay, and sees no difference where there is none."""

from __future__ import annotations

import math

import pytest

from amgs.decay import hours_between
from amgs.errors import UsageError
from tests.engine.lifecycle_world import lively


def test_the_same_seed_gives_the_same_future_and_no_change_moves_nothing() -> None:
    with lively() as memory:
        first = memory.simulation.enhance(days=10, draws=8, seed=3)
        assert first == memory.simulation.enhance(days=10, draws=8, seed=3)
        assert first != memory.simulation.enhance(days=10, draws=8, seed=4)
        assert first.with_change == first.without
        assert first.shift.high == 0.0 and not first.moved


def test_the_mean_strength_is_the_expected_one() -> None:
    with lively() as memory:
        found = memory.simulation.enhance(days=0, draws=200, seed=1).without
        now = memory.clock.now()
        live = [e for e in memory.edges() if e.relation_type != "derived_from"]
        wanted = sum(
            e.weight * e.confidence * math.exp(-e.decay_lambda * hours_between(e.last_reinforced_at, now)) for e in live
        )
        assert found.total_strength.mean == pytest.approx(wanted, rel=0.03)
        assert found.total_strength.low < wanted < found.total_strength.high


def test_strength_falls_with_time_and_a_merge_moves_centrality() -> None:
    with lively() as memory:
        soon = memory.simulation.enhance(days=1, draws=8).without
        late = memory.simulation.enhance(days=400, draws=8).without
        assert late.strength.mean < soon.strength.mean
        assert late.components.mean >= soon.components.mean
        plan = memory.lifecycle.plan_enhancement(kinds=["duplicate", "split"])
        before = memory.change_counter
        changed = memory.simulation.enhance(plan.proposals, days=1, draws=8)
        assert changed.shift.mean > 0 and changed.moved
        assert memory.change_counter == before, "a simulation writes nothing"


def test_senseless_numbers_are_refused() -> None:
    with lively() as memory:
        with pytest.raises(UsageError):
            memory.simulation.enhance(days=-1)
        with pytest.raises(UsageError):
            memory.simulation.enhance(draws=0)
