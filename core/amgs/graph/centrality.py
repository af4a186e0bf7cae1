"""Measure how central blocks are (AMGS §7.4): degree, eigenvector, PageRank and betweenness, each scaled to [0, 1].

Degree, eigenvector and betweenness use the undirected graph. PageRank follows relations in their direction, except
those that mean the same both ways.

The code is NumPy because a search scores by it: NetworkX would take seconds to import and to measure 100,000 blocks
(docs/lifecycle.md). The tests compare every measure with NetworkX.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amgs.types import Centrality

if TYPE_CHECKING:
    from amgs.graph.view import Adjacency, GraphView

SYMMETRIC = frozenset({"related", "next", "previous", "mentions_same", "contradicts", "duplicates"})
"""Relations whose direction means nothing: PageRank follows them both ways."""

BRIEF_BYTES = 60
"""A block of fewer bytes, such as "Yes, thank you.", is brief: its `related` and `next` edges mean little."""
LIKENESS_AND_PLACE = frozenset({"related", "next"})
"""Relations that come from similarity and position alone, not from what a text says."""

_DAMPING = 0.85
_ROUNDS = 200
_TOLERANCE = 1e-10
_PIVOTS = 64
EXACT_NODES = 1000
"""Above this size betweenness is sampled."""

Scores = NDArray[np.float64]
"""(n,) values of the nodes, in [0, 1]."""


@dataclass(frozen=True, eq=False)
class Measures:
    """Measures of all nodes of a view; betweenness is None unless it was requested."""

    degree: Scores
    eigenvector: Scores
    pagerank: Scores
    betweenness: Scores | None = None

    def of(self, node: int) -> Centrality:
        """Return the measures of a node."""
        between = self.betweenness
        return Centrality(
            degree=float(self.degree[node]),
            eigenvector=float(self.eigenvector[node]),
            pagerank=float(self.pagerank[node]),
            betweenness=0.0 if between is None else float(between[node]),
        )

    def importance(self) -> Scores:
        """Return the centrality that scores use (n,): the mean of degree, eigenvector and PageRank.

        Betweenness is left out: it takes a thousand times longer, and finds bridges rather than central blocks.
        """
        return np.asarray((self.degree + self.eigenvector + self.pagerank) / 3.0)


def measure(view: GraphView, *, bridges: bool = False, seed: int = 0) -> Measures:
    """Return the measures of a view. bridges: betweenness too; above EXACT_NODES it is sampled with `seed`."""
    adjacency = view.adjacency
    pivots = view.nodes.size if view.nodes.size <= EXACT_NODES else _PIVOTS
    between = betweenness(adjacency, pivots, seed) if bridges else None
    return Measures(degree(adjacency), eigenvector(adjacency), pagerank(view), between)


def brief_edges(view: GraphView, brief: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return (m,) which edges are `related` or `next` edges of a brief block. brief: (k,) numbers of those blocks.

    Centrality ignores such edges: short turns resemble each other, and would be the most central blocks of every
    conversation.
    """
    is_brief = np.isin(view.nodes, brief)
    mask: NDArray[np.bool_] = is_brief[view.source] | is_brief[view.target]
    for row in np.flatnonzero(mask).tolist():
        mask[row] = view.columns.relation[row] in LIKENESS_AND_PLACE
    return mask


def without_brief_edges(view: GraphView, brief: NDArray[np.int64]) -> GraphView:
    """Return the view that centrality is measured on: without the `brief_edges`."""
    idle = brief_edges(view, brief)
    return view.only(np.flatnonzero(~idle)) if idle.any() else view


def degree(adjacency: Adjacency) -> Scores:
    """Return each node's number of neighbours, divided by the greatest."""
    return _scale_by_maximum(adjacency.degrees.astype(np.float64))


def eigenvector(adjacency: Adjacency) -> Scores:
    """Return the leading eigenvector of the strengths, scaled; power iteration on A + I, which always converges."""
    n = adjacency.starts.size - 1
    if not adjacency.neighbour.size:
        return np.zeros(n)
    ends = np.repeat(np.arange(n), adjacency.degrees)
    values: Scores = np.full(n, n**-0.5, dtype=np.float64)
    for _ in range(_ROUNDS):
        # A count of bins takes a third of the time of `add.reduceat`, where most nodes have few edges.
        inflow = adjacency.strength * values[adjacency.neighbour]
        next_values: Scores = values + np.bincount(ends, weights=inflow, minlength=n)
        # Not linalg.norm: its threads cost more than the sum.
        next_values /= math.sqrt(float((next_values * next_values).sum()))
        moved = float(np.abs(next_values - values).max())
        values = next_values
        if moved < _TOLERANCE:
            break
    # A node without edges keeps only the start value, which is no centrality.
    values[adjacency.degrees == 0] = 0.0
    return _scale_by_maximum(values)


