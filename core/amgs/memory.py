"""Memory: the engine's public face. It opens the store, hands the stages what they need, and holds no rules
itself.

What a search does not need is imported where it is: a command that asks one question and ends pays for no other part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from amgs import bounds
from amgs.api.context import MemoryContext
from amgs.api.retrieval import Retrieval
from amgs.clock import Clock
from amgs.derived.indexes import Derived
from amgs.errors import UsageError
from amgs.frames import definition as shipped
from amgs.frames import shipping
from amgs.retrieval import waterfall
from amgs.settings import Settings
from amgs.storage.opening import MEMORY, open_storage, remove
from amgs.storage.protocol import Storage
from amgs.text.embedders import named
from amgs.text.embedding import Embedder, HashingEmbedder
from amgs.text.entities import EntityRecogniser, RuleRecogniser
from amgs.text.loading import load
from amgs.text.tokens import approximate_tokens
from amgs.types import (
    Block,
    BlockFilter,
    Centrality,
    ConsolidationPlan,
    ConsolidationSummary,
    DecayCurve,
    Edge,
    Explanation,
    Forecast,
    Frame,
    FrameDefinition,
    GraphStats,
    Health,
    IngestReport,
    JournalEntry,
    Neighbourhood,
    Outcome,
    Progress,
    Reliability,
    SearchResult,
    Status,
    StoreStatus,
    Verification,
    Weights,
)

if TYPE_CHECKING:
    from amgs.api.calibration import Calibration
    from amgs.api.diversity import Diversity
    from amgs.api.exchange import Exchange
    from amgs.api.frames import Frames
    from amgs.api.graph import Graph
    from amgs.api.ingest import Intake
    from amgs.api.lifecycle import Lifecycle
    from amgs.api.simulation import Simulation
    from amgs.api.sources import SourceLibrary
    from amgs.ingest.raw_blocks import RawBlock
    from amgs.storage.forecasts import ForecastGroup

_COUNTS_KEPT = 4096


def _embedder_of(storage: Storage) -> Embedder | None:
    """The embedder that the store's embeddings come from; None before the first one."""
    space = storage.meta.embedding_space()
    return None if space is None else named(*space)


