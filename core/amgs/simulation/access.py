"""A memory in use: accesses come at random, reset clocks, and walk edges (AMGS §8.4).

Accesses are a Poisson process. Each finds one block, by chances in proportion to one more than the uses it had; walks
each of that block's edges with the chance of its strength at the time; and reinforces what it found, what it walked to,
and the edges walked.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from amgs.graph.centrality import of_brief
from amgs.graph.view import GraphView
from amgs.simulation.draws import Floats, Mask, Places, Wiring
from amgs.storage.block_columns import BlockFacts


@dataclass(frozen=True, eq=False)
class AccessWorld:
    """n blocks and m edges among them as they stand now; times are hours.

    idle, edge_idle: since the last reinforcement. full: weight x confidence of the edges. chance: (n,) of being what an
    access finds, sum 1. rate: accesses a day.
    """

    idle: Floats
    decay: Floats
    uses: Floats
    chance: Floats
    rate: float
    wiring: Wiring
    full: Floats
    edge_idle: Floats
    edge_decay: Floats

    @property
    def n(self) -> int:
        return int(self.idle.size)

    def strength(self) -> Floats:
        """(m,) of the edges now."""
        return np.asarray(self.full * np.exp(-self.edge_decay * self.edge_idle))


def world(facts: BlockFacts, view: GraphView, now: datetime, rate: float, brief: Places | None = None) -> AccessWorld:
    """The ground under the blocks of `facts`, with the edges of the view that join two of them. brief: numbers of the
    blocks whose likeness and place count for no centrality.
    """
    idle = of_brief(view, np.zeros(0, np.int64) if brief is None else brief)
    instant = int(now.timestamp() * 1e6)
    at = np.searchsorted(facts.numbers, view.nodes)
    at[at >= facts.numbers.size] = 0
    place = np.where(facts.numbers[at] == view.nodes, at, -1) if facts.numbers.size else np.full(at.size, -1)
    source, target = place[view.source], place[view.target]
    inside: Mask = (source >= 0) & (target >= 0) & (source != target)
    c = view.columns
    times = 1.0 + facts.reinforcements
    return AccessWorld(
        idle=np.maximum(instant - facts.reinforced, 0) / 3.6e9,
        decay=facts.decay_lambda,
        uses=facts.reinforcements.astype(np.float64),
        chance=times / times.sum() if times.size else times.astype(np.float64),
        rate=rate,
        wiring=Wiring(facts.numbers.size, source[inside], target[inside], c.relation[inside], idle[inside]),
        full=(c.weight * c.confidence)[inside],
        edge_idle=np.maximum(instant - c.reinforced[inside], 0) / 3.6e9,
        edge_decay=c.decay_lambda[inside],
    )


class Life:
    """One draw: the clocks of blocks and edges as accesses move them on."""

    def __init__(self, world: AccessWorld, rows: tuple[Places, Places, Places], rng: np.random.Generator) -> None:
        """rows: `Wiring.rows_at` of the ground, which all draws share."""
        self.world = world
        self.hours = 0.0
        self.uses = world.uses.copy()
        self._rng = rng
        self._rows = rows
        self._last = -world.idle
        self._edge_last = -world.edge_idle
        self._upto = np.cumsum(world.chance)

    def live(self, until: float) -> Places:
        """Live on to `until` hours from the start; gives the place of what each access found, in order."""
        g = self.world
        count = int(self._rng.poisson(g.rate / 24.0 * (until - self.hours))) if g.n else 0
        times = np.sort(self._rng.uniform(self.hours, until, count))
        found = np.searchsorted(self._upto, self._rng.random(count) * self._upto[-1:], side="right")
        found = np.minimum(found, g.n - 1)
        for time, place in zip(times.tolist(), found.tolist(), strict=True):
            self._use(time, place)
        self.hours = until
        return found

    def relevance(self) -> Floats:
        """(n,) of the blocks now."""
        return np.asarray(np.exp(-self.world.decay * (self.hours - self._last)))

    def strength(self) -> Floats:
        """(m,) of the edges now."""
        g = self.world
        return np.asarray(g.full * np.exp(-g.edge_decay * (self.hours - self._edge_last)))

    def _use(self, time: float, place: int) -> None:
        g = self.world
        starts, edges, others = self._rows
        here = slice(int(starts[place]), int(starts[place + 1]))
        rows = edges[here]
        strength = g.full[rows] * np.exp(-g.edge_decay[rows] * (time - self._edge_last[rows]))
        walked = self._rng.random(rows.size) < strength
        self._edge_last[rows[walked]] = time
        # One access uses a block once, by however many edges it was reached.
        touched = np.unique(np.append(others[here][walked], place))
        self._last[touched] = time
        self.uses[touched] += 1.0
