"""Centrality of a large graph: computed occasionally, saved in the store, and used until computed again.

So a ranking depends on the store only, not on what a process did before. Graphs of up to `graph.fresh_centrality_nodes`
blocks are always computed afresh.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from amgs.graph.centrality import BRIEF_BYTES, Scores, measure, without_brief_edges
from amgs.graph.live import CentralitySnapshot
from amgs.graph.view import GraphView
from amgs.settings import GraphSettings
from amgs.storage.edges import CentralityOrigin
from amgs.storage.store import Storage
from amgs.types import BlockFilter

LIVE = BlockFilter(statuses=("raw", "consolidated"))
_DRIFT = 100
"""The centrality is recomputed when more than 1 in so many blocks or edges has changed."""


@dataclass(frozen=True, eq=False)
class CentralityFound:
    """Computed centrality: running numbers (n,) of live blocks, rising, and scores (n,) in [0, 1]."""

    origin: CentralityOrigin
    numbers: NDArray[np.int64]
    scores: Scores


class StoredCentrality:
    """The centrality saved in a store, read once per computation."""

    def __init__(self, storage: Storage, settings: GraphSettings) -> None:
        self._storage = storage
        self._settings = settings
        self._lock = threading.Lock()
        self._known: tuple[int, CentralityOrigin | None, CentralitySnapshot | None] = (-1, None, None)

    def snapshot(self, changes: int) -> CentralitySnapshot | None:
        """Return the saved scores at the change counter of this thread's snapshot; None if there are none."""
        with self._lock:
            at, origin, known = self._known
        if at != changes:
            now = self._storage.centrality.origin()
            if now != origin:
                known = None if now is None else CentralitySnapshot(*self._storage.centrality.scores())
            with self._lock:
                self._known = changes, now, known
        return known

    def forget(self) -> None:
        """Drop the cached scores, after the store was bulk-loaded."""
        with self._lock:
            self._known = (-1, None, None)

    def large(self) -> bool:
        """Return whether the graph is so large that saved scores are used."""
        return self._storage.blocks.count(LIVE) > self._settings.fresh_centrality_nodes

    def due(self) -> bool:
        """Return whether the graph is large and has changed by more than 1 % since its centrality was computed."""
        blocks = self._storage.blocks.count(LIVE)
        if blocks <= self._settings.fresh_centrality_nodes:
            return False
        was = self._storage.centrality.origin()
        if was is None:
            return True
        if was.structure == self._storage.structure_counter:
            return False
        return _has_drifted(blocks, was.blocks) or _has_drifted(self._storage.edges.count(), was.edges)

    def of(self, view: GraphView, structure: int) -> CentralityFound:
        """Compute the centrality of a view of the graph at this structure counter."""
        origin = self._origin(structure, view.nodes.size, view.as_of)
        brief = self._storage.block_columns.brief(BRIEF_BYTES)
        return CentralityFound(origin, view.nodes, measure(without_brief_edges(view, brief)).importance())

    def keep(self, centrality: CentralityFound) -> bool:
        """Save a centrality; return False if the saved one is of the same or a later graph."""
        with self._storage.transaction():
            return self._storage.centrality.put(centrality.origin, centrality.numbers, centrality.scores)

    def _origin(self, structure: int, blocks: int, at: datetime) -> CentralityOrigin:
        return CentralityOrigin(structure, blocks, self._storage.edges.count(), at)


def _has_drifted(now: int, then: int) -> bool:
    return abs(now - then) > now // _DRIFT
