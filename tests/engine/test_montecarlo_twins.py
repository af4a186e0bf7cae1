"""Each simulation against the exact answer, where the case is small enough to have one."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.errors import UsageError
from amgs.lifecycle.prune_criteria import Signals
from amgs.settings import PruningSettings
from amgs.simulation.access import AccessWorld
from amgs.simulation.draws import ALIVE, BELIEF, DECAY_SPREAD, Wiring, stays, top
from amgs.simulation.enhance import Scene
from amgs.simulation.evolve import evolve
from amgs.simulation.insert import insert
from amgs.simulation.prune import PruningPolicy, futures, ways
from amgs.simulation.stability import shake, spearman
from amgs.types import Edge

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAYS, RATE = 20.0, 0.8
HOURS = 24.0 * DAYS


def _wiring(n: int, pairs: list[tuple[int, int]]) -> Wiring:
    source = np.array([a for a, _ in pairs], dtype=np.int64)
    target = np.array([b for _, b in pairs], dtype=np.int64)
    return Wiring(n, source, target, np.array(["related"] * len(pairs), dtype=object))


def _ground(pairs: list[tuple[int, int]], full: list[float], *, n: int = 4, rate: float = RATE) -> AccessWorld:
    """Blocks with unlike chances and decays; edges that do not decay."""
    chance = np.arange(1.0, n + 1)
    m = len(pairs)
    return AccessWorld(
        idle=np.linspace(0.0, 30.0, n),
        decay=np.linspace(0.004, 0.02, n),
        uses=np.zeros(n),
        chance=chance / chance.sum(),
        rate=rate,
        wiring=_wiring(n, pairs),
        full=np.array(full),
        edge_idle=np.zeros(m),
        edge_decay=np.zeros(m),
    )


def _survival(world: AccessWorld, threshold: float, rates: np.ndarray) -> np.ndarray:
    """Exact: a block is over the threshold when it still is without use, or was used late enough."""
    lasts = -math.log(threshold) / world.decay
    used = 1.0 - np.exp(-rates * np.minimum(HOURS, lasts))
    return np.where(world.idle + HOURS <= lasts, 1.0, used)


@pytest.mark.parametrize(("pairs", "full"), [([], []), ([(0, 1), (1, 2), (0, 1)], [0.5, 0.3, 0.2])])
def test_survival_under_random_access_is_the_exact_one(pairs: list[tuple[int, int]], full: list[float]) -> None:
    world = _ground(pairs, full)
    per_hour = world.rate / 24.0 * world.chance
    missed = np.ones((4, 4))
    for (a, b), strength in zip(pairs, full, strict=True):
        missed[a, b] *= 1.0 - strength
        missed[b, a] *= 1.0 - strength
    rates = per_hour + (1.0 - missed) @ per_hour
    found = evolve(world, days=DAYS, draws=1200, seed=1, steps=1, threshold=0.2)
    exact = _survival(world, 0.2, rates)
    assert ((exact > 0.05) & (exact < 0.95)).sum() >= 2, "the case has something to decide"
    assert found.survives == pytest.approx(exact, abs=0.045)
    assert found.uses.mean(axis=0) == pytest.approx(rates * HOURS, rel=0.1)
    assert found.checkpoints[-1].accesses.mean == pytest.approx(RATE * DAYS, rel=0.03)
    assert found.checkpoints[-1].blocks.mean == pytest.approx(exact.sum(), abs=0.1)


def test_without_access_the_future_is_decay_alone() -> None:
    world = _ground([(0, 1)], [0.9], rate=0.0)
    found = evolve(world, days=DAYS, draws=3, seed=1, steps=2, threshold=0.2)
    level = np.exp(-world.decay * (world.idle + HOURS))
    assert found.checkpoints[-1].relevance.mean == pytest.approx(level.mean(), abs=1e-6)
    assert found.survives.tolist() == (level >= 0.2).astype(float).tolist()


def test_the_misses_of_a_pruning_are_the_exact_ones() -> None:
    """One pruning after ten days takes what was never used until then; a use of it in the ten days after is a miss."""
    world = _ground([], [])
    ones = np.ones(4)
    now = Signals(ones, 0.0 * ones, 0.0 * ones, 0.0 * ones, np.array([False, False, False, True]), np.full(4, np.nan))
    settings = PruningSettings(reinforcements=0)
    found = futures(world, now, [PruningPolicy(1.0, 3)], settings, days=DAYS, cycle=10.0, draws=4000, seed=3)
    per_hour = world.rate / 24.0 * world.chance
    half = HOURS / 2
    unused = np.exp(-per_hour * half) * (world.idle < math.inf) * ~now.exempt
    missed = (unused * per_hour * half).sum()
    # The second pruning, at the very end, takes what has been unused ever since and is not gone yet: nothing.
    (way,) = found.ways
    assert way.missed.mean == pytest.approx(missed, rel=0.05)
    assert way.pruned.mean == pytest.approx(unused.sum(), rel=0.03)
    assert found.accesses.mean == pytest.approx(RATE * DAYS, rel=0.02)


@given(st.integers(0, 10_000), st.lists(st.floats(0.05, 1.0), min_size=1, max_size=3))
def test_a_looser_way_never_prunes_less_and_never_misses_less(seed: int, thresholds: list[float]) -> None:
    world = _ground([(0, 1), (2, 3)], [0.5, 0.5])
    part = np.linspace(0.0, 1.0, 4)
    now = Signals(part, part, 0.0 * part, part[::-1], np.zeros(4, dtype=bool), np.full(4, np.nan))
    tried = ways(thresholds)
    found = futures(world, now, tried, PruningSettings(), days=60, cycle=20, draws=2, seed=seed)
    for one, a in zip(tried, found.ways, strict=True):
        for two, b in zip(tried, found.ways, strict=True):
            if one.others >= two.others and one.threshold <= two.threshold:
                assert a.pruned.mean <= b.pruned.mean and a.missed.mean <= b.missed.mean
    assert any(w.best for w in found.ways)


def test_recall_is_asked_with_what_each_way_has_pruned() -> None:
    world = _ground([], [], rate=0.0)
    zeros, none = np.zeros(4), np.zeros(4, dtype=bool)
    now = Signals(zeros, zeros, zeros, np.array([0.0, 0.0, 1.0, 1.0]), none, np.full(4, np.nan))
    found = futures(
        world,
        now,
        [PruningPolicy(0.9, 3), PruningPolicy(0.9, 2)],
        PruningSettings(),
        days=400,
        cycle=400,
        draws=1,
        seed=0,
        recall=lambda gone: float((~gone).mean()),
    )
    assert [w.recall.mean for w in found.ways if w.recall] == [0.5, 0.0]
    assert found.recall_now == 1.0


def test_losing_edges_gives_the_exact_mean_over_all_graphs() -> None:
    pairs = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]
    world = _ground(pairs, [0.9, 0.8, 0.7, 0.6, 0.5], n=5, rate=0.0)
    loss = 0.3
    now = world.strength()
    scores = world.wiring.importance(now)
    exact = np.zeros(3)
    for kept in product((0, 1), repeat=len(pairs)):
        chance = math.prod(1 - loss if k else loss for k in kept)
        strength = now * np.array(kept)
        graph = nx.Graph([p for p, k in zip(pairs, kept, strict=True) if k])
        graph.add_nodes_from(range(5))
        after = world.wiring.importance(strength)
        exact += chance * np.array(
            [nx.number_connected_components(graph), stays(top(after), top(scores)), spearman(scores, after)]
        )
    (found,) = shake(world, noise=0.0, loss=loss, days=0, paces=(), draws=1200, seed=5).scenarios
    assert found.components.mean == pytest.approx(exact[0], rel=0.03)
    assert found.top_stays.mean == pytest.approx(exact[1], rel=0.03)
    assert found.rank.mean == pytest.approx(exact[2], abs=0.04)
    assert found.edges.mean == pytest.approx(1 - loss, rel=0.03)


def test_without_noise_the_graph_of_today_stands_and_faster_decay_dissolves_it() -> None:
    world = _ground([(0, 1), (1, 2)], [0.9, 0.8])
    found = shake(world, noise=0.0, loss=0.0, days=0, paces=(1.0,), draws=2, seed=5)
    for one in found.scenarios:
        assert (one.rank.mean, one.top_stays.mean, one.edges.mean) == (1.0, 1.0, 1.0)
    assert (found.firm == 1.0).all() and found.components_now == 2
    fading = replace(world, edge_decay=np.full(2, 0.01))
    slow, fast = shake(fading, noise=0.0, loss=0.0, days=10, paces=(0.1, 100.0), draws=2, seed=5).scenarios[1:]
    assert slow.edges.mean == 1.0 and fast.edges.mean == 0.0
    assert fast.components.mean == 4 and fast.top_stays.mean == 0.0


def _scene() -> tuple[list[Edge], Scene]:
    aged = NOW - timedelta(hours=50)
    titles = {i: i.upper() for i in "abc"}
    inner = Edge("a", "b", "related", 0.9, 0.9, aged, aged, 0.0001)
    new = [
        Edge("new", "a", "related", 0.5, 0.6, NOW, NOW, 0.004),
        Edge("b", "new", "mentions_same", 0.4, 0.3, NOW, NOW, 0.004),
        Edge("new", "c", "related", 0.9, 0.9, NOW, NOW, 0.02),
    ]
    return new, Scene(titles, (inner,))


def _chance_to_hold(edge: Edge, hours: float) -> float:
    """Exact, by quadrature: P(weight · belief · exp(-λ · pace · hours) ≥ ALIVE)."""
    z = np.linspace(-6, 6, 4001)
    normal = np.exp(-z * z / 2)
    x = (np.arange(200_000) + 0.5) / 200_000
    a, b = edge.confidence * BELIEF, (1 - edge.confidence) * BELIEF
    log = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x)
    weight = np.exp(log - log.max())
    upper = 1.0 - np.cumsum(weight) / weight.sum()
    least = ALIVE / (edge.weight * np.exp(-edge.decay_lambda * np.exp(DECAY_SPREAD * z) * hours))
    return float((np.interp(least, x, upper, left=1.0, right=0.0) * normal).sum() / normal.sum())


def test_a_link_holds_with_the_exact_chance_and_the_best_point_comes_first() -> None:
    links, scene = _scene()
    found = insert("new", "New", "note", links, scene, now=NOW, days=30, draws=1500, seed=2)
    exact = {(e.target_id if e.source_id == "new" else e.source_id): _chance_to_hold(e, 720.0) for e in links}
    assert 0.05 < exact["a"] < 0.95 and exact["c"] < 0.01
    for one in found.links:
        assert one.holds == pytest.approx(exact[one.other_id], abs=0.04)
        assert one.outgoing == (one.other_id != "b")
    assert found.holding.mean == pytest.approx(sum(exact.values()), abs=0.07)
    assert found.alone == pytest.approx(math.prod(1 - p for p in exact.values()), abs=0.04)
    assert {one.other_id: one.reach for one in found.links} == {"a": 2, "b": 2, "c": 1}
    worth = [one.worth for one in found.links]
    assert worth == sorted(worth, reverse=True)


@given(st.integers(1, 12), st.data())
def test_components_are_those_of_networkx(n: int, data: st.DataObject) -> None:
    place = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(place, place), max_size=20))
    alive = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))), dtype=bool)
    labels = _wiring(n, pairs).labels(alive)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(p for p, there in zip(pairs, alive, strict=True) if there)
    for part in nx.connected_components(graph):
        assert {int(labels[i]) for i in part} == {min(part)}


def test_senseless_numbers_are_refused() -> None:
    world = _ground([], [])
    zeros = np.zeros(4)
    now = Signals(zeros, zeros, zeros, zeros, np.zeros(4, dtype=bool), np.full(4, np.nan))
    with pytest.raises(UsageError):
        evolve(world, days=-1, draws=1, seed=0, steps=1, threshold=0.1)
    with pytest.raises(UsageError):
        evolve(world, days=1, draws=1, seed=0, steps=0, threshold=0.1)
    with pytest.raises(UsageError):
        evolve(_ground([], [], rate=1e9), days=1, draws=1, seed=0, steps=1, threshold=0.1)
    with pytest.raises(UsageError):
        futures(world, now, [PruningPolicy(0.1, 3)], PruningSettings(), days=9, cycle=0, draws=1, seed=0)
    with pytest.raises(UsageError):
        ways([0.0])
    with pytest.raises(UsageError):
        shake(world, noise=-1, loss=0, days=1, paces=(), draws=1, seed=0)
    with pytest.raises(UsageError):
        shake(world, noise=0, loss=0, days=1, paces=(math.nan,), draws=1, seed=0)
