"""Parts of the graph that hang together more than chance would have it (Blondel et al., 2008)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs.graph.view import GraphView


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
