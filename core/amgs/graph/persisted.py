"""The graph as it lies beside the store: its edges, and who is tied to whom."""

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

FORMAT = 3


@dataclass(frozen=True, eq=False)
class KeptGraph:
    """A view of `version`. highest: the highest number of a block at that version."""

    view: GraphView
    version: int
    highest: int


def write(folder: Path, view: GraphView) -> None:
    """Write a view into a folder."""
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
        },
    )


def said(view: GraphView, highest: int) -> Mapping[str, Any]:
    """What is noted beside the arrays."""
    return {"as_of": microseconds_of(view.as_of), "highest": highest}


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
    return KeptGraph(view, kept.stamp.revision, int(kept.said["highest"]))


def _coded(relation: NDArray[np.object_]) -> tuple[list[str], NDArray[np.int16]]:
    """The relations' names, and each edge's as a place among them."""
    place: dict[str, int] = {}
    codes = [place.setdefault(str(name), len(place)) for name in relation.tolist()]
    return list(place), np.array(codes, dtype=np.int16)
