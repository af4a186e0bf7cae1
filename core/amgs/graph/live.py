"""The graph that serves now: materialised on demand, kept while the edges and the hours stand still (AMGS
§5.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from amgs.clock import Clock
from amgs.graph.centrality import Measures, measure
from amgs.graph.view import EdgeColumns, GraphView, materialise
from amgs.settings import GraphSettings

Load = Callable[[], tuple[EdgeColumns, NDArray[np.int64]]]
"""Reads all edges between live blocks, and the numbers of the live blocks."""


class LiveGraph:
    """Serves one GraphView and its measures until `version` moves or the view is older than the settings'
    TTL.

    version: rises whenever the edges or the live blocks change. The TTL is for decay: within it strengths are
    taken to stand still.
    """

    def __init__(
        self, load: Load, version: Callable[[], int], clock: Clock, settings: GraphSettings, seed: int = 0
    ) -> None:
        self._load = load
        self._version = version
        self._clock = clock
        self._settings = settings
        self._seed = seed
        self._view: GraphView | None = None
        self._at_version = -1
        self._measures: Measures | None = None

    def view(self) -> GraphView:
        """The graph as it is now, at most a TTL old."""
        version, now = self._version(), self._clock.now()
        if (
            self._view is None
            or version != self._at_version
            or self._stale(self._view, now - self._view.as_of)
        ):
            columns, nodes = self._load()
            self._view = materialise(columns, nodes, now)
            self._at_version, self._measures = version, None
        return self._view

    def measures(self, *, betweenness: bool = False) -> Measures:
        """The centralities of the present view, computed once for it."""
        view = self.view()
        known = self._measures
        if known is None or (betweenness and known.betweenness is None):
            known = measure(
                view,
                betweenness=betweenness,
                exact_below=self._settings.exact_betweenness_nodes,
                seed=self._seed,
            )
            self._measures = known
        return known

    def importance(self, numbers: Sequence[int]) -> dict[int, float]:
        """The centrality score of each block; 0 for a block outside the graph."""
        view = self.view()
        scores = self.measures().importance()
        places = {number: view.index_of(number) for number in numbers}
        return {n: 0.0 if at is None else float(scores[at]) for n, at in places.items()}

    def _stale(self, view: GraphView, age: timedelta) -> bool:
        return bool(view.strength.size) and not (
            timedelta(0) <= age <= timedelta(seconds=self._settings.ttl_seconds)
        )
