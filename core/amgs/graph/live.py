"""Keep the current graph of a memory: built on first use, and again when edges change or strengths are old (AMGS
§5.3). `derived` makes a `LiveGraph` for each version of the store and saves its view as arrays (FORMAT); any
thread reads it. The centrality of a large graph is computed occasionally and saved in the store.
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
from amgs.graph.centrality import BRIEF_BYTES, Measures, Scores, measure, without_brief_edges
from amgs.graph.view import GraphView, Ties, materialise, refresh_view, strengths
from amgs.index.arrays import Generation, save_arrays
from amgs.settings import GraphSettings
from amgs.storage.edges import CentralityOrigin, EdgeColumns, WalkColumns
from amgs.storage.store import Storage
from amgs.types import BlockFilter

FORMAT = 3
"""Version of the saved arrays; raise it when their meaning changes, and saved ones are built again."""


@dataclass(frozen=True, eq=False)
class StoredGraph:
    """A saved view. version: of the store when it was saved. highest: the highest number of a block then."""

    view: GraphView
    version: int
    highest: int


def write_view(folder: Path, view: GraphView) -> None:
    """Save the arrays of a view in a folder; `describe_view` gives what is saved as JSON."""
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


def describe_view(view: GraphView, highest: int) -> Mapping[str, Any]:
    """Return what the caller saves as JSON beside the arrays."""
    return {"as_of": microseconds_of(view.as_of), "highest": highest}


def read_graph(generation: Generation) -> StoredGraph:
    """Return the graph saved in a generation (a version of the saved indexes), with the strengths it had then."""
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
    as_of: datetime = EPOCH + timedelta(microseconds=int(generation.facts["as_of"]))
    ties = Ties(generation.array("starts"), generation.array("neighbour"), generation.array("edge"))
    view = GraphView(nodes, columns, source, target, strengths(columns, as_of), as_of, ties)
    return StoredGraph(view, generation.stamp.revision, int(generation.facts["highest"]))


def _code_relations(relation: NDArray[np.object_]) -> tuple[list[str], NDArray[np.int16]]:
    """Return the distinct relations, and for each edge (m,) the index of its relation among them."""
    place: dict[str, int] = {}
    codes = [place.setdefault(str(name), len(place)) for name in relation.tolist()]
    return list(place), np.array(codes, dtype=np.int16)


Load = Callable[[], tuple[EdgeColumns, NDArray[np.int64]]]
"""Reads all edges between live blocks, and the numbers of the live blocks."""


CatchUp = Callable[[GraphView, int, int], GraphView | None]
"""Makes the current view from an earlier view, its version and its highest block number; None where it does not know
everything that changed since.
"""


def _unknown_changes(view: GraphView, version: int, highest: int) -> None:
    """Return None: the `CatchUp` where changes are not recorded."""
    del view, version, highest


@dataclass(frozen=True, eq=False)
class CentralitySnapshot:
    """Centrality that scores use: numbers (n,) ascending and their values (n,); any other block has 0."""

    numbers: NDArray[np.int64]
    scores: Scores


TTL_SECONDS = 300.0
"""Seconds after which a view's strengths are computed again, since edges decay."""


