"""`memory.graph`: surroundings of a block, paths, communities, centrality."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from amgs import bounds
from amgs.api.context import MemoryPart
from amgs.clock import as_utc, microseconds_of
from amgs.graph import traversal
from amgs.graph.view import GraphView
from amgs.lifecycle import annotate
from amgs.types import Block, Edge, LiveEdge, Neighbourhood


@dataclass(frozen=True, slots=True)
class GraphPath:
    """The strongest path between two blocks.

    blocks: in order; empty without a path. edges: the strongest between neighbours. strength: product of theirs.
    """

    start: Block
    goal: Block
    blocks: tuple[Block, ...]
    edges: tuple[LiveEdge, ...]
    strength: float


@dataclass(frozen=True, slots=True)
class Community:
    """Blocks that are closely linked. centre: highest PageRank first. inside: share of its edges' strength that stays
    within.
    """

    number: int
    size: int
    inside: float
    categories: tuple[tuple[str, int], ...]
    centre: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Communities:
    """The largest communities first. modularity: deviation of the partition from chance, in [-0.5, 1]."""

    found: tuple[Community, ...]
    total: int
    modularity: float


class Graph(MemoryPart):
    """The present graph of the live blocks."""

    def neighbourhood(
        self,
        block_id: str,
        hops: int = 1,
        limit: int = 60,
        *,
        relations: Collection[str] = (),
        since: datetime | None = None,
    ) -> Neighbourhood:
        """Return the `limit` nearest and strongest blocks within `hops` of a block.

        relations: only edges of these types; () for all. since: only edges created or reinforced since then.
        """
        hops, limit = bounds.count("A distance", hops), bounds.count("A limit", limit, least=1)
        with self._context.derived.reading() as state:
            block = self._context.block(block_id)
            number, graph = self._number(block), state.graph
            view, measures = _only(graph.view(), relations, since), graph.measures()
            reached = traversal.within(view, number, hops, limit)
            around = self._blocks([node.number for node in reached])
            edges = view.live_edges(view.edges_among(set(around)), {n: b.id for n, b in around.items()})
            at = {n: view.index_of(n) for n in around}
        return Neighbourhood(
            center=block,
            hops=hops,
            distances={around[r.number].id: r.distance for r in reached},
            blocks=tuple(around[r.number] for r in reached),
            edges=edges,
            centrality={around[n].id: measures.of(i) for n, i in at.items() if i is not None},
        )

    def path(self, start: str, goal: str) -> GraphPath:
        """Return the path between two blocks with the greatest product of edge strengths."""
        with self._context.derived.reading() as state:
            first, last = self._context.block(start), self._context.block(goal)
            view = state.graph.view()
            numbers = traversal.strongest_path(view, self._number(first), self._number(last))
            blocks = self._blocks(list(numbers))
            names = {number: block.id for number, block in blocks.items()}
            edges = []
            for node, other in pairwise(numbers):
                between = view.live_edges(view.edges_among({node, other}), names)
                edges.append(max(between, key=lambda live: live.strength))
        strength = float(np.prod([live.strength for live in edges])) if numbers else 0.0
        return GraphPath(first, last, tuple(blocks[number] for number in numbers), tuple(edges), strength)

    def communities(self, limit: int = 12, central: int = 3) -> Communities:
        """Return the communities by Louvain's method on edge strengths, largest first."""
        limit = bounds.count("A limit", limit)
        central = bounds.count("The number of central blocks", central)
        with self._context.derived.reading() as state:
            view, measures = state.graph.view(), state.graph.measures()
            parted = traversal.find_communities(view)
            rank = measures.pagerank
            rows = []
            for number, members in enumerate(parted.parts[:limit], start=1):
                best = members[np.argsort(-rank[members], kind="stable")[:central]]
                blocks = self._blocks([int(view.nodes[i]) for i in members])
                kinds = Counter(block.category or "none" for block in blocks.values())
                centre = tuple(blocks[int(view.nodes[i])] for i in best)
                inside = traversal.internal_share(view, members)
                rows.append(Community(number, members.size, inside, tuple(kinds.most_common(4)), centre))
        return Communities(tuple(rows), len(parted.parts), parted.modularity)

    def confirm_edge(self, source: str, target: str, *, kind: str = "related") -> Edge:
        """Confirm an edge: set its confidence to 1 and restart its decay; journalled. Raises UsageError if it does not
        exist.
        """
        key = (self._context.whole_id(source), self._context.whole_id(target), kind)
        return annotate.confirm_edge(self._storage, key, self._now)

    def _number(self, block: Block) -> int:
        return self._storage.blocks.numbers_of([block.id])[block.id]

    def _blocks(self, numbers: list[int]) -> dict[int, Block]:
        return {stored_block.number: stored_block.block for stored_block in self._storage.blocks.by_number(numbers)}


def _only(view: GraphView, relations: Collection[str], since: datetime | None) -> GraphView:
    """Return the view restricted to edges of these types and times."""
    if not relations and since is None:
        return view
    mask: NDArray[np.bool_] = np.ones(view.source.size, dtype=np.bool_)
    if relations:
        mask &= np.isin(view.columns.relation.astype(str), list(relations))
    if since is not None:
        mask &= np.maximum(view.columns.created, view.columns.reinforced) >= microseconds_of(as_utc(since))
    return view.only(np.flatnonzero(mask))
