"""Search, frames and the graph."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from amgs.api.retrieval import Retrieval
from amgs.memory.open_memory import OpenMemory
from amgs.text.loading import load

if TYPE_CHECKING:
    from amgs.types import (
        BlockFilter,
        Centrality,
        Explanation,
        Frame,
        FrameDefinition,
        GraphStats,
        Neighbourhood,
        Progress,
        Weights,
    )


class RetrievalMethods(OpenMemory, Retrieval):
    """Methods that answer questions."""

    def load(self, progress: Progress | None = None) -> None:
        """Load the encoder, as the first search would otherwise, which may take seconds; does nothing if
        it is loaded.
        """
        load(self._opened.embedder, "the encoder", progress)

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
        """Return why a block is among the `top_k` hits or in a frame, or in which layer it dropped out, by how much,
        and the smallest change of weights that would admit it; leaves no trace.

        child: part of a composite frame.
        """
        if frame is not None:
            return self.frames.why(frame, query, block, budget=budget, weights=weights, child=child)
        return super().why(query, block, top_k=top_k, filter=filter, weights=weights)

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
        """Assemble a frame and log its scores as forecasts, which feedback decides.

        reinforce: False leaves no trace, as do a memory opened for reading only, and as_of: what held at that time.
        Raises UnknownFrameError, BudgetError or WeightsError.
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
        """Return what a model should read for a query: the assembled frame, with `.text` for a prompt and `.selected`
        blocks, best first.

        frame: SESSION (who the agent is, what answers the query, what was last), ATTENTION (only what answers it) or
        another. budget: most tokens; default: the frame's own. weights: of the five components of a score. reinforce:
        selected blocks count as used and their scores as forecasts, which `feedback` decides; False leaves no trace.
        Raises UnknownFrameError, BudgetError or WeightsError.
        """
        return self.assemble(frame, query=query, budget=budget, weights=weights, reinforce=reinforce)

    def entity_names(self, start: str = "", limit: int = 50) -> tuple[str, ...]:
        """Return names and aliases of entities with this prefix, as last computed since the memory was opened."""
        return self.entities.names(start, limit)

    def frame_definitions(self) -> tuple[FrameDefinition, ...]:
        """Return the registered frames, children before their parents."""
        return tuple(self._context.definitions().values())

    def define_frame(self, definition: FrameDefinition) -> None:
        """Create or change a frame; raises FrameCycleError if it would contain itself."""
        self.frames.define(definition)

    def neighbourhood(self, block_id: str, hops: int = 1, limit: int = 60) -> Neighbourhood:
        """Return the `limit` nearest and strongest blocks within `hops` of a block."""
        return self.graph.neighbourhood(block_id, hops, limit)

    def centrality(self, block_id: str) -> Centrality:
        """Return a block's degree, eigenvector, PageRank and betweenness, each scaled to [0, 1]; zeros outside the
        graph.
        """
        from amgs.types import Centrality

        with self._opened.derived.reading() as state:
            wanted = self._context.whole_id(block_id)
            at = state.graph.view().index_of(self._storage.blocks.numbers_of([wanted])[wanted])
            return Centrality() if at is None else state.graph.measures(bridges=True).of(at)

    def graph_stats(self) -> GraphStats:
        """Return size and shape of the whole graph."""
        from amgs.graph import traversal

        with self._opened.derived.reading() as state:
            return traversal.stats(state.graph.view())
