"""What every simulation shares: draws and their spread, and a graph whose strengths differ from draw to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from amgs.errors import UsageError
from amgs.graph.centrality import measure
from amgs.graph.view import GraphView
from amgs.storage.edges import EdgeColumns

ALIVE = 0.02
"""Strength from which an edge still joins two blocks into one component."""

BELIEF = 20.0
"""How many observations a confidence is worth: the sum of the Beta distribution's two parameters."""

DECAY_SPREAD = 0.25
"""Standard deviation of ln λ: decay constants are profiles, not measurements."""

TOP = 20
"""How many of the most central blocks are watched."""

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity over the draws: its mean, and the 5th and 95th percentile."""

    mean: float
    low: float
    high: float


def spread(values: Sequence[float] | Floats) -> Spread:
    """The spread of one value a draw."""
    given = np.asarray(values, dtype=np.float64)
    low, high = np.percentile(given, [5, 95])
    return Spread(round(float(given.mean()), 6), round(float(low), 6), round(float(high), 6))


def check(days: float, draws: int) -> None:
    """Raise UsageError for days or draws out of range."""
    if type(draws) is not int or not 0 <= days <= 36_500 or not 1 <= draws <= 10_000:
        raise UsageError(
            f"A simulation allows 0 to 36500 days and 1 to 10000 draws, got {days:g} and {draws}.",
            way_out="Give fewer days or draws.",
        )


def luck(beliefs: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(factor on each confidence (m,), factor on each λ (m,)) of one draw.

    A confidence is not a number but a belief: a Beta distribution around it, worth `BELIEF` observations.
    """
    pace = np.exp(DECAY_SPREAD * rng.standard_normal(beliefs.size))
    inside = np.clip(beliefs, 1e-3, 1.0 - 1e-3)
    return rng.beta(inside * BELIEF, (1.0 - inside) * BELIEF) / inside, pace


@dataclass(frozen=True, eq=False)
class Wiring:
    """Who is joined to whom among n blocks: source, target (m,) places, relation (m,) names. idle: (m,) edges that
    count for no centrality, None where there is none.
    """

    n: int
    source: Places
    target: Places
    relation: NDArray[np.object_]
    idle: Mask | None = None

    def importance(self, strength: Floats) -> Floats:
        """(n,) the mean of degree, eigenvector and PageRank over the edges that are alive at strengths (m,)."""
        counted = strength >= ALIVE
        alive = np.flatnonzero(counted if self.idle is None else counted & ~self.idle)
        zeros = np.zeros(alive.size, dtype=np.int64)
        source, target, left = self.source[alive], self.target[alive], strength[alive]
        rows = EdgeColumns(source, target, self.relation[alive], left, left, zeros, zeros, left)
        nodes = np.arange(self.n, dtype=np.int64)
        return measure(GraphView(nodes, rows, source, target, left, _ANY_TIME)).importance()

    def labels(self, alive: Mask) -> Places:
        """(n,) for each block the least place of its connected component over the edges (m,) that are alive."""
        source, target = self.source[alive], self.target[alive]
        label = np.arange(self.n, dtype=np.int64)
        while True:
            least = np.minimum(label[source], label[target])
            following = label.copy()
            for at in (source, target, label[source], label[target]):
                np.minimum.at(following, at, least)
            following = following[following]
            if np.array_equal(following, label):
                return label
            label = following

    def rows_at(self) -> tuple[Places, Places, Places]:
        """Edges by block, as (starts (n + 1,), edge (2m,), other end (2m,)); an edge stands at both its ends."""
        begin = np.concatenate([self.source, self.target])
        order = np.argsort(begin, kind="stable")
        starts = np.zeros(self.n + 1, dtype=np.int64)
        np.cumsum(np.bincount(begin, minlength=self.n), out=starts[1:])
        edge = np.tile(np.arange(self.source.size, dtype=np.int64), 2)[order]
        return starts, edge, np.concatenate([self.target, self.source])[order]


_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def top(scores: Floats, present: Mask | None = None) -> frozenset[int]:
    """The places of the most central blocks, ties to the first; blocks without any centrality are none."""
    there = scores > 0 if present is None else present & (scores > 0)
    order = np.flatnonzero(there)
    return frozenset(order[np.lexsort((order, -scores[order]))][:TOP].tolist())


def stays(then: frozenset[int], now: frozenset[int]) -> float:
    """Share of the blocks that were on top and still are; 1 where there were none."""
    return len(then & now) / len(now) if now else 1.0
