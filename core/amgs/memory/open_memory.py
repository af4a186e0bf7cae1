"""OpenMemory: the basis of the public interface, with the parts of the engine; and its methods that search and
assemble frames, and that look up blocks and change them by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from amgs import bounds
from amgs.api.context import MemoryContext, Retrieval
from amgs.clock import Clock
from amgs.memory.wing_parts import WingParts
from amgs.settings import Settings
from amgs.text.embedding import load

if TYPE_CHECKING:
    from amgs.api.calibration import Calibration
    from amgs.api.context import Changes
    from amgs.api.conversation import Conversations
    from amgs.api.entities import Entities
    from amgs.api.exchange import Exchange
    from amgs.api.frames import Frames
    from amgs.api.gateway import GatewayLog
    from amgs.api.graph import Graph, SimulatedChange
    from amgs.api.health import Erasure
    from amgs.api.lifecycle import Lifecycle
    from amgs.api.sources import SourceLibrary
    from amgs.diagnosis.diagnosing import Diagnosing
    from amgs.simulation import Simulation
    from amgs.types import (
        Block,
        BlockFilter,
        Centrality,
        Edge,
        Explanation,
        Frame,
        FrameDefinition,
        GraphStats,
        JournalEntry,
        Neighbourhood,
        Progress,
        Status,
        Vector,
        Weights,
    )


class OpenMemory(WingParts):
    """An open memory. Parts are imported on first use, so that a command that asks one question loads no others."""

    def __init__(self, opened: MemoryContext) -> None:
        super().__init__(opened)
        self.clock: Clock = opened.clock
        self.settings: Settings = opened.settings

    @property
    def _context(self) -> MemoryContext:
        # Clock and settings may have been replaced since the memory was opened.
        return replace(self._opened, clock=self.clock, settings=self.settings)

    @property
    def space(self) -> tuple[str, int]:
        """Name and dimension of the present embedder."""
        return self._opened.embedder.name, self._opened.embedder.dimension

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return unit vectors (n, d) of texts by the memory's embedder."""
        return self._opened.embedder.embed(texts, progress)

    @property
    def sources(self) -> SourceLibrary:
        """Sources of texts, and changes when they are read again."""
        from amgs.api.sources import SourceLibrary

        return SourceLibrary(self._context)

    @property
    def lifecycle(self) -> Lifecycle:
        """Enhancement, review of what may be superseded, pruning, previews and triggers."""
        from amgs.api.lifecycle import Lifecycle

        return Lifecycle(self._context)

    @property
    def frames(self) -> Frames:
        """Frames: cached, compared, and the user's own."""
        from amgs.api.frames import Frames

        return Frames(self._context)

    @property
    def entities(self) -> Entities:
        """Entities in the memory: people, organisations, places, projects, topics."""
        from amgs.api.entities import Entities

        return Entities(self._context)

    @property
    def conversation(self) -> Conversations:
        """Conversations, stored in full, and the part that a model should read for a question."""
        from amgs.api.conversation import Conversations

        return Conversations(self._context)

    @property
    def gateway(self) -> GatewayLog:
        """Agents' requests through the gateway, with what the model read for each answer."""
        from amgs.api.gateway import GatewayLog

        return GatewayLog(self._context)

    @property
    def diagnosis(self) -> Diagnosing:
        """Diagnosis of missed facts: the cause, the fix, and its effect on other answers."""
        from amgs.diagnosis.diagnosing import Diagnosing

        return Diagnosing(self._context)

    @property
    def changes(self) -> Changes:
        """Changes of a memory that several programs share, by any of them."""
        from amgs.api.context import Changes

        return Changes(self._context)

    @property
    def graph(self) -> Graph:
        """Surroundings of a block, paths, communities, centrality."""
        from amgs.api.graph import Graph

        return Graph(self._context)

    @property
    def calibration(self) -> Calibration:
        """Learning from outcomes: recalibration, tuning, metrics, monitors."""
        from amgs.api.calibration import Calibration

        return Calibration(self._context)

    def simulate(
        self,
        change: SimulatedChange,
        draws: int = 64,
        seed: int = 0,
        *,
        days: float = 30.0,
        rate: float | None = None,
        progress: Progress | None = None,
    ) -> Simulation:
        """Simulate the effect of a change after some days (AMGS §7.6): a `Change` of blocks and edges as from
        `enhance`, a `Pruning`, an `Insertion` or a `Decay`. rate: uses per day; default: as in the last month.
        """
        from amgs.api.graph import simulate

        means = self.lifecycle.means
        return simulate(self._context, means, change, draws=draws, seed=seed, days=days, rate=rate, progress=progress)

    @property
    def erasure(self) -> Erasure:
        """Erasure of blocks, so that nothing of their text remains in the store."""
        from amgs.api.health import Erasure

        return Erasure(self._context)

    @property
    def exchange(self) -> Exchange:
        """Export of the whole memory to a file, and import."""
        from amgs.api.exchange import Exchange

        return Exchange(self._context)


