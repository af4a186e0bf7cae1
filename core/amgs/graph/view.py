"""Represent the graph at an instant as arrays: its edges, each with strength = weight x confidence x relevance.

Nodes are numbers of blocks. A view never changes, so threads share it; `LiveGraph` (live.py) makes a new view when
edges change or time passes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amgs.clock import EPOCH, microseconds_of
from amgs.index.arrays import difference
from amgs.storage.edges import EdgeColumns, WalkColumns
from amgs.types import Edge, LiveEdge

if TYPE_CHECKING:
    import networkx

_MICROSECONDS_PER_HOUR = 3_600_000_000.0


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Undirected simple graph in compressed rows: node i has the neighbours at places starts[i] to starts[i + 1].

    starts: (n + 1,). neighbour: (k,) node indices, ascending in each row. strength: (k,); parallel edges are joined as
    independent chances (noisy or), loops are left out.
    """

    starts: NDArray[np.int64]
    neighbour: NDArray[np.int64]
    strength: NDArray[np.float64]

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of distinct neighbours of each node: (n,)."""
        return np.diff(self.starts)

    def rows(self) -> NDArray[np.int64]:
        """Return (k,) the node of each place in `neighbour`."""
        return np.repeat(np.arange(self.starts.size - 1), self.degrees)


@dataclass(frozen=True, eq=False)
class Ties:
    """Edges of each node in both directions, in compressed rows: node i has places starts[i] to starts[i + 1].

    starts: (n + 1,). neighbour: (k,) node indices, ascending in each row. edge: (k,) rows of the edges. Loops are left
    out. It depends on the edges only, so a view with new strengths shares it.
    """

    starts: NDArray[np.int64]
    neighbour: NDArray[np.int64]
    edge: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GraphView:
    """Graph of the live blocks at `as_of`.

    nodes: (n,) numbers of blocks, ascending. columns: the m edges as stored. source, target: (m,) indices into nodes.
    strength: (m,) in [0, 1]. known_ties: the ties, where they are known already.
    """

    nodes: NDArray[np.int64]
    columns: EdgeColumns
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    strength: NDArray[np.float64]
    as_of: datetime
    known_ties: Ties | None = None

    def index_of(self, number: int) -> int | None:
        """Return the node index of a block; None when the block is not in the graph."""
        at = int(np.searchsorted(self.nodes, number))
        return at if at < self.nodes.size and int(self.nodes[at]) == number else None

    @cached_property
    def ties(self) -> Ties:
        """Both directions of every edge, by node."""
        return self.known_ties or _build_ties(self.nodes.size, self.source, self.target)

    @cached_property
    def adjacency(self) -> Adjacency:
        """Both directions of every edge, parallel edges joined: the whole graph at once."""
        ties = self.ties
        rows = np.repeat(np.arange(self.nodes.size), np.diff(ties.starts))
        first = _first_of_pairs(rows, ties.neighbour)
        joined = _join_parallel_edges(self.strength[ties.edge], first)
        starts = np.zeros(self.nodes.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows[first], minlength=self.nodes.size), out=starts[1:])
        return Adjacency(starts, np.asarray(ties.neighbour[first]), joined)

    @cached_property
    def network(self) -> networkx.Graph[int]:
        """Adjacency as a NetworkX graph, built on first use: nodes are indices, weights are strengths."""
        import networkx

        rows, ends = self.adjacency.rows(), self.adjacency.neighbour
        once = rows < ends
        network: networkx.Graph[int] = networkx.Graph()
        network.add_nodes_from(range(self.nodes.size))
        strengths = self.adjacency.strength[once].tolist()
        network.add_weighted_edges_from(zip(rows[once].tolist(), ends[once].tolist(), strengths, strict=True))
        return network

    def distances(self, start: int, hops: int) -> dict[int, int]:
        """Return the distance in hops of each block within `hops` of a block, by number; 0 for itself.

        It does without NetworkX, because frames are assembled with it.
        """
        node = self.index_of(start)
        if node is None:
            return {start: 0}
        reached, ring = {node: 0}, [node]
        for distance in range(1, hops + 1):
            ring = [
                neighbour
                for ring_node in ring
                for neighbour in self.around(ring_node)[0].tolist()
                if neighbour not in reached
            ]
            reached |= dict.fromkeys(ring, distance)
        return {int(self.nodes[neighbour]): distance for neighbour, distance in reached.items()}

    def around(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the neighbours of a node, ascending, and the strengths to them: a row of `adjacency`, without building
        the rest.
        """
        ties = self.ties
        row = slice(int(ties.starts[node]), int(ties.starts[node + 1]))
        neighbours = np.asarray(ties.neighbour[row])
        if not neighbours.size:
            return neighbours, np.zeros(0)
        first = _first_of_pairs(np.zeros_like(neighbours), neighbours)
        return neighbours[first], _join_parallel_edges(self.strength[ties.edge[row]], first)

    def by_relation(self) -> dict[str, int]:
        """Return how many edges each relation has, by name."""
        return dict(sorted(Counter(map(str, self.columns.relation.tolist())).items()))

    def edges_among(self, numbers: set[int]) -> NDArray[np.int64]:
        """Return the rows (k,) of the edges with both ends among these blocks."""
        inside = np.isin(self.nodes, np.array(sorted(numbers), dtype=np.int64))
        return np.flatnonzero(inside[self.source] & inside[self.target])

    def only(self, rows: NDArray[np.int64]) -> GraphView:
        """Return the view with all nodes and only the edges in these rows."""
        columns = _take_rows(self.columns, rows)
        return GraphView(self.nodes, columns, self.source[rows], self.target[rows], self.strength[rows], self.as_of)

    def live_edges(self, rows: NDArray[np.int64], names: Mapping[int, str]) -> tuple[LiveEdge, ...]:
        """Return the edges in these rows as objects, with their strength in this view. names: block ids by number."""
        c = self.columns
        return tuple(
            LiveEdge(
                Edge(
                    source_id=names[int(c.source[row])],
                    target_id=names[int(c.target[row])],
                    relation_type=str(c.relation[row]),
                    weight=float(c.weight[row]),
                    confidence=float(c.confidence[row]),
                    created_at=_instant(int(c.created[row])),
                    last_reinforced_at=_instant(int(c.reinforced[row])),
                    decay_lambda=float(c.decay_lambda[row]),
                ),
                float(self.strength[row]),
            )
            for row in rows.tolist()
        )


