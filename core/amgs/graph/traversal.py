"""Answer questions about the shape of the graph with NetworkX: neighbourhoods, paths, components, communities.

The graph commands and lifecycle proposals call it; a search never does, since NetworkX is slow to import.
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
    """A block near another. distance: in hops. strength: of its strongest edge to a nearer block."""

    number: int
    distance: int
    strength: float


def within(view: GraphView, start: int, hops: int, limit: int | None = None) -> tuple[Reached, ...]:
    """Return the blocks within `hops` of a block, itself first: nearest first, then strongest, then by number.

    limit: at most so many, the start included; the weakest of the farthest are left out. For a block outside the graph,
    only itself.
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
            neighbour: max(
                best[node_inside] * edge["weight"]
                for node_inside, edge in network.adj[neighbour].items()
                if node_inside in best
            )
            for neighbour in ring
        }
        best |= strengths
        blocks = [Reached(int(view.nodes[neighbour]), distance, strength) for neighbour, strength in strengths.items()]
        reached += sorted(blocks, key=lambda block: (-block.strength, block.number))
    return tuple(reached[:limit])


def strongest_path(view: GraphView, start: int, goal: int) -> tuple[int, ...]:
    """Return the blocks on the path with the greatest product of strengths, by number, both ends
    included; () if none.
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
    """Return -log of an edge's strength, so that the shortest path has the greatest product; None for strength 0."""
    del begin, end
    return -math.log(tie["weight"]) if tie["weight"] > 0.0 else None


def components(view: GraphView) -> NDArray[np.int64]:
    """Return (n,) the component of each node, numbered from 0 in order of their first node."""
    label = np.zeros(view.nodes.size, dtype=np.int64)
    for number, group in enumerate(networkx.connected_components(view.network)):
        label[list(group)] = number
    return label


def stats(view: GraphView) -> GraphStats:
    """Return the numbers of nodes, edges and components; density: connected pairs over all pairs."""
    return GraphStats(
        nodes=int(view.nodes.size),
        edges=int(view.source.size),
        density=float(networkx.density(view.network)),
        components=networkx.number_connected_components(view.network),
        by_relation=view.by_relation(),
    )


@dataclass(frozen=True, eq=False, slots=True)
class Partition:
    """Communities of a graph. parts: node indices, the largest part first. modularity: in [-0.5, 1]; 0
    without edges.
    """

    parts: tuple[NDArray[np.int64], ...]
    modularity: float


def find_communities(view: GraphView, seed: int = 0) -> Partition:
    """Divide the nodes with edges into communities of (locally) greatest modularity, by the Louvain method."""
    network = view.network.edge_subgraph(view.network.edges)
    if network.size(weight="weight") <= 0:
        return Partition((), 0.0)
    groups = networkx.community.louvain_communities(network, seed=seed)
    parts = sorted((sorted(group) for group in groups), key=lambda part: (-len(part), part[0]))
    modularity = float(networkx.community.modularity(network, groups))
    return Partition(tuple(np.array(part, dtype=np.int64) for part in parts), modularity)


def internal_share(view: GraphView, members: NDArray[np.int64]) -> float:
    """Return the share of these nodes' edge strength that is on edges among themselves; 0 where they have no edges."""
    part = set(members.tolist())
    ties = [
        (neighbour in part, edge["weight"])
        for node_inside in part
        for neighbour, edge in view.network.adj[node_inside].items()
    ]
    total = sum(weight for _, weight in ties)
    return sum(weight for stays, weight in ties if stays) / total if total else 0.0
