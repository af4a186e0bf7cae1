"""A view of the graph after a change, from the view before it: what `materialise` gives, without reading all edges."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from amgs.graph.view import GraphView, Ties, strengths
from amgs.index.ascending import without
from amgs.storage.edges import EdgeColumns

EdgeNumbers = tuple[int, int, str]
"""Source and target of an edge as numbers of blocks, and its relation."""


def caught_up(
    view: GraphView, nodes: NDArray[np.int64], changed: Iterable[EdgeNumbers], fresh: EdgeColumns
) -> GraphView:
    """The view with other live blocks and edges, at the instant it is of.

    nodes: (n,) ascending. changed: edges that were written or taken out; fresh: those of them that are there now,
    sorted as the view's columns are. A block that comes must bring all its edges with it.
    """
    gone = without(view.nodes, nodes)
    appended = not gone.size and np.array_equal(nodes[: view.nodes.size], view.nodes)
    stays = np.ones(view.source.size, dtype=np.bool_)
    stays[[row for one in changed for row in _rows_of(view.columns, one)]] = False
    if gone.size:
        alive = ~np.isin(view.nodes, gone, assume_unique=True)
        stays &= alive[view.source] & alive[view.target]
    if bool(stays.all()) and not fresh.source.size:
        ends = (view.source, view.target)
        if not appended:
            place = np.searchsorted(nodes, view.nodes).astype(np.int64)
            ends = (place[view.source], place[view.target])
        laid = _extended(view, nodes.size) if appended else None
        return GraphView(nodes, view.columns, *ends, view.strength, view.as_of, laid)
    kept = _Rows(view.columns, stays)
    at = np.array([kept.place(fresh, row) for row in range(fresh.source.size)], dtype=np.int64)
    columns = EdgeColumns(
        *(
            np.insert(getattr(view.columns, each.name)[stays], at, getattr(fresh, each.name))
            for each in fields(EdgeColumns)
        )
    )
    strength = np.insert(view.strength[stays], at, strengths(fresh, view.as_of))
    source = np.searchsorted(nodes, columns.source).astype(np.int64)
    target = np.searchsorted(nodes, columns.target).astype(np.int64)
    return GraphView(nodes, columns, source, target, strength, view.as_of)


class _Rows:
    """The columns of the edges that stay, in which others look for their place."""

    def __init__(self, columns: EdgeColumns, stays: NDArray[np.bool_]) -> None:
        self._source, self._target = columns.source[stays], columns.target[stays]
        self._relation = columns.relation[stays]

    def place(self, fresh: EdgeColumns, row: int) -> int:
        begin = int(fresh.source[row])
        first, end = np.searchsorted(self._source, [begin, begin + 1]).tolist()
        known = list(zip(self._target[first:end].tolist(), self._relation[first:end].tolist(), strict=True))
        return int(first) + bisect_left(known, (int(fresh.target[row]), str(fresh.relation[row])))


def _rows_of(columns: EdgeColumns, edge: EdgeNumbers) -> list[int]:
    """The row of an edge, nothing where it is not there."""
    begin, end, relation = edge
    first, last = np.searchsorted(columns.source, [begin, begin + 1]).tolist()
    here = np.flatnonzero((columns.target[first:last] == end) & (columns.relation[first:last] == relation))
    return (here + first).tolist()  # type: ignore[no-any-return]


def _extended(view: GraphView, size: int) -> Ties | None:
    """The ties of the view, where they are laid, with blocks at the end that have no edges."""
    laid = view.__dict__.get("ties") or view.laid
    if laid is None:
        return None
    more = np.full(size - view.nodes.size, laid.starts[-1], dtype=np.int64)
    return Ties(np.concatenate([laid.starts, more]), laid.neighbour, laid.edge)
