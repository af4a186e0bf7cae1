"""Layer 5: one hop along typed, weighted, decaying edges from the best blocks so far."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from amgs.graph.view import GraphView
from amgs.index.ascending import contains
from amgs.retrieval.sources import Numbers

GRAPH_SHARE = 0.25
"""How much of a seed's similarity flows along an edge of full strength."""


def best(similarities: Mapping[int, float], count: int) -> dict[int, float]:
    """The `count` most similar blocks, ties by number: the seeds."""
    ranked = sorted(similarities.items(), key=lambda item: (-item[1], item[0]))
    return {number: similarity for number, similarity in ranked[:count] if similarity > 0.0}


def expand(
    seeds: Mapping[int, float], view: GraphView, allowed: Numbers, share: float = GRAPH_SHARE
) -> Mapping[int, float]:
    """What flows into the neighbours of the seeds (number -> similarity), by number: values in [0, 1].

    Along an edge flows share x strength x the seed's similarity; what comes in from several seeds is
    joined as independent chances, so that a block that many of them point to stands out. A seed gets what the
    others send it.
    """
    missed: dict[int, float] = {}
    for number in sorted(seeds):
        node = view.index_of(number)
        if node is None:
            continue
        neighbours, strengths = view.around(node)
        flows = share * strengths * seeds[number]
        for neighbour, flow in zip(view.nodes[neighbours].tolist(), flows.tolist(), strict=True):
            missed[neighbour] = missed.get(neighbour, 1.0) * (1.0 - min(flow, 1.0))
    reached = np.array(sorted(missed), dtype=np.int64)
    inside = reached[contains(allowed, reached)].tolist()
    return {number: 1.0 - missed[number] for number in inside if missed[number] < 1.0}
