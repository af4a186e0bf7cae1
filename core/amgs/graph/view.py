"""The graph at an instant: the edge list as arrays, each edge with its strength = weight x confidence x
relevance.

Nodes are numbers of blocks. Nothing here changes: `LiveGraph` (in live.py) makes a new view when the edges or
the hours have moved on.
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
from amgs.index.ascending import without
from amgs.storage.edges import EdgeColumns, WalkColumns
from amgs.types import Edge, LiveEdge

if TYPE_CHECKING:
    import networkx

_MICROSECONDS_PER_HOUR = 3_600_000_000.0


@dataclass(frozen=True, eq=False)
class Adjacency:
    """The undirected simple graph in rows: neighbours of node i are places starts[i] to starts[i + 1].

    starts: (n + 1,). neighbour: (k,) node indices, ascending in each row. strength: (k,); parallel edges are
    joined as independent chances (noisy or), loops are left out.
    """

    starts: NDArray[np.int64]
    neighbour: NDArray[np.int64]
    strength: NDArray[np.float64]

    @property
    def degrees(self) -> NDArray[np.int64]:
        """(n,) distinct neighbours."""
        return np.diff(self.starts)

    def rows(self) -> NDArray[np.int64]:
        """Return (k,) the node each place belongs to."""
        return np.repeat(np.arange(self.starts.size - 1), self.degrees)


@dataclass(frozen=True, eq=False)
class Ties:
    """Edges of each node, in both directions: places starts[i] to starts[i + 1] are those of node i.

    starts: (n + 1,). neighbour: (k,) node indices, ascending in each row; edge: (k,) rows of the edges. Loops are
    left out. It does not change while the edges stand, whatever their strengths do.
    """

    starts: NDArray[np.int64]
    neighbour: NDArray[np.int64]
    edge: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GraphView:
    """The graph of the live blocks at `as_of`.

    nodes: (n,) numbers of blocks, ascending. source, target: (m,) indices into nodes. strength: (m,) in [0,
    1]. laid: the ties, when they are known already.
    """

    nodes: NDArray[np.int64]
    columns: EdgeColumns
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    strength: NDArray[np.float64]
    as_of: datetime
    laid: Ties | None = None

    def index_of(self, number: int) -> int | None:
        """Return the node index of a block; None when the block is not in the graph."""
        at = int(np.searchsorted(self.nodes, number))
        return at if at < self.nodes.size and int(self.nodes[at]) == number else None

    @cached_property
    def ties(self) -> Ties:
        """Both directions of every edge, by node."""
        return self.laid or _ties(self.nodes.size, self.source, self.target)

    @cached_property
    def adjacency(self) -> Adjacency:
        """Both directions of every edge, parallel edges joined: the whole graph at once."""
        ties = self.ties
        rows = np.repeat(np.arange(self.nodes.size), np.diff(ties.starts))
        first = _firsts(rows, ties.neighbour)
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
        """Return the blocks within `hops` of a block and how far each is, by number: without the NetworkX graph, which
        an assembly does not wait for.
        """
        node = self.index_of(start)
        if node is None:
            return {start: 0}
        reached, ring = {node: 0}, [node]
        for distance in range(1, hops + 1):
            ring = [there for here in ring for there in self.around(here)[0].tolist() if there not in reached]
            reached |= dict.fromkeys(ring, distance)
        return {int(self.nodes[there]): distance for there, distance in reached.items()}

    def around(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return neighbours of a node, ascending, and the strengths to them: one row of the adjacency, without the
        rest.
        """
        ties = self.ties
        row = slice(int(ties.starts[node]), int(ties.starts[node + 1]))
        neighbours = np.asarray(ties.neighbour[row])
        if not neighbours.size:
            return neighbours, np.zeros(0)
        first = _firsts(np.zeros_like(neighbours), neighbours)
        return neighbours[first], _join_parallel_edges(self.strength[ties.edge[row]], first)

    def by_relation(self) -> dict[str, int]:
        """Return how many edges each relation has, by name."""
        return dict(sorted(Counter(map(str, self.columns.relation.tolist())).items()))

    def edges_among(self, numbers: set[int]) -> NDArray[np.int64]:
        """Return rows of the edges whose both ends are among the blocks: (k,)."""
        inside = np.isin(self.nodes, np.array(sorted(numbers), dtype=np.int64))
        return np.flatnonzero(inside[self.source] & inside[self.target])

    def only(self, rows: NDArray[np.int64]) -> GraphView:
        """Return the same nodes with these edges alone."""
        columns = _rows(self.columns, rows)
        return GraphView(self.nodes, columns, self.source[rows], self.target[rows], self.strength[rows], self.as_of)

    def live_edges(self, rows: NDArray[np.int64], names: Mapping[int, str]) -> tuple[LiveEdge, ...]:
        """Return the edges in these rows as values, with the strength they have in this view. names: ids by number."""
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
    """Return the view at `now`: nodes are the live blocks; edges to any other block are left out."""
    nodes = np.unique(np.asarray(nodes, dtype=np.int64))
    inside = np.isin(columns.source, nodes) & np.isin(columns.target, nodes)
    inner_columns = columns if bool(inside.all()) else _rows(columns, np.flatnonzero(inside))
    return GraphView(
        nodes=nodes,
        columns=inner_columns,
        source=np.searchsorted(nodes, inner_columns.source).astype(np.int64),
        target=np.searchsorted(nodes, inner_columns.target).astype(np.int64),
        strength=strengths(inner_columns, now),
        as_of=now,
    )


