"""The centrality of a large graph: worked out now and then, kept in the store, and scored by until the next time.

So that an answer hangs on what the store holds and on nothing that a process did before: a graph of up to
`graph.fresh_centrality_nodes` blocks is always measured as it is.
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
"""Centrality is due once more than one in so many blocks or edges has come or gone."""


@dataclass(frozen=True, eq=False)
class CentralityFound:
    """numbers (n,) of the live blocks, rising, and their scores (n,) in [0, 1]."""

    origin: CentralityOrigin
    numbers: NDArray[np.int64]
    scores: Scores


class StoredCentrality:
    """The centrality that a store holds, read once for each time that it is worked out."""

    def __init__(self, storage: Storage, settings: GraphSettings) -> None:
        self._storage = storage
        self._settings = settings
        self._lock = threading.Lock()
        self._known: tuple[int, CentralityOrigin | None, CentralitySnapshot | None] = (-1, None, None)

    def snapshot(self, changes: int) -> CentralitySnapshot | None:
        """Return the scores as of the change counter of this thread's snapshot; None where there are none."""
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
        """Drop what was read: the store was filled from elsewhere."""
        with self._lock:
            self._known = (-1, None, None)

    def large(self) -> bool:
        """Return whether the graph is so large that it is scored by what the store holds."""
        return self._storage.blocks.count(LIVE) > self._settings.fresh_centrality_nodes

    def due(self) -> bool:
        """Return whether the graph is large, and has changed by more than a hundredth since its centrality was worked
        out.
        """
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
        """Compute the centrality of a view of this structure."""
        origin = self._origin(structure, view.nodes.size, view.as_of)
        brief = self._storage.block_columns.brief(BRIEF_BYTES)
        return CentralityFound(origin, view.nodes, measure(without_brief_edges(view, brief)).importance())

    def keep(self, centrality: CentralityFound) -> bool:
        """Have the store hold it; False where what is there is of the same graph or a later one."""
        with self._storage.transaction():
            return self._storage.centrality.put(centrality.origin, centrality.numbers, centrality.scores)

    def _origin(self, structure: int, blocks: int, at: datetime) -> CentralityOrigin:
        return CentralityOrigin(structure, blocks, self._storage.edges.count(), at)


def _has_drifted(now: int, then: int) -> bool:
    return abs(now - then) > now // _DRIFT
