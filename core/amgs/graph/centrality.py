"""A block's place in the graph (AMGS §7.4): degree, eigenvector, PageRank and betweenness, each scaled to [0,
1].

Degree, eigenvector and betweenness read the undirected graph: who is connected. PageRank follows relations in
their direction, except those that mean the same both ways.

This is the numerical twin of NetworkX, which the tests hold it against: a search scores by it, and must neither wait
seconds for 100,000 blocks nor import what walks a graph (docs/lifecycle.md has the figures).
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
"""Relations whose direction says nothing: PageRank walks them both ways."""

BRIEF_BYTES = 60
"""A block shorter than this says too little for likeness or place to mean anything: "Yes, thank you."."""
LIKENESS_AND_PLACE = frozenset({"related", "next"})
"""Relations that any two texts may stand in, whatever they say."""

_DAMPING = 0.85
_ROUNDS = 200
_TOLERANCE = 1e-10
_PIVOTS = 64
EXACT_NODES = 1000
"""Above this size betweenness is sampled."""

Scores = NDArray[np.float64]
"""(n,) one value a node, in [0, 1]."""


@dataclass(frozen=True, eq=False)
class Measures:
    """The measures of all nodes of one view; betweenness is None until it is asked for."""

    degree: Scores
    eigenvector: Scores
    pagerank: Scores
    betweenness: Scores | None = None

    def of(self, node: int) -> Centrality:
        """Return the measures of one node."""
        between = self.betweenness
        return Centrality(
            degree=float(self.degree[node]),
            eigenvector=float(self.eigenvector[node]),
            pagerank=float(self.pagerank[node]),
            betweenness=0.0 if between is None else float(between[node]),
        )

    def importance(self) -> Scores:
        """Return the one number that scoring uses: the mean of degree, eigenvector and PageRank.

        Betweenness stays out: it costs a thousand times more and says who bridges, not who matters.
        """
        return np.asarray((self.degree + self.eigenvector + self.pagerank) / 3.0)


def measure(view: GraphView, *, bridges: bool = False, seed: int = 0) -> Measures:
    """Return all measures of a view; betweenness where `bridges` are asked for, above `EXACT_NODES` sampled with
    `seed`.
    """
    adjacency = view.adjacency
    pivots = view.nodes.size if view.nodes.size <= EXACT_NODES else _PIVOTS
    between = betweenness(adjacency, pivots, seed) if bridges else None
    return Measures(degree(adjacency), eigenvector(adjacency), pagerank(view), between)


def of_brief(view: GraphView, brief: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return (m,) whether an edge is a `related` or `next` one of a brief block (numbers, (k,)). Such edges count for
    no centrality: short turns resemble each other, and would be the most central blocks of every conversation.
    """
    quiet = np.isin(view.nodes, brief)
    mask: NDArray[np.bool_] = quiet[view.source] | quiet[view.target]
    for row in np.flatnonzero(mask).tolist():
        mask[row] = view.columns.relation[row] in LIKENESS_AND_PLACE
    return mask


def telling(view: GraphView, brief: NDArray[np.int64]) -> GraphView:
    """Return the view that centrality is measured on: without the edges `of_brief` blocks."""
    idle = of_brief(view, brief)
    return view.only(np.flatnonzero(~idle)) if idle.any() else view


def degree(adjacency: Adjacency) -> Scores:
    """Return distinct neighbours over those of the best connected node."""
    return _scale_by_maximum(adjacency.degrees.astype(np.float64))


def eigenvector(adjacency: Adjacency) -> Scores:
    """Return the leading eigenvector of the strengths, by power iteration on A + I, which always converges."""
    n = adjacency.starts.size - 1
    if not adjacency.neighbour.size:
        return np.zeros(n)
    tied = np.flatnonzero(adjacency.degrees)
    first = adjacency.starts[tied]
    values: Scores = np.full(n, n**-0.5, dtype=np.float64)
    for _ in range(_ROUNDS):
        following: Scores = values.copy()
        following[tied] += np.add.reduceat(adjacency.strength * values[adjacency.neighbour], first)
        # Not linalg.norm: its threads cost more than the sum.
        following /= math.sqrt(float((following * following).sum()))
        moved = float(np.abs(following - values).max())
        values = following
        if moved < _TOLERANCE:
            break
    # What is left of the start in components the leading vector does not reach is noise, not centrality.
    values[adjacency.degrees == 0] = 0.0
    return _scale_by_maximum(values)


def pagerank(view: GraphView) -> Scores:
    """Weighted PageRank with damping .85; a node without a way out jumps anywhere. 0 where nothing is
    connected.
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
    lost = out <= 0
    # In order of where they end, so that one pass over the edges sums what flows into each node.
    order = np.argsort(end, kind="stable")
    begin, share = begin[order], share[order]
    reached, first = np.unique(end[order], return_index=True)
    flow = np.zeros(n)
    rank = np.full(n, 1.0 / n)
    for _ in range(_ROUNDS):
        flow[reached] = np.add.reduceat(share * rank[begin], first)
        following = (1 - _DAMPING) / n + _DAMPING * (flow + float(rank[lost].sum()) / n)
        moved = float(np.abs(following - rank).sum())
        rank = following
        if moved < _TOLERANCE:
            break
    # Everybody gets the jump; centrality is what a node is given along relations.
    jump = (1 - _DAMPING) / n + _DAMPING * float(rank[lost].sum()) / n
    return _scale_by_maximum(np.maximum(rank - jump, 0.0))


def betweenness(adjacency: Adjacency, pivots: int, seed: int) -> Scores:
    """Shortest paths (in hops) through each node over those through the most passed one; estimated from the paths that
    begin at `pivots` random nodes where there are more (Brandes and Pich, 2007).
    """
    n = adjacency.starts.size - 1
    total = np.zeros(n)
    chosen = np.random.default_rng(seed).permutation(n)[:pivots]
    for pivot in chosen.tolist():
        total += _dependencies(adjacency, pivot)
    return _scale_by_maximum(total)


def _dependencies(adjacency: Adjacency, pivot: int) -> Scores:
    """Brandes' dependency of one source on every node, a whole level of the search at a time."""
    n = adjacency.starts.size - 1
    distance = np.full(n, -1, dtype=np.int64)
    paths = np.zeros(n)
    distance[pivot], paths[pivot] = 0, 1.0
    level = np.array([pivot], dtype=np.int64)
    steps: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    while level.size:
        begin, end = _outgoing(adjacency, level)
        fresh = distance[end] < 0
        following = np.unique(end[fresh])
        distance[following] = len(steps) + 1
        forward = distance[end] == len(steps) + 1
        begin, end = begin[forward], end[forward]
        paths += np.bincount(end, weights=paths[begin], minlength=n)
        steps.append((begin, end))
        level = following
    dependency = np.zeros(n)
    for begin, end in reversed(steps):
        dependency += np.bincount(begin, weights=paths[begin] / paths[end] * (1 + dependency[end]), minlength=n)
    dependency[pivot] = 0.0
    return dependency


def _outgoing(adjacency: Adjacency, level: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every (node of the level, neighbour) pair as two arrays."""
    counts = adjacency.degrees[level]
    begin = np.repeat(level, counts)
    first = np.repeat(adjacency.starts[level] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    return begin, adjacency.neighbour[first + np.arange(begin.size)]


def _scale_by_maximum(values: Scores) -> Scores:
    """Over the greatest, so that it reads 1; all 0 stays 0."""
    greatest = float(values.max()) if values.size else 0.0
    return np.clip(values / greatest, 0.0, 1.0) if greatest > 0 else np.zeros_like(values)