class LiveGraph:
    """Holds a GraphView and its measures until `version` changes or the view is older than `ttl_seconds`.

    load: reads all edges and the numbers of the live blocks. version: the store's counter of changes to them. The TTL
    is for decay: until then strengths count as constant, so that the NetworkX graph built from them is used again.
    load_graph: reads the view that an earlier session saved. recorded: the centrality stored by the last measurement,
    which scores a large graph. walks: the edges reinforced since an instant, to refresh an old view. brief: numbers of
    the blocks too short to count for centrality. highest: the highest number of a block.
    """

    def __init__(
        self,
        load: Load,
        version: Callable[[], int],
        clock: Clock,
        settings: GraphSettings,
        *,
        load_graph: Callable[[], StoredGraph | None] = lambda: None,
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
        self._load_graph = load_graph
        self._recorded = recorded
        self._walks = walks
        self._brief = brief
        self._highest = highest
        self._ttl_seconds = ttl_seconds
        self._earlier: tuple[GraphView, int, int] | None = None
        self._catch_up: CatchUp = _unknown_changes
        self._view: GraphView | None = None
        self._at_version = -1
        self._measures: Measures | None = None
        self._lock = threading.RLock()

    def successor(
        self, version: int, load: Load | None = None, catch_up: CatchUp = _unknown_changes, *, highest: int = 0
    ) -> LiveGraph:
        """Return the graph of the next version; readers of this graph keep what they have.

        catch_up: makes its view from the last view; where it cannot, the edges are read again. highest: the highest
        number of a block in it.
        """
        graph = LiveGraph(
            load or self._load,
            lambda: version,
            self._clock,
            self._settings,
            load_graph=self._load_graph if self._view is None else lambda: None,
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
        """Version of the current view; -1 before the first."""
        return self._at_version

    def forget(self) -> None:
        """Drop the view and its measures, after the store was filled from elsewhere."""
        self._view = self._measures = self._earlier = None
        self._at_version = -1

    def view(self) -> GraphView:
        """Return the graph as it is now, at most a TTL old."""
        with self._lock:
            return self._renew_view()

    def _renew_view(self) -> GraphView:
        """Return the current view: loaded, caught up or built where the version changed, refreshed where it is old."""
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
        """Return the measures of the current view, computed on first use; a large graph takes seconds."""
        view = self.view()
        known = self._measures
        if known is None or (bridges and known.betweenness is None):
            known = measure(without_brief_edges(view, self._brief()), bridges=bridges)
            if view is self._view:
                self._measures = known
        return known

    def standing(self) -> CentralitySnapshot:
        """Return the centrality that scores use: measured now while the graph is small, else as last stored.

        It changes slowly, and a search must not wait for it.
        """
        nodes = self.view().nodes
        if nodes.size <= self._settings.fresh_centrality_nodes:
            return CentralitySnapshot(nodes, self.measures().importance())
        return self._recorded() or CentralitySnapshot(nodes[:0], np.zeros(0))

    def importance(self, numbers: Sequence[int]) -> dict[int, float]:
        """Return the centrality of each block, by number; 0 for a block outside the graph."""
        wanted = np.asarray(numbers, dtype=np.int64)
        return dict(zip(wanted.tolist(), self.importances(wanted).tolist(), strict=True))

    def importances(self, numbers: NDArray[np.int64]) -> Scores:
        """Return the centrality of each block as an array (m,); 0 for a block outside the graph."""
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
        """Return the saved view if it is of this version; else keep it as the base for catching up and return None."""
        graph = self._load_graph()
        if graph is None or graph.version == version:
            return None if graph is None else graph.view
        if self._earlier is None:
            self._earlier = graph.view, graph.version, graph.highest
        return None

    def _stale(self, view: GraphView, age: timedelta) -> bool:
        """Return whether a view's strengths must be computed again: it is older than the TTL, or the
        clock went back.
        """
        return bool(view.strength.size) and not timedelta(0) <= age <= timedelta(seconds=self._ttl_seconds)


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
    """The centrality saved in a store, read once per computation.

    It is used until it has drifted, so that a ranking depends on the store only, not on what a process did before.
    Graphs of up to `graph.fresh_centrality_nodes` blocks are always computed afresh.
    """

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
        """Save a centrality; return False if the saved centrality is of the same or a later graph."""
        with self._storage.transaction():
            return self._storage.centrality.put(centrality.origin, centrality.numbers, centrality.scores)

    def _origin(self, structure: int, blocks: int, at: datetime) -> CentralityOrigin:
        return CentralityOrigin(structure, blocks, self._storage.edges.count(), at)


def _has_drifted(now: int, then: int) -> bool:
    return abs(now - then) > now // _DRIFT