class BlockMethods(OpenMemory):
    """Methods that look up and change blocks and edges."""

    def block(self, id_or_prefix: str) -> Block:
        """Return the block with this id or unique prefix. Raises UnknownBlockError, or AmbiguousIdError, which names up
        to five matching ids.
        """
        return self._context.block(id_or_prefix)

    def blocks(
        self,
        filter: BlockFilter,
        *,
        order: Literal["created", "reinforced", "id"] = "created",
        limit: int | None = None,
        offset: int = 0,
    ) -> tuple[Block, ...]:
        """Return blocks that pass a filter, latest first unless ordered by id."""
        most = bounds.count("A limit", limit)
        skipped = bounds.count("An offset", offset)
        return self._storage.blocks.select(filter, order=order, limit=most, offset=skipped)

    def earliest(self, filter: BlockFilter) -> datetime | None:
        """Return the creation time of the oldest block that passes a filter; None if there is none."""
        return self._storage.blocks.earliest(filter)

    def count(self, filter: BlockFilter) -> int:
        """Return the number of blocks that pass a filter."""
        return self._storage.blocks.count(filter)

    def titles(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the titles of blocks by id, without unknown ids."""
        return {block.id: block.title for block in self._storage.blocks.get(ids).values()}

    def find(self, text: str, limit: int = 20) -> tuple[Block, ...]:
        """Return blocks whose title, first words or id resemble a text, best first."""
        from amgs.text import finder

        ids = finder.find(self._storage.blocks.outlines(), text, bounds.count("A limit", limit))
        blocks = self._storage.blocks.get(ids)
        return tuple(blocks[i] for i in ids if i in blocks)

    def resolve_source(self, source: str) -> tuple[str, ...]:
        """Return the ids of the blocks of a source: a file, or `file#n` for a part or turn of it."""
        return self._storage.blocks.with_source(source)

    def has_source(self, sources: Sequence[str]) -> bool:
        """Return whether a block came from any of these sources, or a part of them."""
        return self._storage.blocks.has_source(sources) or bool(self._storage.sources.read_pieces(sources))

    def edges(self, block_id: str | None = None) -> tuple[Edge, ...]:
        """Return the edges of a block in both directions; without a block, of the whole memory."""
        if block_id is None:
            return self._storage.edges.everything()
        return self._storage.edges.touching([self._context.whole_id(block_id)])

    def set_metadata(
        self,
        id: str,
        *,
        category: str | None = None,
        categories: Sequence[str] | None = None,
        confidence: float | None = None,
        decay_lambda: float | None = None,
        is_self_component: bool | None = None,
        status: Status | None = None,
        meta: Mapping[str, str] | None = None,
    ) -> Block:
        """Change a block's metadata; journalled, so it can be undone.

        categories: for several, the first becoming its `category`. meta: an empty value removes a key.
        """
        from amgs.lifecycle import annotate

        return annotate.edit(
            self._storage,
            self._context.whole_id(id),
            self._now,
            category=category,
            categories=categories,
            confidence=confidence,
            decay_lambda=decay_lambda,
            is_self_component=is_self_component,
            status=status,
            meta=meta,
        )

    def tag(self, id: str, add: Sequence[str] = (), remove: Sequence[str] = (), *, note: str | None = None) -> Block:
        """Add and remove tags of a block, and set its note (an empty note removes it); journalled. They stay when its
        source is read again.
        """
        whole = self._context.whole_id(id)
        from amgs.lifecycle import annotate as annotating

        return annotating.annotate(self._storage, whole, self._now, add=add, remove=remove, note=note)

    def note(self, id: str, text: str) -> Block:
        """Set a block's note; an empty note removes it. Journalled."""
        return self.tag(id, note=text)

    def add_edge(
        self, source: str, target: str, *, kind: str = "related", weight: float = 0.8, confidence: float = 1.0
    ) -> Edge:
        """Add an edge between two consolidated blocks, or change the existing edge of that kind; journalled."""
        start, goal = (self._context.whole_id(short_id) for short_id in (source, target))
        from amgs.lifecycle import annotate as annotating

        return annotating.add_edge(
            self._storage, start, goal, self._now, kind=kind, weight=weight, confidence=confidence
        )

    def remove_edge(self, source: str, target: str, *, kind: str | None = None) -> JournalEntry:
        """Remove the edges from a block to another, of a kind or all; journalled."""
        start, goal = (self._context.whole_id(short_id) for short_id in (source, target))
        from amgs.lifecycle import annotate as annotating

        return annotating.remove_edges(self._storage, start, goal, self._now, kind=kind)


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
