"""The graph as it lies beside the store: its edges, who is tied to whom, and the centrality last worked out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.clock import EPOCH, microseconds_of
from amgs.graph.view import GraphView, Ties, strengths
from amgs.index.snapshot_store import Generation, save_arrays
from amgs.storage.edges import EdgeColumns

FORMAT = 2


@dataclass(frozen=True, eq=False)
class KeptGraph:
    """A view of `version`, and centrality by number: standing (n,) ascending, scores (n,), of a graph
    of standing_edges. highest: the highest number of a block at that version."""

    view: GraphView
    version: int
    standing: NDArray[np.int64]
    scores: NDArray[np.float64]
    standing_edges: int
    highest: int


def write(folder: Path, view: GraphView, standing: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
    """Write a view and the centrality into a folder."""
    c = view.columns
    names, codes = _coded(c.relation)
    save_arrays(
        folder,
        {
            "nodes": view.nodes,
            "source": view.source,
            "target": view.target,
            "relations": np.array(names, dtype=np.str_),
            "relation": codes,
            "weight": c.weight,
            "confidence": c.confidence,
            "created": c.created,
            "reinforced": c.reinforced,
            "decay_lambda": c.decay_lambda,
            "starts": view.ties.starts,
            "neighbour": view.ties.neighbour,
            "edge": view.ties.edge,
            "standing": standing,
            "scores": scores,
        },
    )


def said(view: GraphView, standing_edges: int, highest: int) -> Mapping[str, Any]:
    """What is noted beside the arrays."""
    return {"as_of": microseconds_of(view.as_of), "standing_edges": standing_edges, "highest": highest}


def read(kept: Generation) -> KeptGraph:
    """The graph of a generation, as of when it was written: its strengths, like its clocks, are of then."""
    nodes, source, target = (kept.array(name) for name in ("nodes", "source", "target"))
    names = np.array([str(name) for name in kept.array("relations")], dtype=object)
    columns = EdgeColumns(
        source=nodes[source],
        target=nodes[target],
        relation=names[kept.array("relation")] if names.size else np.zeros(0, dtype=object),
        weight=kept.array("weight"),
        confidence=kept.array("confidence"),
        created=kept.array("created"),
        reinforced=kept.array("reinforced"),
        decay_lambda=kept.array("decay_lambda"),
    )
    as_of: datetime = EPOCH + timedelta(microseconds=int(kept.said["as_of"]))
    ties = Ties(kept.array("starts"), kept.array("neighbour"), kept.array("edge"))
    view = GraphView(nodes, columns, source, target, strengths(columns, as_of), as_of, ties)
    return KeptGraph(
        view,
        kept.stamp.revision,
        kept.array("standing"),
        kept.array("scores"),
        int(kept.said["standing_edges"]),
        int(kept.said["highest"]),
    )


def _coded(relation: NDArray[np.object_]) -> tuple[list[str], NDArray[np.int16]]:
    """The relations' names, and each edge's as a place among them."""
    place: dict[str, int] = {}
    codes = [place.setdefault(str(name), len(place)) for name in relation.tolist()]
    return list(place), np.array(codes, dtype=np.int16)