def materialise(columns: EdgeColumns, nodes: NDArray[np.int64], now: datetime) -> GraphView:
    """Build the view at `now`. nodes: numbers of the live blocks; edges to any other block are left out."""
    nodes = np.unique(np.asarray(nodes, dtype=np.int64))
    inside = np.isin(columns.source, nodes) & np.isin(columns.target, nodes)
    inner_columns = columns if bool(inside.all()) else _take_rows(columns, np.flatnonzero(inside))
    return GraphView(
        nodes=nodes,
        columns=inner_columns,
        source=np.searchsorted(nodes, inner_columns.source).astype(np.int64),
        target=np.searchsorted(nodes, inner_columns.target).astype(np.int64),
        strength=strengths(inner_columns, now),
        as_of=now,
    )


def refresh_view(view: GraphView, walks: WalkColumns | EdgeColumns, now: datetime) -> GraphView:
    """Return the view at `now`, with the last reinforcement of edges that were walked since; unknown edges
    are ignored.
    """
    clocks = view.columns.reinforced.copy()
    for begin, end, relation, instant in zip(
        walks.source.tolist(), walks.target.tolist(), walks.relation.tolist(), walks.reinforced.tolist(), strict=True
    ):
        for row in _rows_of(view.columns, (begin, end, relation)):
            clocks[row] = max(int(clocks[row]), instant)
    columns = replace(view.columns, reinforced=clocks)
    return replace(view, columns=columns, strength=strengths(columns, now), as_of=now, known_ties=view.ties)


def strengths(columns: EdgeColumns, now: datetime) -> NDArray[np.float64]:
    """Return weight x confidence x exp(-λ hours) of every edge, (m,) in [0, 1]; negative hours count as 0
    (AMGS §7.1).
    """
    hours = np.maximum(microseconds_of(now) - columns.reinforced, 0) / _MICROSECONDS_PER_HOUR
    relevance = np.exp(-columns.decay_lambda * hours)
    return np.clip(columns.weight * columns.confidence * relevance, 0.0, 1.0)


def _take_rows(columns: EdgeColumns, rows: NDArray[Any]) -> EdgeColumns:
    """Return the edges in these rows, which may be a mask."""
    return EdgeColumns(*(getattr(columns, column.name)[rows] for column in fields(EdgeColumns)))


def _build_ties(n: int, source: NDArray[np.int64], target: NDArray[np.int64]) -> Ties:
    """Sort both directions of every edge by node and neighbour. n: number of nodes; source, target: (m,) indices."""
    real = np.flatnonzero(source != target)
    begin = np.concatenate([source[real], target[real]])
    end = np.concatenate([target[real], source[real]])
    order = np.argsort(begin * max(n, 1) + end, kind="stable")
    starts = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(begin, minlength=n), out=starts[1:])
    return Ties(starts, end[order], np.concatenate([real, real])[order])


