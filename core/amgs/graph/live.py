"""The graph that serves now: materialised on demand, kept while the edges and the hours stand still (AMGS
§5.3).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.clock import EPOCH, Clock, microseconds_of
from amgs.graph.centrality import Measures, Scores, measure, telling
from amgs.graph.view import GraphView, Ties, materialise, refresh_view, strengths
from amgs.index.snapshot_store import Generation, save_arrays
from amgs.settings import GraphSettings
from amgs.storage.edges import EdgeColumns, WalkColumns

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
    names, codes = _code_relations(c.relation)
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
    """Return what is noted beside the arrays."""
    return {"as_of": microseconds_of(view.as_of), "highest": highest}


def read(generation: Generation) -> KeptGraph:
    """Return the graph of a generation, as of when it was written: its strengths, like its clocks, are of then."""
    nodes, source, target = (generation.array(name) for name in ("nodes", "source", "target"))
    names = np.array([str(name) for name in generation.array("relations")], dtype=object)
    columns = EdgeColumns(
        source=nodes[source],
        target=nodes[target],
        relation=names[generation.array("relation")] if names.size else np.zeros(0, dtype=object),
        weight=generation.array("weight"),
        confidence=generation.array("confidence"),
        created=generation.array("created"),
        reinforced=generation.array("reinforced"),
        decay_lambda=generation.array("decay_lambda"),
    )
    as_of: datetime = EPOCH + timedelta(microseconds=int(generation.said["as_of"]))
    ties = Ties(generation.array("starts"), generation.array("neighbour"), generation.array("edge"))
    view = GraphView(nodes, columns, source, target, strengths(columns, as_of), as_of, ties)
    return KeptGraph(view, generation.stamp.revision, int(generation.said["highest"]))


def _code_relations(relation: NDArray[np.object_]) -> tuple[list[str], NDArray[np.int16]]:
    """Return the relations' names, and each edge's as a place among them."""
    place: dict[str, int] = {}
    codes = [place.setdefault(str(name), len(place)) for name in relation.tolist()]
    return list(place), np.array(codes, dtype=np.int16)


Load = Callable[[], tuple[EdgeColumns, NDArray[np.int64]]]
"""Reads all edges between live blocks, and the numbers of the live blocks."""


CatchUp = Callable[[GraphView, int, int], GraphView | None]
"""Makes the present view from an earlier one, its version, and the highest number of a block then; None where it does
not know all that changed since."""


def _unknown(view: GraphView, version: int, highest: int) -> None:
    """Return nothing: the `CatchUp` of a graph without knowledge of changes."""
    del view, version, highest


@dataclass(frozen=True, eq=False)
class CentralitySnapshot:
    """Centrality that scoring goes by: numbers (n,) ascending and their scores (n,); the others have 0."""

    numbers: NDArray[np.int64]
    scores: Scores


TTL_SECONDS = 300.0
"""How long a view is used before its strengths are computed anew, since edges decay."""


class LiveGraph:
    """Serves one GraphView and its measures until `version` moves or the view is older than
    `ttl_seconds`.

    version: rises whenever the edges or the live blocks change. The TTL is for decay: within it strengths are
    taken to stand still, and the NetworkX graph made of them is walked again. load_graph: reads what lies beside the
    store from an earlier session. recorded: the centrality that the store holds, by which a large graph is scored.
    walks: the edges walked since an instant, by which an old view is renewed. brief: the blocks whose likeness and
    place count for no centrality, by number.
    """

    def __init__(
        self,
        load: Load,
        version: Callable[[], int],
        clock: Clock,
        settings: GraphSettings,
        *,
        load_graph: Callable[[], KeptGraph | None] = lambda: None,
        recorded: Callable[[], CentralitySnapshot | None] = lambda: None,
        walks: Callable[[int], WalkColumns | EdgeColumns] = lambda _: EdgeColumns.none(),
        brief: Callable[[], NDArray[np.int64]] = lambda: np.zeros(0, np.int64),
        highest: int = 0,
        ttl_seconds: float = TTL_SECONDS,
    ) -> None:
        self._load = load
        self._version = version
        self._clock = clock
        self._settings = settings
        self._kept = load_graph
        self._recorded = recorded
        self._walks = walks
        self._brief = brief
        self._highest = highest
        self._ttl_seconds = ttl_seconds
        self._earlier: tuple[GraphView, int, int] | None = None
        self._catch_up: CatchUp = _unknown
        self._view: GraphView | None = None
        self._at_version = -1
        self._measures: Measures | None = None
        self._lock = threading.RLock()

    def successor(
        self, version: int, load: Load | None = None, catch_up: CatchUp = _unknown, *, highest: int = 0
    ) -> LiveGraph:
        """Return the graph of another version: what changed since the last view is caught up with, else its edges are
        read anew. highest: the highest number of a block in it.

        Readers of this one go on with what they have.
        """
        graph = LiveGraph(
            load or self._load,
            lambda: version,
            self._clock,
            self._settings,
            load_graph=self._kept if self._view is None else lambda: None,
            recorded=self._recorded,
            walks=self._walks,
            brief=self._brief,
            highest=highest,
            ttl_seconds=self._ttl_seconds,
        )
        graph._catch_up = catch_up
        view = self._view
        graph._earlier = self._earlier if view is None else (view, self._at_version, self._highest)
        return graph

    @property
    def version(self) -> int:
        """Version of the view that serves, -1 before the first."""
        return self._at_version

    def forget(self) -> None:
        """Drop everything: the store was filled from elsewhere."""
        self._view = self._measures = self._earlier = None
        self._at_version = -1

    def view(self) -> GraphView:
        """Return the graph as it is now, at most a TTL old."""
        with self._lock:
            return self._renew_view()

    def _renew_view(self) -> GraphView:
        version, now = self._version(), self._clock.now()
        view = self._view
        if view is None or version != self._at_version:
            view = self._load_view(version) if view is None else None
            if view is None and self._earlier is not None:
                view = self._catch_up(*self._earlier)
            self._earlier = None
            if view is None:
                columns, nodes = self._load()
                view = materialise(columns, nodes, now)
            self._view, self._at_version, self._measures = view, version, None
        if self._stale(view, now - view.as_of):
            view = refresh_view(view, self._walks(microseconds_of(view.as_of)), now)
            self._view, self._measures = view, None
        return view

    def measures(self, *, bridges: bool = False) -> Measures:
        """Return the centralities of the present view, computed once for it; a large graph takes seconds."""
        view = self.view()
        known = self._measures
        if known is None or (bridges and known.betweenness is None):
            known = measure(telling(view, self._brief()), bridges=bridges)
            if view is self._view:
                self._measures = known
        return known

    def standing(self) -> CentralitySnapshot:
        """Return the centrality that scoring goes by: of the present view while the graph is small, else what the store
        holds, whoever worked it out. It moves slowly, and a search must not wait for it.
        """
        nodes = self.view().nodes
        if nodes.size <= self._settings.fresh_centrality_nodes:
            return CentralitySnapshot(nodes, self.measures().importance())
        return self._recorded() or CentralitySnapshot(nodes[:0], np.zeros(0))

    def importance(self, numbers: Sequence[int]) -> dict[int, float]:
        """Return the centrality score of each block as it stands; 0 for a block outside the graph."""
        wanted = np.asarray(numbers, dtype=np.int64)
        return dict(zip(wanted.tolist(), self.importances(wanted).tolist(), strict=True))

    def importances(self, numbers: NDArray[np.int64]) -> Scores:
        """Return the same as an array: (m,)."""
        standing = self.standing()
        if not standing.numbers.size:
            return np.zeros(numbers.size)
        at = np.minimum(np.searchsorted(standing.numbers, numbers), standing.numbers.size - 1)
        return np.where(standing.numbers[at] == numbers, standing.scores[at], 0.0)

    @property
    def highest(self) -> int:
        """Highest number of a block in the graph."""
        return self._highest

    @property
    def last(self) -> GraphView | None:
        """Latest view, however old; None before the first."""
        return self._view

    def _load_view(self, version: int) -> GraphView | None:
        """Return the stored view when it is of this version; else save it as the base for catching up and
        return None.
        """
        graph = self._kept()
        if graph is None or graph.version == version:
            return None if graph is None else graph.view
        if self._earlier is None:
            self._earlier = graph.view, graph.version, graph.highest
        return None

    def _stale(self, view: GraphView, age: timedelta) -> bool:
        return bool(view.strength.size) and not timedelta(0) <= age <= timedelta(seconds=self._ttl_seconds)
