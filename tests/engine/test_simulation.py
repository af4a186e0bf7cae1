"""The simulation is a function of its seed, and agrees with the exact answer where the case is small enough for one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from amgs.api.graph import Decay, Pruning
from amgs.errors import UsageError
from amgs.lifecycle.change import Change, combine_changes
from amgs.memory.synthetic import synthetic_memory
from amgs.settings import PruningSettings
from amgs.simulation import ALIVE, BELIEF, DECAY_SPREAD, Quantiles, Scenario, UncertainGraph, draw
from tests.engine.lifecycle_world import lively

DAYS, RATE = 20.0, 0.8
HOURS = 24.0 * DAYS


def _graph(pairs: list[tuple[int, int]], weight: list[float], n: int = 4, **changed: Any) -> UncertainGraph:
    """Blocks with unlike chances and decays; sure edges that do not decay."""
    m, chance = len(pairs), np.arange(1.0, n + 1)
    graph = UncertainGraph(
        idle=np.linspace(0.0, 30.0, n),
        decay=np.linspace(0.004, 0.02, n),
        uses=np.zeros(n),
        confidence=np.zeros(n),
        exempt=np.zeros(n, np.bool_),
        chance=chance / chance.sum(),
        source=np.array([a for a, _ in pairs], np.int64),
        target=np.array([b for _, b in pairs], np.int64),
        relation=np.array(["related"] * m, object),
        weight=np.array(weight),
        belief=np.ones(m),
        edge_idle=np.zeros(m),
        edge_decay=np.zeros(m),
        luck=np.arange(m),
    )
    return replace(graph, **changed)


def _draw(graph: UncertainGraph, *ways: dict[str, Any], **given: Any) -> dict[tuple[str, str], Quantiles]:
    """The rows of scenarios with all blocks and edges, by the number of the scenario and the measure."""
    n, m = graph.idle.size, graph.source.size
    every = [
        Scenario(str(at), np.ones(n, np.bool_), np.ones(m, np.bool_), **way) for at, way in enumerate(ways or [{}])
    ]
    asked = {"draws": 400, "seed": 1, "days": DAYS, "rate": RATE, "relevance": 0.2} | given
    rows = draw(graph, every, limits=PruningSettings(), **asked)
    return {(row.scenario, row.measure): row for row in rows}


def test_what_holds_without_use_is_decay_alone() -> None:
    graph = _graph([(0, 1)], [0.9])
    level = np.exp(-graph.decay * (graph.idle + HOURS))
    blocks = _draw(graph, rate=0.0)["0", "blocks"]
    assert blocks.low == blocks.high == float((level >= 0.2).sum())


@pytest.mark.parametrize(("pairs", "weight"), [([], []), ([(0, 1), (1, 2), (0, 1)], [0.5, 0.3, 0.2])])
def test_what_holds_in_use_is_the_exact_share(pairs: list[tuple[int, int]], weight: list[float]) -> None:
    """A block holds when it still does without a use, or was used late enough, by itself or over an edge."""
    graph = _graph(pairs, weight)
    missed = np.ones((4, 4))
    for (a, b), strength in zip(pairs, weight, strict=True):
        missed[a, b] *= 1.0 - strength
        missed[b, a] *= 1.0 - strength
    direct = RATE / 24.0 * graph.chance
    rates = direct + (1.0 - missed) @ direct
    lasts = -math.log(0.2) / graph.decay
    holds = np.where(graph.idle + HOURS <= lasts, 1.0, 1.0 - np.exp(-rates * np.minimum(HOURS, lasts)))
    assert ((holds > 0.05) & (holds < 0.95)).sum() >= 2, "the case has something to decide"
    counts = [_draw(graph, draws=1, seed=seed)["0", "blocks"].median for seed in range(400)]
    assert np.mean(counts) == pytest.approx(holds.sum(), abs=0.15)


def test_an_edge_holds_with_the_chance_of_its_belief_and_its_pace() -> None:
    edge: dict[str, Any] = {"belief": np.array([0.6]), "edge_decay": np.array([0.004])}
    graph = _graph([(0, 1)], [0.5], **edge)
    z = np.linspace(-6, 6, 2001)
    x = (np.arange(100_000) + 0.5) / 100_000
    log = (0.6 * BELIEF - 1) * np.log(x) + (0.4 * BELIEF - 1) * np.log1p(-x)
    above = 1.0 - np.cumsum(np.exp(log)) / np.exp(log).sum()
    least = ALIVE / (0.5 * np.exp(-0.004 * np.exp(DECAY_SPREAD * z) * 720.0))
    normal = np.exp(-z * z / 2)
    exact = (np.interp(least, x, above, left=1.0, right=0.0) * normal).sum() / normal.sum()
    assert 0.05 < exact < 0.95
    alive = [_draw(graph, draws=1, seed=seed, days=30.0, rate=0.0)["0", "edges"].median for seed in range(400)]
    assert np.mean(alive) == pytest.approx(exact, abs=0.04)


def test_the_same_seed_gives_the_same_future_and_no_change_moves_nothing() -> None:
    with lively() as memory:
        before = memory.change_counter
        first = memory.simulate(Change(), 8, 3, days=10)
        assert first == memory.simulate(Change(), 8, 3, days=10) != memory.simulate(Change(), 8, 4, days=10)
        assert {row.change for row in first.rows if row.scenario == "changed"} == {0.0}
        plan = memory.lifecycle.plan_enhancement(kinds=["duplicate", "split"])
        merged = memory.simulate(combine_changes(p.change for p in plan.proposals), 8, days=1)
        assert any(row.change for row in merged.rows)
        assert memory.change_counter == before, "a simulation writes nothing"


def test_senseless_numbers_are_refused() -> None:
    with lively() as memory:
        for change in (Pruning([0.0]), Pruning([math.nan]), Decay([-1.0])):
            with pytest.raises(UsageError, match="Invalid"):
                memory.simulate(change)
        wrong: dict[str, Any]
        for wrong in ({"days": -1.0}, {"draws": 0}, {"rate": -1.0}, {"rate": 1e9}, {"rate": math.nan}):
            with pytest.raises(UsageError, match="Cannot simulate"):
                memory.simulate(Decay(), **wrong)
        with pytest.raises(UsageError, match="A seed cannot be -1"):
            memory.simulate(Decay(), seed=-1)
    with pytest.raises(UsageError, match="A seed cannot be -1"), synthetic_memory(9, -1):
        pass
