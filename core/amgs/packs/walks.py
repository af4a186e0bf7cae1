"""What the relations of one family lead to from the best hits: personalised PageRank (Haveliwala 2002)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import rustworkx
from numpy.typing import NDArray

from amgs.graph.view import GraphView
from amgs.packs.families import rows_of
from amgs.types.pack_families import FAMILIES, RelationFamily

DAMPING = 0.85
SEEDS = 10
"""So many of the best hits a walk begins at."""
_TOLERANCE, _ROUNDS = 1e-9, 300


class FamilyWalks:
    """The walks of one view of the graph. Relations are walked both ways."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._graphs = {family: _graph(view, rows) for family, rows in rows_of(view).items()}

    def reached(self, seeds: Mapping[int, float]) -> Mapping[RelationFamily, NDArray[np.float64]]:
        """What each family brings to each node of the view, from seeds (number of block -> weight above 0): (n,) in
        [0, 1], the share of a walk that comes along relations and not by its start. Seeds of which a family has no
        relation lead nowhere in it.
        """
        whole = sum(seeds.values())
        found: dict[RelationFamily, NDArray[np.float64]] = {}
        for family in FAMILIES:
            graph, nodes = self._graphs[family]
            values = np.zeros(self._view.nodes.size)
            place = {int(number): at for at, number in enumerate(self._view.nodes[nodes].tolist())}
            start = {place[number]: weight for number, weight in seeds.items() if number in place}
            if start:
                held = sum(start.values())
                ranks = rustworkx.pagerank(
                    graph,
                    DAMPING,
                    weight_fn=float,
                    personalization=start,
                    tol=_TOLERANCE,
                    max_iter=_ROUNDS,
                )
                rank = np.array([ranks[at] for at in range(nodes.size)])
                rank[list(start)] -= (1 - DAMPING) * np.array(list(start.values())) / held
                values[nodes] = np.clip(rank, 0.0, 1.0) * held / whole
            found[family] = values
        return found


def seeds(numbers: NDArray[np.int64], linear: NDArray[np.float64]) -> dict[int, float]:
    """The best SEEDS of m candidates by their linear scores, with their likelihoods, the best one's 1."""
    best = np.argsort(-linear, kind="stable")[:SEEDS]
    likely = np.exp(linear[best] - linear[best].max(initial=-np.inf))
    return dict(zip(numbers[best].tolist(), likely.tolist(), strict=True))


def _graph(
    view: GraphView, rows: NDArray[np.int64]
) -> tuple[rustworkx.PyDiGraph[None, float], NDArray[np.int64]]:
    """The relations in these rows both ways, by their strengths, and the nodes of the view that they tie."""
    source, target, strength = view.source[rows], view.target[rows], view.strength[rows]
    real = (source != target) & (strength > 0.0)
    source, target, strength = source[real], target[real], strength[real]
    nodes = np.unique(np.concatenate([source, target]))
    begin = np.searchsorted(nodes, np.concatenate([source, target])).tolist()
    end = np.searchsorted(nodes, np.concatenate([target, source])).tolist()
    graph: rustworkx.PyDiGraph[None, float] = rustworkx.PyDiGraph()
    graph.add_nodes_from([None] * nodes.size)
    graph.extend_from_weighted_edge_list(list(zip(begin, end, strength.tolist() * 2, strict=True)))
    return graph, nodes