class Memory:
    """One open memory, made by `amgs.open` or `Memory.open`; close it, or use it as a context manager.

    A round takes four calls: `add` takes texts in, `consolidate` works them into the memory, `context` assembles what
    a model should read for a question, `feedback` says what of it was useful.

    Every method may be called from any thread. One thread writes at a time; others read meanwhile, each call one
    committed state, and wait for the writer only while indexes catch up. Long methods take a Progress by which they
    are watched and stopped.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        clock: Clock,
        settings: Settings,
        embedder: Embedder,
        count_tokens: Callable[[str], int],
        recogniser: EntityRecogniser,
    ) -> None:
        self._storage = storage
        self.clock = clock
        self.settings = settings
        derived = Derived(storage, embedder, clock, settings)
        # A block that stands in the pool of one frame stands in that of the next.
        counted = lru_cache(maxsize=_COUNTS_KEPT)(count_tokens)
        self._opened = MemoryContext(storage, derived, clock, settings, embedder, counted, recogniser)
        if not storage.read_only:
            shipping.renew(storage, shipped.DEFAULTS, clock.now())

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        clock: Clock,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        new_embedder: Embedder | None = None,
        count_tokens: Callable[[str], int] | None = None,
        recogniser: EntityRecogniser | None = None,
        read_only: bool = False,
        create: bool = True,
        accept_loss: bool = False,
    ) -> Memory:
        """Open or create the memory at a path (":memory:" for one that is gone on close), with the models that are
        given; `amgs.open` chooses them.

        Without an embedder, the one that made the store's embeddings is taken; in a store that has none yet,
        `new_embedder`. For models that are not given, deterministic ones that need none serve. create: False
        where a missing store is an error. accept_loss: open a store that has lost its last changes, and go on with
        what is left.
        Raises StoreLockedError, StoreTooNewError, StoreCorruptError or StoreError; ModelError for a store whose
        embedder is not installed.
        """
        storage = open_storage(path, read_only=read_only, create=create, accept_loss=accept_loss)
        try:
            return cls(
                storage,
                clock=clock,
                settings=settings or Settings(),
                embedder=embedder or _embedder_of(storage) or new_embedder or HashingEmbedder(),
                count_tokens=count_tokens or approximate_tokens,
                recogniser=recogniser or RuleRecogniser(),
            )
        except BaseException:
            storage.close()
            raise

    def close(self) -> None:
        """Seal the indexes and close the store."""
        if self._storage.closed:
            return
        try:
            self._opened.derived.close()
        finally:
            self._storage.close()

    def discard(self) -> None:
        """Close the memory and, where it holds no block and its journal no operation, remove its files."""
        empty = not sum(self.status().blocks.values()) and not self.operations(1)
        self.close()
        if empty and self.path != MEMORY:
            remove(Path(self.path))

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def path(self) -> str:
        """Where the store lies; ":memory:" for one that is gone on close."""
        return self._storage.path

    @property
    def change_counter(self) -> int:
        """Rises by one with every committed change."""
        return self._storage.change_counter

    @property
    def frames(self) -> Frames:
        """What has been assembled: cached, compared, replayed; and frames of the user's own."""
        from amgs.api.frames import Frames

        return Frames(self._context())

    @property
    def calibration(self) -> Calibration:
        """Learning from outcomes: recalibration, tuning, metrics, monitors."""
        from amgs.api.calibration import Calibration

        return Calibration(self._context())

    @property
    def simulation(self) -> Simulation:
        """What a change, a pruning, time, a new block or noise will come to, by simulation."""
        from amgs.api.simulation import Simulation

        return Simulation(self._context(), self.lifecycle.means)

    @property
    def exchange(self) -> Exchange:
        """The whole memory as a file, and back."""
        from amgs.api.exchange import Exchange

        return Exchange(self._context())

    def _context(self) -> MemoryContext:
        # The clock and the settings may have been set anew since the memory was opened.
        return replace(self._opened, clock=self.clock, settings=self.settings)

    # --- taking in --------------------------------------------------------------------------------------

    def add(
        self,
        what: str | Path,
        *,
        created_at: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take in a text, a file or a folder of notes, as raw blocks for the next `consolidate`.

        what: a str is the text itself (markdown, split when it is long), never a path; a Path is a file, or a folder
        whose notes (`.md`, `.markdown`, `.rst`, `.org`, `.txt`) are all taken in. created_at: when a text was written;
        now unless it says so itself. meta: of a text: its source and whatever else belongs to it.

        What is there already is left alone and reported as known. Raises InputError for a text or file that cannot be
        taken in; what is unfit in a folder is named in the report. Raises UsageError for a date or meta of a path.
        """
        if isinstance(what, str):
            return self.ingest_text(what, created_at=created_at, meta=meta)
        if created_at is not None or meta is not None:
            raise UsageError(
                "A file brings its own date and metadata.",
                way_out="Put them into its front matter, or add its text.",
            )
        return self.ingest_folder(what, progress) if what.is_dir() else self.ingest_file(what)

    def ingest_text(
        self, text: str, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
    ) -> IngestReport:
        """Take in one piece of markdown, split when it is long; raises InputError when it is unfit."""
        return self._intake.text(text, created_at=created_at, meta=meta)

    def ingest_file(
        self, path: Path, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
    ) -> IngestReport:
        """Take in one file; a file that is missing or unfit raises InputError. created_at, meta: as for a folder."""
        return self._intake.file(path, created_at=created_at, meta=meta)

    def ingest_folder(
        self,
        folder: Path,
        progress: Progress | None = None,
        *,
        created_at: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> IngestReport:
        """Take in every file below a folder that has a reader (notes, pages, PDFs, mail, subtitles, chats, code),
        sorted; what is unfit is refused by name, the rest goes on.

        created_at: the instant of every text, whatever its file says. meta: metadata of every text, over what its file
        says; `tags` are added to the file's own.
        """
        return self._intake.folder(folder, progress, created_at=created_at, meta=meta)

    def ingest_many(self, drafts: Iterable[RawBlock], progress: Progress | None = None) -> IngestReport:
        """Take in drafts as they are, without splitting, in one transaction."""
        return self._intake.many(drafts, progress)

    @property
    def sources(self) -> SourceLibrary:
        """Where texts came from, and what becomes of them when their sources say something else."""
        from amgs.api.sources import SourceLibrary

        return SourceLibrary(self._context())

    @property
    def _intake(self) -> Intake:
        from amgs.api.ingest import Intake

        return Intake(self._context())

    # --- blocks -----------------------------------------------------------------------------------------

    def block(self, id_or_prefix: str) -> Block:
        """The block with an id or with the only id that begins so.

        Raises UnknownBlockError or AmbiguousIdError, which names the blocks that match.
        """
        return self._context().block(id_or_prefix)

    def blocks(
        self,
        filter: BlockFilter,
        *,
        order: Literal["created", "reinforced", "id"] = "created",
        limit: int | None = None,
        offset: int = 0,
    ) -> tuple[Block, ...]:
        """Blocks that pass a filter, the latest first unless ordered by id."""
        most = bounds.count("A limit", limit)
        skipped = bounds.count("An offset", offset)
        return self._storage.blocks.select(filter, order=order, limit=most, offset=skipped)

    def count(self, filter: BlockFilter) -> int:
        """How many blocks pass a filter."""
        return self._storage.blocks.count(filter)

    def titles(self, ids: Iterable[str]) -> dict[str, str]:
        """The titles of the blocks with these ids, by id; unknown ids are missing from the answer."""
        return {one.id: one.title for one in self._storage.blocks.get(ids).values()}

    def find(self, text: str, limit: int = 20) -> tuple[Block, ...]:
        """Blocks whose title, first words or id fit what was typed, the best first."""
        from amgs.text import finder

        ids = finder.find(self._storage.blocks.outlines(), text, bounds.count("A limit", limit))
        found = self._storage.blocks.get(ids)
        return tuple(found[i] for i in ids if i in found)

    def resolve_source(self, source: str) -> tuple[str, ...]:
        """Ids of the blocks that came from a source: a file, or `file#n` for a part or turn of it."""
        return self._storage.blocks.with_source(source)

    def edges(self, block_id: str | None = None) -> tuple[Edge, ...]:
        """The edges of one block, both directions; of the whole memory without one."""
        if block_id is None:
            return self._storage.edges.everything()
        return self._storage.edges.touching([self._context().whole_id(block_id)])

    def set_metadata(
        self,
        id: str,
        *,
        category: str | None = None,
        confidence: float | None = None,
        decay_lambda: float | None = None,
        is_self_component: bool | None = None,
        status: Status | None = None,
    ) -> Block:
        """Change a block's metadata; journalled, so that it can be undone."""
        from amgs.lifecycle import block_edit as editing

        return editing.edit(
            self._storage,
            self._context().whole_id(id),
            self.clock.now(),
            category=category,
            confidence=confidence,
            decay_lambda=decay_lambda,
            is_self_component=is_self_component,
            status=status,
        )

    def tag(self, id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Block:
        """Add tags to a block and take others away; journalled, and kept when its source is read again."""
        whole = self._context().whole_id(id)
        from amgs.lifecycle import annotate as annotating

        return annotating.annotate(self._storage, whole, self.clock.now(), add=add, remove=remove)

    def note(self, id: str, text: str) -> Block:
        """Write a note on a block, in place of the one before; an empty one removes it. Journalled."""
        from amgs.lifecycle import annotate as annotating

        return annotating.annotate(self._storage, self._context().whole_id(id), self.clock.now(), note=text)

    def add_edge(
        self, source: str, target: str, *, kind: str = "related", weight: float = 0.8, confidence: float = 1.0
    ) -> Edge:
        """Add an edge between two consolidated blocks, or change the one of that kind; journalled."""
        start, goal = (self._context().whole_id(one) for one in (source, target))
        from amgs.lifecycle import annotate as annotating

        return annotating.add_edge(
            self._storage, start, goal, self.clock.now(), kind=kind, weight=weight, confidence=confidence
        )

    def remove_edge(self, source: str, target: str, *, kind: str | None = None) -> JournalEntry:
        """Remove the edges from one block to another, of one kind or of all; journalled."""
        start, goal = (self._context().whole_id(one) for one in (source, target))
        from amgs.lifecycle import annotate as annotating

        return annotating.remove_edges(self._storage, start, goal, self.clock.now(), kind=kind)

    # --- lifecycle --------------------------------------------------------------------------------------

    @property
    def lifecycle(self) -> Lifecycle:
        """Enhancement, review of what may be superseded, pruning, previews and triggers."""
        from amgs.api.lifecycle import Lifecycle

        return Lifecycle(self._context())

    def consolidate(
        self, *, limit: int | None = None, progress: Progress | None = None
    ) -> ConsolidationSummary:
        """Work what was added into the memory: category, embedding, entities, edges, decay profile.

        limit: only so many of the raw blocks, the oldest arrivals first. Each batch is one transaction; Cancelled by
        way of the progress keeps those that were committed. Without raw blocks nothing is written.
        Raises StoreError where another embedder made the store's embeddings, ModelError where a model cannot be loaded.
        """
        return self.lifecycle.consolidate(limit=limit, progress=progress)

    def plan_consolidation(
        self, *, limit: int | None = None, progress: Progress | None = None
    ) -> ConsolidationPlan:
        """What consolidating the inbox (its `limit` oldest arrivals) would do; changes nothing."""
        return self.lifecycle.plan_consolidation(limit=limit, progress=progress)

    def apply_consolidation(self, plan: ConsolidationPlan) -> JournalEntry:
        """Carry a plan out in one transaction; raises UsageError when its blocks are no longer raw."""
        return self.lifecycle.apply_consolidation(plan)

    def consolidate_in_batches(
        self, *, limit: int | None = None, progress: Progress | None = None
    ) -> Iterator[tuple[ConsolidationPlan, JournalEntry]]:
        """Consolidate the inbox (its `limit` oldest arrivals) batch by batch, each in a transaction of its own.

        Gives each batch's plan and the journal entry as it then stands, which one `undo` takes back. Stopping
        keeps the batches that were committed.
        """
        return self.lifecycle.consolidate_in_batches(limit=limit, progress=progress)

    def operations(self, limit: int = 20) -> tuple[JournalEntry, ...]:
        """The latest operations, the newest first."""
        return self._storage.journal.latest(bounds.count("A limit", limit))

    def undo(self, operation_id: int) -> JournalEntry:
        """Take an operation back; raises UsageError when a later one stands on it."""
        return self.lifecycle.undo(operation_id)

    def redo(self, operation_id: int | None = None) -> JournalEntry:
        """Put an undone operation (the one undone last) back exactly as the undo found it.

        Raises UsageError when something later stands in the way.
        """
        return self.lifecycle.redo(operation_id)

    def reinforce(self, ids: Sequence[str], *, event_type: str, source: str) -> None:
        """Start the decay clock of blocks anew, one logged event each."""
        self.lifecycle.reinforce(ids, event_type=event_type, source=source)

    # --- retrieval and frames ---------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        layers: Sequence[str] | None = None,
        filter: BlockFilter | None = None,
        weights: Weights | None = None,
        as_of: datetime | None = None,
    ) -> SearchResult:
        """The blocks that answer a query best, `.hits` in falling score, each with the passage that does; leaves no
        trace.

        Raw blocks are found by their words until they are consolidated; `hit.block.status` tells them. What was
        superseded ranks behind, and `hit.block.superseded` tells it. top_k: how many at most. layers: of prefilter,
        keyword, fuzzy, vector, graph and score only these. filter: only blocks that pass it; raw and consolidated ones
        unless given. weights: other weights of the five parts of a score. as_of: only what held at that instant, also
        what was superseded or archived since.
        Raises UsageError for a layer there is not, WeightsError for weights that do not sum to one.
        """
        return Retrieval(self._context()).search(
            query, top_k=top_k, layers=layers, filter=filter, weights=weights, as_of=as_of
        )

    def load(self, progress: Progress | None = None) -> None:
        """Bring the encoder into memory, which the first search does otherwise and which may take seconds; nothing
        when it is there.
        """
        load(self._opened.embedder, "the encoder", progress)

    def gather(
        self, query: str, *, layers: Sequence[str] | None = None, weights: Weights | None = None
    ) -> waterfall.Gathered:
        """Everything that the layers find for a query, with its evidence; no block is read. For measuring."""
        return Retrieval(self._context()).gather(query, layers=layers, weights=weights)

    def nearest(self, query: str, limit: int = 10) -> list[tuple[str, float]]:
        """Ids and cosines of the blocks nearest in meaning, as the vector layer finds them."""
        return Retrieval(self._context()).nearest(query, limit)

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
        return Retrieval(self._context()).why(query, block, top_k=top_k, filter=filter, weights=weights)

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
        """Assemble a frame. What it selects is reinforced once, and its scores are logged as forecasts.

        reinforce: False for a look that leaves no trace; so it is in a memory opened for reading only.
        as_of: of what held at that instant; a look, too.
        """
        from amgs.api.assembler import Assembler

        return Assembler(self._context()).assemble(
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

    def frame_definitions(self) -> tuple[FrameDefinition, ...]:
        """The registered frames, children before their parents."""
        return tuple(self._context().definitions().values())

    def define_frame(self, definition: FrameDefinition) -> None:
        """Register a frame or change one; raises FrameCycleError when it would contain itself."""
        self.frames.define(definition)

    # --- graph ------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """What lies around a block, ways between blocks, communities, centralities."""
        from amgs.api.graph import Graph

        return Graph(self._context())

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

    # --- decay ------------------------------------------------------------------------------------------

    def decay_curve(self, block_id: str, *, days: float = 30) -> DecayCurve:
        """A block's relevance from its creation to `days` ahead."""
        return self.lifecycle.decay_curve(block_id, days=days)

    def forecast(self, *, days: float = 30, threshold: float | None = None) -> Forecast:
        """What will fall under the threshold within `days`, soonest first."""
        return self.lifecycle.forecast(days=days, threshold=threshold)

    # --- calibration ------------------------------------------------------------------------------------

    def feedback(
        self,
        block_id: str,
        *,
        useful: bool,
        assembly_id: str | None = None,
        prediction_id: str | None = None,
    ) -> Outcome:
        """Say whether a block that `context` selected was useful; its score was a forecast of that.

        block_id: an id, or the only one that begins so. Without more, the verdict is on the latest open forecast of
        the block. assembly_id: on that of one frame (`frame.id`). prediction_id: on this one.
        Raises UsageError where no such forecast is open, UnknownBlockError or AmbiguousIdError for the id.
        """
        return self.calibration.feedback(
            block_id, useful=useful, assembly_id=assembly_id, prediction_id=prediction_id
        )

    def outcomes(self, limit: int = 100) -> tuple[Outcome, ...]:
        """The latest forecasts, with their outcome where there is one."""
        return self._storage.forecasts.latest(bounds.count("A limit", limit))

    def reliability(
        self, bins: int = 10, *, by: ForecastGroup | None = None, value: str | None = None
    ) -> Reliability:
        """The reliability table and the Brier score with its parts, of all forecasts or of one frame,
        category or relation type.
        """
        return self.calibration.reliability(bins, by=by, value=value)

    # --- what a workstation remembers beside the memory -----------------------------------------------------

    def keep(self, name: str, value: str | None) -> None:
        """Remember a text under a name, in the store itself: a layout, a bookmark; None forgets it."""
        with self._storage.transaction():
            self._storage.meta.keep(name, value)

    def kept(self, prefix: str = "") -> dict[str, str]:
        """What is remembered under names that begin so, by name."""
        return self._storage.meta.kept(prefix)

    # --- health -----------------------------------------------------------------------------------------

    def counts(self) -> Mapping[str, int]:
        """How many blocks are raw, consolidated, archived and pruned; of a state without any there is no entry."""
        return self._storage.blocks.by_status()

    def status(self) -> StoreStatus:
        """One look at the whole memory."""
        from amgs.api import health

        return health.status(self._context())

    def health(self) -> Health:
        """How each side of the memory stands, and what looks closer or mends it."""
        from amgs.api import health

        return health.health(self._context())

    def diversity(self, progress: Progress | None = None) -> Diversity:
        """How evenly the memory is spread: entropy of its categories, of the decisions for them, of its clusters."""
        from amgs.api.diversity import diversity

        return diversity(self._context(), progress)

    def verify(self, progress: Progress | None = None) -> Verification:
        """Re-hash every block, follow every reference, compare the indexes; names each fault."""
        from amgs.api import health

        return health.verify(self._context(), progress)
