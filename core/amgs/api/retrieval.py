"""Search in a memory: the six layers, and why a block is among the hits (AMGS §6)."""

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
"""Blocks searched by default: raw ones too, which are found by words only."""


class Retrieval(MemoryPart):
    """See the module; each question reads one committed state, even while others write."""

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
        """Return the blocks that answer a query best, `.hits` by falling score, each with its passage; changes nothing.

        Raw blocks are found by words only (`hit.block.status`); superseded ones rank last (`hit.block.superseded`).
        top_k: most hits. layers: only these of prefilter, keyword, fuzzy, vector, graph and score. filter: default: raw
        and consolidated blocks. weights: of the five components of a score. as_of: only what held then, including what
        was superseded or archived since. keep: log the search, so that `why_then` explains it by number later; written
        with the next assembly or on closing, never in a memory opened for reading only. Raises UsageError for an
        unknown layer, WeightsError for weights that do not sum to one.
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
            load(self._context.embedder, "the encoder")  # so that its layer's time excludes loading
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
        """Return the latest logged searches, newest first."""
        rows = self._context.searches.latest(bounds.count("A limit", limit))
        return tuple(PastSearch(row.serial, row.at, row.query, row.places, row.pool) for row in rows)

    def why_then(self, number: int, block: str) -> Explanation:
        """Return why a block was a hit of a logged search or not: its scores, rank and layers then.

        Raises UsageError if the search is not logged, UnknownBlockError or AmbiguousIdError for the block.
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
        """Return all candidates of the layers for a query, with evidence, without reading blocks; for measurements."""
        asked = waterfall.check_layers(layers)
        request = waterfall.RetrievalRequest(
            query, weights=weights or waterfall.search_weights(asked), layers=asked, most=0
        )
        with self._context.derived.searching() as sources:
            return waterfall.gather(request, sources)

    def nearest(self, query: str, limit: int = 10) -> list[tuple[str, float]]:
        """Return ids and cosines of the blocks nearest in meaning, by the vector layer."""
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
        """Return why a block is among the `top_k` hits, or in which layer it dropped out. Leaves no trace."""
        context = self._context
        asked = waterfall.RetrievalRequest(query, filter or SEARCHED, weights or SEARCH_WEIGHTS)
        with context.derived.searching() as sources:
            wanted = context.block(block)
            number = context.storage.blocks.numbers_of([wanted.id])[wanted.id]
            return following.why(asked, wanted, number, sources, top_k)
