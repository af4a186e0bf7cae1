"""Asking the memory: the six layers of one open memory, and why a block is among their hits (AMGS §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from amgs import bounds
from amgs.api.context import MemoryPart
from amgs.clock import ShiftedClock, as_utc
from amgs.errors import UsageError
from amgs.retrieval import search_log, waterfall
from amgs.retrieval import why as following
from amgs.retrieval.score import SEARCH_WEIGHTS
from amgs.storable import check_storable
from amgs.text.loading import load
from amgs.types import BlockFilter, Explanation, PastSearch, SearchResult, Weights

SEARCHED = BlockFilter(statuses=("consolidated", "raw"))
"""What a search looks through unless told: raw blocks too, which only their words can find."""


class Retrieval(MemoryPart):
    """See the module; each question reads one committed state, whatever is written meanwhile."""

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        layers: Sequence[str] | None = None,
        filter: BlockFilter | None = None,
        weights: Weights | None = None,
        as_of: datetime | None = None,
        keep: bool = False,
    ) -> SearchResult:
        """Return the blocks that answer a query best, `.hits` in falling score, each with the passage that does;
        changes nothing.

        Raw blocks are found by their words until they are consolidated; `hit.block.status` tells them. What was
        superseded ranks behind, and `hit.block.superseded` tells it. top_k: how many at most. layers: of prefilter,
        keyword, fuzzy, vector, graph and score only these. filter: only blocks that pass it; raw and consolidated ones
        unless given. weights: other weights of the five parts of a score. as_of: only what held at that instant, also
        what was superseded or archived since. keep: the search is kept, so that `why_then` explains it later by its
        number; it is written with the next assembly or on closing, never in a memory opened for reading only.
        Raises UsageError for a layer there is not, WeightsError for weights that do not sum to one.
        """
        check_storable(query)
        query = self._context.settings.ingest.mask(query)
        wanted = filter or SEARCHED
        if as_of is not None:
            wanted = replace(wanted, as_of=as_utc(as_of))
        asked = waterfall.check_layers(layers)
        request = waterfall.RetrievalRequest(query, wanted, weights or waterfall.search_weights(asked), asked)
        words_alone = not request.layers & {"vector", "graph"}
        if not words_alone:
            load(self._context.embedder, "the encoder")  # before the clock of its layer starts
        with self._context.derived.searching(words_alone=words_alone) as sources:
            if wanted.as_of is not None:
                sources = replace(sources, clock=ShiftedClock(wanted.as_of, base=sources.clock))
            result, gathered = waterfall.search_with_evidence(request, sources, top_k)
            if keep:
                self._context.searches.keep(
                    query,
                    gathered,
                    at=sources.clock.now(),
                    places=bounds.count("The number of hits", top_k),
                    weights=gathered.weights,
                    most=self._context.settings.retrieval.searches,
                )
            return result

    def searches(self, limit: int = 20) -> tuple[PastSearch, ...]:
        """Return the latest searches that were kept, the newest first."""
        rows = self._context.searches.latest(bounds.count("A limit", limit))
        return tuple(PastSearch(row.serial, row.at, row.query, row.places, row.pool) for row in rows)

    def why_then(self, number: int, block: str) -> Explanation:
        """Return why a block was a hit of a search that was kept or not: its scores, rank and finders of then.

        Raises UsageError for a number that is not kept, UnknownBlockError or AmbiguousIdError for the block.
        """
        row = self._context.searches.get(number)
        if row is None:
            most = self._context.settings.retrieval.searches
            raise UsageError(
                f"Search {number} is not kept; the latest {most} are.",
                title="Not kept",
                way_out="Search again; `memory.retrieval.searches` in the settings says how many are kept.",
            )
        return search_log.explain(row, self._context.block(block))

    def gather(
        self, query: str, *, layers: Sequence[str] | None = None, weights: Weights | None = None
    ) -> waterfall.Gathered:
        """Return everything that the layers find for a query, with its evidence; no block is read. For measuring."""
        asked = waterfall.check_layers(layers)
        request = waterfall.RetrievalRequest(
            query, weights=weights or waterfall.search_weights(asked), layers=asked, most=0
        )
        with self._context.derived.searching() as sources:
            return waterfall.gather(request, sources)

    def nearest(self, query: str, limit: int = 10) -> list[tuple[str, float]]:
        """Return ids and cosines of the blocks nearest in meaning, as the vector layer finds them."""
        with self._context.derived.searching() as sources:
            hits = sources.vectors.search(sources.embed(query), limit)
            ids = {
                stored_block.number: stored_block.block.id
                for stored_block in sources.blocks.stored([n for n, _ in hits])
            }
        return [(ids[number], cosine) for number, cosine in hits]

    def why(
        self, query: str, block: str, *, top_k: int, filter: BlockFilter | None, weights: Weights | None
    ) -> Explanation:
        """Return why a block is among the `top_k` hits, or at which layer it fell out. Leaves no trace."""
        context = self._context
        asked = waterfall.RetrievalRequest(query, filter or SEARCHED, weights or SEARCH_WEIGHTS)
        with context.derived.searching() as sources:
            wanted = context.block(block)
            number = context.storage.blocks.numbers_of([wanted.id])[wanted.id]
            return following.why(asked, wanted, number, sources, top_k)
