"""Walking the graph: what lies within some hops, the components, the strongest way between two blocks, and the parts
that hang together more than chance would have it.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from amgs.graph.view import GraphView
from amgs.storage.edges import EdgeColumns
from amgs.types import GraphStats


@dataclass(frozen=True, slots=True)
class Reached:
    """A block reached by walking: hops from the start, and strength of the strongest way so long."""

    number: int
    distance: int
    strength: float


def within(view: GraphView, start: int, hops: int, limit: int | None = None) -> tuple[Reached, ...]:
    """What lies within `hops` of a block, itself first: nearest first, then strongest, then by number.

    At most `limit` blocks, the start included; what is cut off is the weakest of the farthest ring. A block
    outside the graph is alone.
    """
    node = view.index_of(start)
    if node is None:
        return (Reached(start, 0, 1.0),)
    best: dict[int, float] = {node: 1.0}
    found = [Reached(start, 0, 1.0)]
    ring = {node: 1.0}
    for distance in range(1, max(hops, 0) + 1):
        following: dict[int, float] = {}
        for here, strength in ring.items():
            neighbours, strengths = view.around(here)
            for there, step in zip(neighbours.tolist(), strengths.tolist(), strict=True):
                if there not in best:
                    following[there] = max(following.get(there, 0.0), strength * step)
        reached = [Reached(int(view.nodes[i]), distance, s) for i, s in following.items()]
        found.extend(sorted(reached, key=lambda r: (-r.strength, r.number)))
        if not following or (limit is not None and len(found) >= limit):
            break
        best.update(following)
        ring = following
    return tuple(found[:limit])


def strongest_path(view: GraphView, start: int, goal: int) -> tuple[int, ...]:
    """Numbers of the blocks on the way whose product of strengths is greatest, both ends included; () when
    there is none.
    """
    first, last = view.index_of(start), view.index_of(goal)
    if first is None or last is None:
        return ()
    came: dict[int, int] = {}
    cost = {first: 0.0}
    queue = [(0.0, first)]
    done: set[int] = set()
    while queue:
        so_far, here = heapq.heappop(queue)
        if here in done:
            continue
        done.add(here)
        if here == last:
            return _trace(view, came, last)
        neighbours, strengths = view.around(here)
        for there, strength in zip(neighbours.tolist(), strengths.tolist(), strict=True):
            if strength <= 0.0 or there in done:
                continue
            total = so_far - math.log(strength)
            if total < cost.get(there, math.inf):
                cost[there], came[there] = total, here
                heapq.heappush(queue, (total, there))
    return ()


def components(view: GraphView) -> NDArray[np.int64]:
    """(n,) the component of each node, numbered from 0 in order of their first node."""
    import rustworkx

    n = view.nodes.size
    graph: rustworkx.PyGraph[None, None] = rustworkx.PyGraph()
    graph.add_nodes_from([None] * n)
    graph.extend_from_edge_list(list(zip(view.source.tolist(), view.target.tolist(), strict=True)))
    label = np.zeros(n, dtype=np.int64)
    groups = sorted(rustworkx.connected_components(graph), key=min)
    for number, group in enumerate(groups):
        label[list(group)] = number
    return label


@dataclass(frozen=True, slots=True)
class _EdgeCounts:
    """pairs: of connected blocks, each once. apart: by how much there are fewer components than blocks."""

    pairs: int
    apart: int
    by_relation: dict[str, int]


_counted: WeakKeyDictionary[EdgeColumns, _EdgeCounts] = WeakKeyDictionary()
"""Of edges that do not change when a block without any comes; to count hundreds of thousands takes long."""


def stats(view: GraphView) -> GraphStats:
    """Counts and shape. density: distinct connected pairs over all pairs."""
    n = int(view.nodes.size)
    counts = _counted.get(view.columns)
    if counts is None:
        parts = int(components(view).max(initial=-1)) + 1
        counts = _EdgeCounts(int(view.adjacency.neighbour.size) // 2, n - parts, view.by_relation())
        _counted[view.columns] = counts
    return GraphStats(
        nodes=n,
        edges=int(view.source.size),
        density=2 * counts.pairs / (n * (n - 1)) if n > 1 else 0.0,
        components=n - counts.apart,
        by_relation=dict(counts.by_relation),
    )


def _trace(view: GraphView, came: dict[int, int], last: int) -> tuple[int, ...]:
    way = [last]
    while way[-1] in came:
        way.append(came[way[-1]])
    return tuple(int(view.nodes[i]) for i in reversed(way))


@dataclass(frozen=True, eq=False, slots=True)
class Parting:
    """parts: node indices, the largest part first. modularity: in [-0.5, 1]; 0 without edges."""

    parts: tuple[NDArray[np.int64], ...]
    modularity: float


def louvain(view: GraphView, seed: int = 0, *, shuffled: bool = False) -> Parting:
    """The nodes that have an edge, parted so that the modularity of the strengths is (locally) greatest.

    shuffled: of a graph with the same degrees whose edges end anywhere (the configuration model): what the method
    finds where nothing hangs together.
    """
    import networkx

    adjacency = view.adjacency
    rows, columns = adjacency.rows(), adjacency.neighbour
    once = rows < columns
    starts, ends, strengths = rows[once], columns[once], adjacency.strength[once].tolist()
    if shuffled:
        stubs = np.random.default_rng(seed).permutation(np.concatenate([starts, ends]))
        starts, ends = stubs[: starts.size], stubs[starts.size :]
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_weighted_edges_from(zip(starts.tolist(), ends.tolist(), strengths, strict=True))
    if not sum(strengths) > 0:
        return Parting((), 0.0)
    found = networkx.community.louvain_communities(graph, seed=seed)
    parts = sorted((sorted(part) for part in found), key=lambda part: (-len(part), part[0]))
    score = float(networkx.community.modularity(graph, found))
    return Parting(tuple(np.array(part, dtype=np.int64) for part in parts), score)


def inside(view: GraphView, members: NDArray[np.int64]) -> float:
    """Share of the strength at these nodes' edges that stays among them; 0 where there is none."""
    adjacency = view.adjacency
    belongs = np.zeros(view.nodes.size, dtype=np.bool_)
    belongs[members] = True
    here = belongs[adjacency.rows()]
    total = float(adjacency.strength[here].sum())
    return float(adjacency.strength[here & belongs[adjacency.neighbour]].sum()) / total if total else 0.0
