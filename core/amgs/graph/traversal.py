"""Walk the NetworkX graph: what lies within some hops, the components, the strongest way between two blocks, and the
parts that hang together more than chance would have it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import networkx
import numpy as np
from numpy.typing import NDArray

from amgs.graph.view import GraphView
from amgs.types import GraphStats


@dataclass(frozen=True, slots=True)
class Reached:
    """A block reached by walking: hops from the start, and strength of the strongest way so long."""

    number: int
    distance: int
    strength: float


def within(view: GraphView, start: int, hops: int, limit: int | None = None) -> tuple[Reached, ...]:
    """Return what lies within `hops` of a block, itself first: nearest first, then strongest, then by number.

    At most `limit` blocks, the start included; what is cut off is the weakest of the farthest ring. A block
    outside the graph is alone.
    """
    node = view.index_of(start)
    if node is None:
        return (Reached(start, 0, 1.0),)
    network, best, reached = view.network, {node: 1.0}, [Reached(start, 0, 1.0)]
    for distance, ring in enumerate(networkx.bfs_layers(network, [node])):
        if distance > hops or (limit is not None and len(reached) >= limit):
            break
        if distance == 0:
            continue
        strengths = {
            there: max(best[here] * tie["weight"] for here, tie in network.adj[there].items() if here in best)
            for there in ring
        }
        best |= strengths
        blocks = [Reached(int(view.nodes[there]), distance, strength) for there, strength in strengths.items()]
        reached += sorted(blocks, key=lambda block: (-block.strength, block.number))
    return tuple(reached[:limit])


def strongest_path(view: GraphView, start: int, goal: int) -> tuple[int, ...]:
    """Numbers of the blocks on the way whose product of strengths is greatest, both ends included; () when
    there is none.
    """
    first, last = view.index_of(start), view.index_of(goal)
    if first is None or last is None:
        return ()
    try:
        _, way = networkx.bidirectional_dijkstra(view.network, first, last, weight=_cost)
    except networkx.NetworkXNoPath:
        return ()
    return tuple(view.nodes[way].tolist())


def _cost(begin: int, end: int, tie: dict[str, float]) -> float | None:
    """Return the length of an edge, None where it has no strength left: the shortest way has the greatest product."""
    del begin, end
    return -math.log(tie["weight"]) if tie["weight"] > 0.0 else None


def components(view: GraphView) -> NDArray[np.int64]:
    """Return (n,) the component of each node, numbered from 0 in order of their first node."""
    label = np.zeros(view.nodes.size, dtype=np.int64)
    for number, group in enumerate(networkx.connected_components(view.network)):
        label[list(group)] = number
    return label


def stats(view: GraphView) -> GraphStats:
    """Return counts and shape. density: distinct connected pairs over all pairs."""
    return GraphStats(
        nodes=int(view.nodes.size),
        edges=int(view.source.size),
        density=float(networkx.density(view.network)),
        components=networkx.number_connected_components(view.network),
        by_relation=view.by_relation(),
    )


@dataclass(frozen=True, eq=False, slots=True)
class Parting:
    """parts: node indices, the largest part first. modularity: in [-0.5, 1]; 0 without edges."""

    parts: tuple[NDArray[np.int64], ...]
    modularity: float


def find_communities(view: GraphView, seed: int = 0) -> Parting:
    """Return the nodes that have an edge, parted so that the modularity of the strengths is (locally) greatest."""
    network = view.network.edge_subgraph(view.network.edges)
    if network.size(weight="weight") <= 0:
        return Parting((), 0.0)
    groups = networkx.community.louvain_communities(network, seed=seed)
    parts = sorted((sorted(group) for group in groups), key=lambda part: (-len(part), part[0]))
    modularity = float(networkx.community.modularity(network, groups))
    return Parting(tuple(np.array(part, dtype=np.int64) for part in parts), modularity)


def inside(view: GraphView, members: NDArray[np.int64]) -> float:
    """Return share of the strength at these nodes' edges that stays among them; 0 where there is none."""
    part = set(members.tolist())
    ties = [(there in part, tie["weight"]) for here in part for there, tie in view.network.adj[here].items()]
    total = sum(weight for _, weight in ties)
    return sum(weight for stays, weight in ties if stays) / total if total else 0.0