def _first_of_pairs(rows: NDArray[np.int64], neighbours: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places (j,) where a new (row, neighbour) pair begins; the pairs are sorted."""
    if not rows.size:
        return np.zeros(0, dtype=np.int64)
    fresh = (rows[1:] != rows[:-1]) | (neighbours[1:] != neighbours[:-1])
    return np.concatenate([np.zeros(1, np.int64), np.flatnonzero(fresh) + 1])


def _join_parallel_edges(strength: NDArray[np.float64], first: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the joint strength (j,) of parallel edges, as independent chances. first: where each group begins."""
    if not first.size:
        return np.zeros(0)
    # 1 - Π(1 - s) as a sum of logarithms; a full strength is capped just below 1 for it.
    spared = np.log1p(-np.minimum(strength, 1.0 - 1e-12))
    return np.asarray(-np.expm1(np.add.reduceat(spared, first)))


def _instant(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


EdgeNumbers = tuple[int, int, str]
"""Source and target of an edge as numbers of blocks, and its relation."""


def catch_up(
    view: GraphView, nodes: NDArray[np.int64], changed: Iterable[EdgeNumbers], fresh: EdgeColumns
) -> GraphView:
    """Return the view with the current blocks and edges, at its own instant, without reading all edges again.

    nodes: (n,) numbers of the live blocks, ascending. changed: edges that were written or deleted. fresh: those of them
    that exist now, sorted like the view's columns. For a new block all edges must be among them.
    """
    gone = difference(view.nodes, nodes)
    appended = not gone.size and np.array_equal(nodes[: view.nodes.size], view.nodes)
    stays = np.ones(view.source.size, dtype=np.bool_)
    stays[[row for key in changed for row in _rows_of(view.columns, key)]] = False
    if gone.size:
        alive = ~np.isin(view.nodes, gone, assume_unique=True)
        stays &= alive[view.source] & alive[view.target]
    if bool(stays.all()) and not fresh.source.size:
        ends = (view.source, view.target)
        if not appended:
            place = np.searchsorted(nodes, view.nodes).astype(np.int64)
            ends = (place[view.source], place[view.target])
        known_ties = _extend_ties(view, nodes.size) if appended else None
        return GraphView(nodes, view.columns, *ends, view.strength, view.as_of, known_ties)
    old_columns = _take_rows(view.columns, stays)
    at = [_insertion_row(old_columns, fresh, row) for row in range(fresh.source.size)]
    columns = EdgeColumns(
        *(np.insert(getattr(old_columns, c.name), at, getattr(fresh, c.name)) for c in fields(EdgeColumns))
    )
    strength = np.insert(view.strength[stays], at, strengths(fresh, view.as_of))
    source = np.searchsorted(nodes, columns.source).astype(np.int64)
    target = np.searchsorted(nodes, columns.target).astype(np.int64)
    return GraphView(nodes, columns, source, target, strength, view.as_of)


def _insertion_row(columns: EdgeColumns, fresh: EdgeColumns, row: int) -> int:
    """Return the row at which a new edge (row of `fresh`) keeps the columns sorted."""
    begin = int(fresh.source[row])
    first, end = np.searchsorted(columns.source, [begin, begin + 1]).tolist()
    known = list(zip(columns.target[first:end].tolist(), columns.relation[first:end].tolist(), strict=True))
    return int(first) + bisect_left(known, (int(fresh.target[row]), str(fresh.relation[row])))


def _rows_of(columns: EdgeColumns, edge: EdgeNumbers) -> list[int]:
    """Return the row of an edge, [] where it is not there."""
    begin, end, relation = edge
    first, last = np.searchsorted(columns.source, [begin, begin + 1]).tolist()
    here = np.flatnonzero((columns.target[first:last] == end) & (columns.relation[first:last] == relation))
    return (here + first).tolist()  # type: ignore[no-any-return]


def _extend_ties(view: GraphView, size: int) -> Ties | None:
    """Return the view's ties, extended to `size` nodes by new ones without edges; None where it has not built them."""
    known_ties = view.__dict__.get("ties") or view.known_ties
    if known_ties is None:
        return None
    more = np.full(size - view.nodes.size, known_ties.starts[-1], dtype=np.int64)
    return Ties(np.concatenate([known_ties.starts, more]), known_ties.neighbour, known_ties.edge)
