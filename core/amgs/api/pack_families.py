"""How packs hang together by the relations of their members, and what those would bring to a question."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amgs import bounds
from amgs.api.context import MemoryContext
from amgs.errors import UsageError
from amgs.graph.view import GraphView
from amgs.packs import families, intents
from amgs.packs.walks import FamilyWalks, seeds
from amgs.retrieval.similarity import contributions
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.text.loading import load
from amgs.types import BlockFilter
from amgs.types.pack_families import (
    FamilyReach,
    PackGraph,
    PackIntent,
    ReachedBlock,
)
from amgs.types.packs import Pack


class PackFamilies:
    """The part of `memory.packs` that reads the graph."""

    def __init__(self, context: MemoryContext) -> None:
        self._context = context

    def graph(self) -> PackGraph:
        """The packs and how many relations of each family there are between the members of each two."""
        with self._context.derived.reading() as state:
            packs, members = self._members()
            return PackGraph(packs, families.links(members, state.graph.view()))

    def intent(self, query: str, *, limit: int = 3) -> PackIntent:
        """What a question asks for, and what the walk of each family of relations leads to from the best hits: at most
        `limit` blocks, and the packs. It explains: no search and no route reads it. Raises UsageError for a question
        without words.
        """
        if not any(one.isalnum() for one in query):
            raise UsageError("Nothing is asked.", way_out="Ask in words.")
        limit = bounds.count("A limit", limit)
        model = intents.packaged()
        likely = model.of(query)
        context = self._context
        load(context.embedder, "the encoder")
        with context.derived.searching() as sources:
            asked = BlockFilter(statuses=("raw", "consolidated"))
            evidence = gather(RetrievalRequest(query, asked, most=0), sources).evidence
            hits = seeds(evidence.numbers, contributions(evidence).sum(axis=1)) if evidence else {}
            view = sources.graph.view()
            members = self._members()[1]
            rows = families.rows_of(view)
            reaches = []
            for family, share in FamilyWalks(view).reached(hits).items():
                weight = sum(one * model.families[intent][family] for intent, one in likely.items())
                found = _most(view, share, hits, limit, sources)
                packs = _packs(view, share, members)
                reaches.append(FamilyReach(family, weight, int(rows[family].size), found, packs))
        ranked = sorted(likely.items(), key=lambda one: -one[1])
        return PackIntent(query, tuple(ranked), tuple(reaches))

    def _members(self) -> tuple[tuple[Pack, ...], dict[str, set[int]]]:
        """The packs that are not retired, and the numbers of their members by name."""
        blocks = self._context.storage.blocks
        packs = tuple(one for one in self._context.storage.packs.latest() if not one.retired)
        number_of = blocks.numbers_of(sorted({block for one in packs for block in one.blocks}))
        return packs, {one.name: {number_of[i] for i in one.blocks if i in number_of} for one in packs}


def _most(
    view: GraphView, share: NDArray[np.float64], hits: dict[int, float], limit: int, sources: Sources
) -> tuple[ReachedBlock, ...]:
    """The most reached blocks that are no hits."""
    reached = [
        (int(view.nodes[at]), float(share[at]))
        for at in np.argsort(-share, kind="stable")[: limit + len(hits)].tolist()
        if share[at] > 0.0 and int(view.nodes[at]) not in hits
    ][:limit]
    block_of = {one.number: one.block for one in sources.blocks.stored([number for number, _ in reached])}
    return tuple(ReachedBlock(block_of[number], one) for number, one in reached if number in block_of)


def _packs(
    view: GraphView, share: NDArray[np.float64], members: dict[str, set[int]]
) -> tuple[tuple[str, float], ...]:
    found = {
        name: float(share[np.isin(view.nodes, np.array(sorted(numbers), dtype=np.int64))].sum())
        for name, numbers in members.items()
    }
    reached = [(name, one) for name, one in found.items() if one > 0.0]
    return tuple(sorted(reached, key=lambda one: (-one[1], one[0])))
