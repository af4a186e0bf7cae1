"""Simulate the effect of a change: a graph with uncertain edges is used and decays, in many random draws (AMGS §7.6).

All scenarios of a draw share their random numbers and uses, so that they differ only by the change. Nothing is written,
and the same seed gives the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from amgs import bounds
from amgs.clock import EPOCH
from amgs.errors import UsageError
from amgs.graph.centrality import measure
from amgs.graph.traversal import components
from amgs.graph.view import GraphView
from amgs.settings import PruningSettings
from amgs.storage.edges import EdgeColumns
from amgs.types import Progress

ALIVE: Final = 0.02
"""Strength from which an edge counts."""

BELIEF: Final = 20.0
"""Number of observations that a confidence stands for: the sum of the two parameters of its Beta distribution."""

DECAY_SPREAD: Final = 0.25
"""Standard deviation of ln λ: decay constants are profiles, not measurements."""

CYCLE_HOURS: Final = 720.0
"""Time between two prunings."""

TOP: Final = 20

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class UncertainGraph:
    """The n blocks and m edges of all scenarios.

    idle, edge_idle: hours since the last use. chance: (n,) probability that a use finds the block, sum 1. source,
    target: indexes of blocks. luck: (m,) edges with the same number share their random draws.
    """

    idle: Floats
    decay: Floats
    uses: Floats
    confidence: Floats
    exempt: Mask
    chance: Floats
    source: Places
    target: Places
    relation: NDArray[np.object_]
    weight: Floats
    belief: Floats
    edge_idle: Floats
    edge_decay: Floats
    luck: Places

    def view(self, strength: Floats) -> GraphView:
        """Return the graph of the edges that live at these strengths (m,)."""
        alive = np.flatnonzero(strength >= ALIVE)
        source, target, left = self.source[alive], self.target[alive], strength[alive]
        zeros = np.zeros(alive.size, np.int64)
        columns = EdgeColumns(source, target, self.relation[alive], left, left, zeros, zeros, left)
        return GraphView(np.arange(self.idle.size, dtype=np.int64), columns, source, target, left, EPOCH)


@dataclass(frozen=True, eq=False)
class Scenario:
    """A variant of the memory. blocks (n,), edges (m,): masks of what exists.

    pace: factor on all decay. threshold: relevance below which each cycle prunes blocks that are low in the other three
    signs too. watched: index of a new block whose links are measured.
    """

    name: str
    blocks: Mask
    edges: Mask
    pace: float = 1.0
    threshold: float = 0.0
    watched: int | None = None


@dataclass(frozen=True, slots=True)
class Quantiles:
    """A measure of a scenario over the draws. change: median of its difference from the first scenario, draw by draw;
    None in the first.
    """

    scenario: str
    measure: str
    low: float
    median: float
    high: float
    change: float | None


@dataclass(frozen=True, slots=True)
class Simulation:
    """Result of the draws.

    rate: uses a day. rows: 5th, 50th and 95th percentile. blocks: ids of the insertion points, the best first.
    synthetic: blocks of the invented memory; 0 for the user's own.
    """

    days: float
    draws: int
    seed: int
    rate: float
    rows: tuple[Quantiles, ...]
    blocks: tuple[str, ...] = ()
    synthetic: int = 0


def draw(
    graph: UncertainGraph,
    scenarios: Sequence[Scenario],
    *,
    draws: int,
    seed: int,
    days: float,
    rate: float,
    relevance: float,
    limits: PruningSettings,
    progress: Progress | None = None,
) -> tuple[Quantiles, ...]:
    """Simulate `days` in every scenario, `draws` times, and return quantiles of each measure. Each draw is
    the same in all scenarios.

    rate: uses a day. relevance: from which a block counts as remembered. Raises UsageError for numbers out of range.
    """
    if type(draws) is not int or not 0 <= days <= 36_500 or not 1 <= draws <= 10_000 or not 0 <= rate * days <= 1e6:
        raise UsageError(
            f"Cannot simulate {days:g} days with {rate:g} uses a day in {draws} draws.",
            way_out="It takes 0 to 36500 days, 1 to 10000 draws and at most a million uses in all.",
        )
    bounds.count("A seed", seed)
    first = scenarios[0]
    now = np.where(first.edges, graph.weight * graph.belief * np.exp(-graph.edge_decay * graph.edge_idle), 0.0)
    central = measure(graph.view(now)).importance()
    today = _top(central, first.blocks)
    low = (central <= limits.centrality) & (graph.confidence <= limits.confidence) & ~graph.exempt
    seen: list[list[dict[str, float]]] = [[] for _ in scenarios]
    for number in range(draws):
        if progress is not None:
            progress(number, draws, "drawing futures")
        life = _Life(graph, np.random.default_rng([seed, number]), 24.0 * days, rate)
        for place, scenario in enumerate(scenarios):
            here, strength, block_count, missed = life.run(scenario, low, limits.reinforcements, relevance)
            if scenario.watched is None:
                measures = _measures(graph, scenario, here, strength, today) | {"blocks": block_count, "misses": missed}
            else:
                measures = _reach(graph, strength, scenario.watched)
            seen[place].append(measures)
    pruning = any(s.threshold for s in scenarios)
    rows = []
    for scenario, values in zip(scenarios, seen, strict=True):
        for name in values[0]:
            if name != "misses" or pruning:
                column, base = (np.array([v.get(name, 0.0) for v in some]) for some in (values, seen[0]))
                low5, median, high95 = np.percentile(column, [5, 50, 95]).round(6).tolist()
                change = None if scenario is first else round(float(np.median(column - base)), 6)
                rows.append(Quantiles(scenario.name, name, low5, median, high95, change))
    return tuple(rows)


class _Life:
    """The random numbers of a draw: strength and decay of the edges, and the uses, each of which finds a block and may
    reinforce the block's edges.
    """

    def __init__(self, graph: UncertainGraph, rng: np.random.Generator, hours: float, rate: float) -> None:
        self._graph, self._hours = graph, hours
        _, first = np.unique(graph.luck, return_index=True)
        belief = np.clip(graph.belief[first], 1e-3, 1 - 1e-3)
        factor = (rng.beta(belief * BELIEF, (1 - belief) * BELIEF) / belief)[graph.luck]
        self._full = graph.weight * np.clip(graph.belief * factor, 0.0, 1.0)
        self._decay = graph.edge_decay * np.exp(DECAY_SPREAD * rng.standard_normal(first.size))[graph.luck]
        count = int(rng.poisson(rate / 24.0 * hours)) if graph.idle.size else 0
        self._at = np.sort(rng.uniform(0.0, hours, count))
        self._found = rng.choice(graph.idle.size, count, p=graph.chance) if count else np.zeros(0, np.int64)
        # Every edge at the block of every use, and how it falls whether it is walked.
        ends = np.concatenate([graph.source, graph.target])
        order = np.argsort(ends, kind="stable")
        begin, stop = (np.searchsorted(ends[order], self._found, side) for side in ("left", "right"))
        self._use = np.repeat(np.arange(count), stop - begin)
        beside = order[np.arange(self._use.size) + np.repeat(stop - np.cumsum(stop - begin), stop - begin)]
        self._edge = beside % max(1, graph.source.size)
        self._other = np.concatenate([graph.target, graph.source])[beside]
        self._dice = rng.random(self._use.size)

    def run(
        self, scenario: Scenario, low: Mask, uses_limit: float, relevance: float
    ) -> tuple[Mask, Floats, float, float]:
        """Return (blocks that are not pruned (n,), strength of the edges (m,), how many blocks hold, share of the uses
        that find nothing).
        """
        graph, decay = self._graph, self._decay * scenario.pace
        last, edge_last, uses = -graph.idle, -graph.edge_idle, graph.uses.copy()
        here, begin, missed = scenario.blocks.copy(), 0.0, 0
        ends = [*np.arange(CYCLE_HOURS, self._hours, CYCLE_HOURS).tolist(), self._hours]
        for end in ends:
            part = (self._at >= begin) & (self._at < end)
            blocks, walks = self._found[part], part[self._use]
            missed += int((scenario.blocks & ~here)[blocks].sum())
            at, edge, other = self._at[self._use[walks]], self._edge[walks], self._other[walks]
            there = scenario.edges[edge] & (
                self._dice[walks] < self._full[edge] * np.exp(-decay[edge] * (at - edge_last[edge]))
            )
            np.maximum.at(edge_last, edge[there], at[there])
            touched, when = np.append(blocks, other[there]), np.append(self._at[part], at[there])
            np.maximum.at(last, touched, when)
            np.add.at(uses, touched, 1.0)
            level = np.exp(-graph.decay * scenario.pace * (end - last))
            here &= ~((level < scenario.threshold) & low & (uses <= uses_limit))
            begin = end
        joined = scenario.edges & here[graph.source] & here[graph.target]
        strength = np.where(joined, self._full * np.exp(-decay * (self._hours - edge_last)), 0.0)
        asked = scenario.blocks[self._found].sum()
        return here, strength, float((here & (level >= relevance)).sum()), missed / max(1, int(asked))


def _measures(
    graph: UncertainGraph, scenario: Scenario, here: Mask, strength: Floats, today: Places
) -> dict[str, float]:
    """Return the measures of a scenario's graph. today: indexes of the blocks that are most central now."""
    view = graph.view(strength)
    top = _top(measure(view).importance(), here)
    return {
        "edges": float(view.source.size),
        "mean strength": float(strength[scenario.edges].mean()) if scenario.edges.any() else 0.0,
        "components": float(np.unique(components(view)[here]).size),
        "top 20 that stay": float(np.isin(today, top).mean()) if today.size else 1.0,
    }


def _reach(graph: UncertainGraph, strength: Floats, new: int) -> dict[str, float]:
    """Return what a new block is joined to: living links, blocks within two steps, and its centrality."""
    view = graph.view(strength)
    near = np.arange(graph.idle.size) == new
    for _ in range(2):
        near[view.target[near[view.source]]], near[view.source[near[view.target]]] = True, True
    return {
        "links": float(((view.source == new) | (view.target == new)).sum()),
        "within two steps": float(near.sum() - 1),
        "centrality": float(measure(view).importance()[new]),
    }


def _top(central: Floats, present: Mask) -> Places:
    """Return places of the most central blocks, ties to the first."""
    there = np.flatnonzero(present & (central > 0))
    return there[np.lexsort((there, -central[there]))][:TOP]
