"""Search, frames and the graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from amgs.api.retrieval import Retrieval
from amgs.memory.open_memory import OpenMemory
from amgs.text.loading import load

if TYPE_CHECKING:
    from amgs.retrieval import waterfall
    from amgs.types import (
        BlockFilter,
        Centrality,
        Consistency,
        Explanation,
        Frame,
        FrameDefinition,
        GraphStats,
        Neighbourhood,
        PastSearch,
        Progress,
        SearchResult,
        Weights,
    )


class RetrievalMethods(OpenMemory):
    """What answers questions."""

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
        consistency: Consistency = "strong",
    ) -> SearchResult:
        """The blocks that answer a query best, `.hits` in falling score, each with the passage that does; changes
        nothing.

        Raw blocks are found by their words until they are consolidated; `hit.block.status` tells them. What was
        superseded ranks behind, and `hit.block.superseded` tells it. top_k: how many at most. layers: of prefilter,
        keyword, fuzzy, vector, graph and score only these. filter: only blocks that pass it; raw and consolidated ones
        unless given. weights: other weights of the five parts of a score. as_of: only what held at that instant, also
        what was superseded or archived since. keep: the search is kept, so that `why_then` explains it later by its
        number in `searches`; it is written with the next assembly or on closing, never in a memory opened for reading
        only. consistency: of a memory with a search index outside the process, `strong` finds what was written since it
        was built as well, `bounded` what was built alone; the answer has the counters of both.
        Raises UsageError for a layer there is not, WeightsError for weights that do not sum to one.
        """
        return Retrieval(self._context).search(
            query,
            top_k=top_k,
            layers=layers,
            filter=filter,
            weights=weights,
            as_of=as_of,
            keep=keep,
            consistency=consistency,
        )

    def searches(self, limit: int = 20) -> tuple[PastSearch, ...]:
        """The latest searches that were kept, the newest first."""
        return Retrieval(self._context).searches(limit)

    def why_then(self, number: int, block: str) -> Explanation:
        """Why a block was a hit of a search that was kept or not: its scores, rank and finders of then.

        Raises UsageError for a number that is not kept, UnknownBlockError or AmbiguousIdError for the block.
        """
        return Retrieval(self._context).why_then(number, block)

    def load(self, progress: Progress | None = None) -> None:
        """Bring the encoder into memory, which the first search does otherwise and which may take seconds; nothing
        when it is there.
        """
        load(self._opened.embedder, "the encoder", progress)

    def gather(
        self, query: str, *, layers: Sequence[str] | None = None, weights: Weights | None = None
    ) -> waterfall.Gathered:
        """Everything that the layers find for a query, with its evidence; no block is read. For measuring."""
        return Retrieval(self._context).gather(query, layers=layers, weights=weights)

    def nearest(self, query: str, limit: int = 10) -> list[tuple[str, float]]:
        """Ids and cosines of the blocks nearest in meaning, as the vector layer finds them."""
        return Retrieval(self._context).nearest(query, limit)

    def why(
        self,
        query: str,
        block: str,
        *,
        frame: str | None = None,
        top_k: int = 10,
        filter: BlockFilter | None = None,
        weights: Weights | None = None,
        budget: int | None = None,
        child: str | None = None,
    ) -> Explanation:
        """Why a block is among the `top_k` hits or in a frame, or at which layer it fell out: by how
        much, and the smallest change of weights that would admit it. Leaves no trace.

        child: the part of a composite frame that is asked about.
        """
        if frame is not None:
            return self.frames.why(frame, query, block, budget=budget, weights=weights, child=child)
        return Retrieval(self._context).why(query, block, top_k=top_k, filter=filter, weights=weights)

    def assemble(
        self,
        name: str,
        *,
        query: str = "",
        budget: int | None = None,
        weights: Weights | None = None,
        reinforce: bool = True,
        as_of: datetime | None = None,
    ) -> Frame:
        """Assemble a frame. Its scores are logged as forecasts that feedback settles.

        reinforce: False for a look that leaves no trace; so it is in a memory opened for reading only.
        as_of: of what held at that instant; a look, too.
        """
        from amgs.api.assembler import Assembler

        return Assembler(self._context).assemble(
            name, query=query, budget=budget, weights=weights, reinforce=reinforce, as_of=as_of
        )

    def context(
        self,
        query: str,
        *,
        frame: str = "SESSION",
        budget: int | None = None,
        weights: Weights | None = None,
        reinforce: bool = True,
    ) -> Frame:
        """What a model should read for a query: the assembled frame, `.text` to put into a prompt and `.selected` with
        the blocks that are in it, the best first.

        frame: SESSION (who the agent is, what answers the query, what was last), ATTENTION (only what answers it) or
        any other that is defined. budget: at most so many tokens; the frame's own unless given. weights: other weights
        of the five parts of a score. reinforce: what is selected counts as used, and its scores as forecasts that
        `feedback` judges; False for a look that leaves no trace.
        Raises UnknownFrameError, BudgetError or WeightsError.
        """
        return self.assemble(frame, query=query, budget=budget, weights=weights, reinforce=reinforce)

    def entity_names(self, start: str = "", limit: int = 50) -> tuple[str, ...]:
        """Names and aliases of entities that begin so, of those that were looked at since the memory was opened."""
        return self.entities.names(start, limit)

    def frame_definitions(self) -> tuple[FrameDefinition, ...]:
        """The registered frames, children before their parents."""
        return tuple(self._context.definitions().values())

    def define_frame(self, definition: FrameDefinition) -> None:
        """Register a frame or change one; raises FrameCycleError when it would contain itself."""
        self.frames.define(definition)

    def neighbourhood(self, block_id: str, hops: int = 1, limit: int = 60) -> Neighbourhood:
        """What lies within `hops` of a block, the nearest and strongest `limit` of it."""
        return self.graph.neighbourhood(block_id, hops, limit)

    def centrality(self, block_id: str) -> Centrality:
        """A block's degree, eigenvector, PageRank and betweenness, each scaled to [0, 1]; zeros outside the
        graph.
        """
        return self.graph.centrality(block_id)

    def graph_stats(self) -> GraphStats:
        """Counts and shape of the whole graph."""
        return self.graph.stats()