def pagerank(view: GraphView) -> Scores:
    """Return the weighted PageRank with damping .85, scaled, less what every node gets from random jumps; a node
    without outgoing edges jumps anywhere. All 0 where there are no edges.
    """
    n = view.nodes.size
    both = np.array([relation in SYMMETRIC for relation in view.columns.relation.tolist()], dtype=np.bool_)
    real = view.source != view.target
    ahead, back = real, real & both
    begin = np.concatenate([view.source[ahead], view.target[back]])
    end = np.concatenate([view.target[ahead], view.source[back]])
    strength = np.concatenate([view.strength[ahead], view.strength[back]])
    if not strength.size or float(strength.max()) <= 0.0:
        return np.zeros(n)
    out = np.bincount(begin, weights=strength, minlength=n)
    share = np.divide(strength, out[begin], out=np.zeros_like(strength), where=out[begin] > 0)
    dead_end = out <= 0
    rank = np.full(n, 1.0 / n)
    for _ in range(_ROUNDS):
        flow = np.bincount(end, weights=share * rank[begin], minlength=n)
        next_values = (1 - _DAMPING) / n + _DAMPING * (flow + float(rank[dead_end].sum()) / n)
        moved = float(np.abs(next_values - rank).sum())
        rank = next_values
        if moved < _TOLERANCE:
            break
    # Every node gets the jump; centrality is what comes along relations.
    jump = (1 - _DAMPING) / n + _DAMPING * float(rank[dead_end].sum()) / n
    return _scale_by_maximum(np.maximum(rank - jump, 0.0))


def betweenness(adjacency: Adjacency, pivots: int, seed: int) -> Scores:
    """Return the number of shortest paths (in hops) through each node, divided by the greatest.

    Where the graph has more than `pivots` nodes, it is estimated from paths that start at so many random ones (Brandes
    and Pich, 2007).
    """
    n = adjacency.starts.size - 1
    total = np.zeros(n)
    chosen = np.random.default_rng(seed).permutation(n)[:pivots]
    for pivot in chosen.tolist():
        total += _dependencies(adjacency, pivot)
    return _scale_by_maximum(total)


def _dependencies(adjacency: Adjacency, pivot: int) -> Scores:
    """Return Brandes' dependency of the pivot on every node (n,): a breadth-first search forward, a level at a time,
    and the sums of path shares back.
    """
    n = adjacency.starts.size - 1
    distance = np.full(n, -1, dtype=np.int64)
    paths = np.zeros(n)
    distance[pivot], paths[pivot] = 0, 1.0
    level = np.array([pivot], dtype=np.int64)
    steps: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    while level.size:
        begin, end = _outgoing(adjacency, level)
        fresh = distance[end] < 0
        next_values = np.unique(end[fresh])
        distance[next_values] = len(steps) + 1
        forward = distance[end] == len(steps) + 1
        begin, end = begin[forward], end[forward]
        paths += np.bincount(end, weights=paths[begin], minlength=n)
        steps.append((begin, end))
        level = next_values
    dependency = np.zeros(n)
    for begin, end in reversed(steps):
        dependency += np.bincount(begin, weights=paths[begin] / paths[end] * (1 + dependency[end]), minlength=n)
    dependency[pivot] = 0.0
    return dependency


def _outgoing(adjacency: Adjacency, level: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the edges from the nodes of a level, as an array of nodes and a neighbour."""
    counts = adjacency.degrees[level]
    begin = np.repeat(level, counts)
    first = np.repeat(adjacency.starts[level] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    return begin, adjacency.neighbour[first + np.arange(begin.size)]


def _scale_by_maximum(values: Scores) -> Scores:
    """Divide by the greatest value; all 0 where that is 0."""
    greatest = float(values.max()) if values.size else 0.0
    return np.clip(values / greatest, 0.0, 1.0) if greatest > 0 else np.zeros_like(values)