def refresh_view(view: GraphView, walks: WalkColumns | EdgeColumns, now: datetime) -> GraphView:
    """Return the view at `now` with the same edges and new clocks for those walked since.

    Walks of edges that it lacks are left out.
    """
    clocks = view.columns.reinforced.copy()
    for begin, end, relation, instant in zip(
        walks.source.tolist(), walks.target.tolist(), walks.relation.tolist(), walks.reinforced.tolist(), strict=True
    ):
        for row in _rows_of(view.columns, (begin, end, relation)):
            clocks[row] = max(int(clocks[row]), instant)
    columns = replace(view.columns, reinforced=clocks)
    return replace(view, columns=columns, strength=strengths(columns, now), as_of=now, laid=view.ties)


def strengths(columns: EdgeColumns, now: datetime) -> NDArray[np.float64]:
    """weight x confidence x exp(-λ hours) of every edge: (m,) in [0, 1]; negative hours count as none (AMGS
    §7.1).
    """
    hours = np.maximum(microseconds_of(now) - columns.reinforced, 0) / _MICROSECONDS_PER_HOUR
    relevance = np.exp(-columns.decay_lambda * hours)
    return np.clip(columns.weight * columns.confidence * relevance, 0.0, 1.0)


def _rows(columns: EdgeColumns, rows: NDArray[Any]) -> EdgeColumns:
    return EdgeColumns(*(getattr(columns, column.name)[rows] for column in fields(EdgeColumns)))


def _ties(n: int, source: NDArray[np.int64], target: NDArray[np.int64]) -> Ties:
    real = np.flatnonzero(source != target)
    begin = np.concatenate([source[real], target[real]])
    end = np.concatenate([target[real], source[real]])
    order = np.argsort(begin * max(n, 1) + end, kind="stable")
    starts = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(begin, minlength=n), out=starts[1:])
    return Ties(starts, end[order], np.concatenate([real, real])[order])


def _firsts(rows: NDArray[np.int64], neighbours: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where a new pair (row, neighbour) begins among places in order: (j,)."""
    if not rows.size:
        return np.zeros(0, dtype=np.int64)
    fresh = (rows[1:] != rows[:-1]) | (neighbours[1:] != neighbours[:-1])
    return np.concatenate([np.zeros(1, np.int64), np.flatnonzero(fresh) + 1])


def _join_parallel_edges(strength: NDArray[np.float64], first: NDArray[np.int64]) -> NDArray[np.float64]:
    """Parallel edges, from one first to the next, joined as independent chances: (j,)."""
    if not first.size:
        return np.zeros(0)
    # 1 - Π(1 - s) as a sum of logarithms; a full strength is kept just under 1 for it.
    spared = np.log1p(-np.minimum(strength, 1.0 - 1e-12))
    return np.asarray(-np.expm1(np.add.reduceat(spared, first)))


def _instant(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


EdgeNumbers = tuple[int, int, str]
"""Source and target of an edge as numbers of blocks, and its relation."""


def caught_up(
    view: GraphView, nodes: NDArray[np.int64], changed: Iterable[EdgeNumbers], fresh: EdgeColumns
) -> GraphView:
    """Return the view with other live blocks and edges, at the instant it is of.

    nodes: (n,) ascending. changed: edges that were written or taken out; fresh: those of them that are there now,
    sorted as the view's columns are. A block that comes must bring all its edges with it.
    """
    gone = without(view.nodes, nodes)
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
        laid = _extend_ties(view, nodes.size) if appended else None
        return GraphView(nodes, view.columns, *ends, view.strength, view.as_of, laid)
    old_columns = _rows(view.columns, stays)
    at = [_place(old_columns, fresh, row) for row in range(fresh.source.size)]
    columns = EdgeColumns(
        *(np.insert(getattr(old_columns, c.name), at, getattr(fresh, c.name)) for c in fields(EdgeColumns))
    )
    strength = np.insert(view.strength[stays], at, strengths(fresh, view.as_of))
    source = np.searchsorted(nodes, columns.source).astype(np.int64)
    target = np.searchsorted(nodes, columns.target).astype(np.int64)
    return GraphView(nodes, columns, source, target, strength, view.as_of)


def _place(columns: EdgeColumns, fresh: EdgeColumns, row: int) -> int:
    """Return where a new edge belongs among edges in order."""
    begin = int(fresh.source[row])
    first, end = np.searchsorted(columns.source, [begin, begin + 1]).tolist()
    known = list(zip(columns.target[first:end].tolist(), columns.relation[first:end].tolist(), strict=True))
    return int(first) + bisect_left(known, (int(fresh.target[row]), str(fresh.relation[row])))


def _rows_of(columns: EdgeColumns, edge: EdgeNumbers) -> list[int]:
    """Return the row of an edge, nothing where it is not there."""
    begin, end, relation = edge
    first, last = np.searchsorted(columns.source, [begin, begin + 1]).tolist()
    here = np.flatnonzero((columns.target[first:last] == end) & (columns.relation[first:last] == relation))
    return (here + first).tolist()  # type: ignore[no-any-return]


def _extend_ties(view: GraphView, size: int) -> Ties | None:
    """Return the ties of the view, where they are laid, with blocks at the end that have no edges."""
    laid = view.__dict__.get("ties") or view.laid
    if laid is None:
        return None
    more = np.full(size - view.nodes.size, laid.starts[-1], dtype=np.int64)
    return Ties(np.concatenate([laid.starts, more]), laid.neighbour, laid.edge)
