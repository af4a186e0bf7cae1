"""Memory: the engine's only door. It opens the store, hands the stages what they need, and holds no rules
itself.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from amgs import bounds
from amgs.calibration import brier, forecasts
from amgs.calibration.door import Calibration
from amgs.clock import Clock, as_utc
from amgs.derived import Derived, check_space
from amgs.errors import AmbiguousIdError, InputError, UnknownBlockError
from amgs.exchange.door import Exchange
from amgs.frames import definition as shipped
from amgs.frames import pipeline, registry, shipping
from amgs.frames import why as frame_why
from amgs.frames.door import Frames
from amgs.frames.kept import KeptPool
from amgs.graph.door import Graph
from amgs.index.neighbours import Near
from amgs.lifecycle import consolidate, fading, ingest, journal, lessons, verify
from amgs.lifecycle import edit as editing
from amgs.lifecycle import reinforce as reinforcing
from amgs.lifecycle.door import Lifecycle
from amgs.lifecycle.ingest import Draft
from amgs.model import (
    Block,
    BlockFilter,
    Centrality,
    ConsolidationPlan,
    DecayCurve,
    Edge,
    Fall,
    Fault,
    Forecast,
    Frame,
    FrameDefinition,
    GraphStats,
    IngestReport,
    Neighbourhood,
    Operation,
    Outcome,
    Progress,
    Refusal,
    Reliability,
    SearchResult,
    Status,
    StoreStatus,
    Vector,
    Verification,
    Weights,
)
from amgs.montecarlo.door import MonteCarlo
from amgs.retrieval import waterfall
from amgs.retrieval import why as retrieval_why
from amgs.retrieval.score import SEARCH_WEIGHTS
from amgs.room import Room
from amgs.settings import Settings
from amgs.store import block_columns, calibration_log, reinforcement_log
from amgs.store import blocks as stored_blocks
from amgs.store import edges as stored_edges
from amgs.store import frames as stored_frames
from amgs.store import journal as stored_journal
from amgs.store import meta as stored_meta
from amgs.store import scores as stored_scores
from amgs.store.connection import Store
from amgs.text import finder
from amgs.text.embedding import Embedder, HashingEmbedder
from amgs.text.entities import EntityRecogniser, RuleRecogniser
from amgs.text.tokens import approximate_tokens

_ID_LENGTH = 64
_PREFIX = re.compile(r"[0-9a-f]{4,64}")
"""Less than four digits of an id match by chance."""


_COUNTS_KEPT = 4096


class Memory:
    """One open memory. Make it with `Memory.open`; close it, or use it as a context manager.

    One thread writes at a time; every method may be called from any one thread, and long ones take a Progress
    by which they are watched and stopped.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        settings: Settings,
        embedder: Embedder,
        count_tokens: Callable[[str], int],
        recogniser: EntityRecogniser,
    ) -> None:
        self._store = store
        self.clock = clock
        self.settings = settings
        self._embedder = embedder
        # A block that stands in the pool of one frame stands in that of the next.
        self._count_tokens = lru_cache(maxsize=_COUNTS_KEPT)(count_tokens)
        self._recogniser = recogniser
        # Indexes change while they catch up: one thread at a time reads through them.
        self._lock = threading.RLock()
        self._derived = Derived(store, embedder, clock, settings)
        if not store.read_only:
            shipping.renew(store, shipped.DEFAULTS, clock.now())

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        clock: Clock,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        count_tokens: Callable[[str], int] | None = None,
        recogniser: EntityRecogniser | None = None,
        read_only: bool = False,
    ) -> Memory:
        """Open or create the memory at a path (":memory:" for one that is gone on close).

        Without an embedder, a token counter or a recogniser, deterministic ones that need no model serve.
        Raises StoreLockedError, StoreTooNewError, StoreCorruptError or StoreError.
        """
        store = Store.open(path, read_only=read_only)
        try:
            return cls(
                store,
                clock=clock,
                settings=settings or Settings(),
                embedder=embedder or HashingEmbedder(),
                count_tokens=count_tokens or approximate_tokens,
                recogniser=recogniser or RuleRecogniser(),
            )
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Seal the indexes and close the store."""
        with self._lock:
            if self._store.closed:
                return
            try:
                self._derived.close()
            finally:
                self._store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def path(self) -> str:
        return self._store.path

    @property
    def change_counter(self) -> int:
        """Rises by one with every committed change."""
        return self._store.change_counter

    @property
    def frames(self) -> Frames:
        """What has been assembled: cached, compared, replayed; and frames of the user's own."""
        return Frames(self._room(), self.assemble)

    @property
    def calibration(self) -> Calibration:
        """Learning from outcomes: recalibration, tuning, metrics, monitors."""
        return Calibration(self._room())

    @property
    def montecarlo(self) -> MonteCarlo:
        """What a change, a pruning, time, a new block or noise will come to, by simulation."""
        return MonteCarlo(self._room(), self._means)

    @property
    def exchange(self) -> Exchange:
        """The whole memory as a file, and back."""
        return Exchange(self._room())

    def _room(self) -> Room:
        return Room(
            self._store,
            self._derived,
            self.clock,
            self.settings,
            self._embedder,
            self._count_tokens,
            self._recogniser,
            self._lock,
            self._definitions,
        )

    # --- taking in --------------------------------------------------------------------------------------

    def ingest_text(
        self, text: str, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
    ) -> IngestReport:
        """Take in one piece of markdown, split when it is long; raises InputError when it is unfit."""
        meta = dict(meta or {})
        dated = None if created_at is None else as_utc(created_at)
        source, now = str(meta.pop("source", "")), self.clock.now()
        reading = ingest.read_note(text, source, now, self.settings.ingest, dated=dated, extra=meta)
        report = self._ingest(reading, None)
        if report.refused:
            raise InputError(
                f"The text was not taken in: {report.refused[0].reason}.",
                way_out="Give a text with at least one visible character; everything else is kept as it is.",
            )
        return report

    def ingest_file(self, path: Path) -> IngestReport:
        """Take in one markdown file; a file that is missing or unfit raises InputError."""
        reading = ingest.read_file(path, path.name, self.settings.ingest)
        if reading.refused:
            raise InputError(
                f"{path} was not taken in: {reading.refused[0].reason}.",
                way_out="Mend the file, or give another; nothing was changed.",
            )
        return self._ingest(reading, None)

    def ingest_folder(self, folder: Path, progress: Progress | None = None) -> IngestReport:
        """Take in every `.md` below a folder, sorted; what is unfit is refused by name, the rest goes on."""
        return self._ingest(ingest.read_folder(folder, self.settings.ingest, progress), progress)

    def ingest_many(self, drafts: Iterable[Draft], progress: Progress | None = None) -> IngestReport:
        """Take in drafts as they are, without splitting, in one transaction."""
        return ingest.ingest(self._store, drafts, self.clock.now(), progress=progress)

    def _ingest(self, reading: ingest.Reading, progress: Progress | None) -> IngestReport:
        report = self.ingest_many(reading.drafts, progress)
        refused: tuple[Refusal, ...] = (*reading.refused, *report.refused)
        return IngestReport(report.added, report.known, refused)

    # --- blocks -----------------------------------------------------------------------------------------

    def block(self, id_or_prefix: str) -> Block:
        """The block with an id or with the only id that begins so.

        Raises UnknownBlockError or AmbiguousIdError, which names the blocks that match.
        """
        return stored_blocks.get(self._store, [self._id(id_or_prefix)], embeddings=True)[
            self._id(id_or_prefix)
        ]

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
        return stored_blocks.select(self._store, filter, order=order, limit=most, offset=skipped)

    def find(self, text: str, limit: int = 20) -> tuple[Block, ...]:
        """Blocks whose title, first words or id fit what was typed, the best first."""
        ids = finder.find(stored_blocks.outlines(self._store), text, bounds.count("A limit", limit))
        found = stored_blocks.get(self._store, ids)
        return tuple(found[i] for i in ids if i in found)

    def resolve_source(self, source: str) -> tuple[str, ...]:
        """Ids of the blocks that came from a source: a file, or `file#n` for a part or turn of it."""
        return stored_blocks.with_source(self._store, source)

    def edges(self, block_id: str | None = None) -> tuple[Edge, ...]:
        """The edges of one block, both directions; of the whole memory without one."""
        if block_id is None:
            return stored_edges.everything(self._store)
        return stored_edges.touching(self._store, [self._id(block_id)])

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
        return editing.edit(
            self._store,
            self._id(id),
            self.clock.now(),
            category=category,
            confidence=confidence,
            decay_lambda=decay_lambda,
            is_self_component=is_self_component,
            status=status,
        )

    def _id(self, prefix: str) -> str:
        wanted = prefix.strip().lower()
        matches = stored_blocks.expand(self._store, wanted, 6) if _PREFIX.fullmatch(wanted) else ()
        if not matches:
            told = prefix if len(prefix) <= _ID_LENGTH else f"{prefix[:_ID_LENGTH]}…"
            raise UnknownBlockError(
                f"No block's id begins with {told!r}.",
                way_out="`block find TEXT` looks for one by its words.",
            )
        if len(matches) > 1:
            raise AmbiguousIdError(
                f"{prefix!r} begins {', '.join(i[:12] for i in matches[:5])}"
                f"{' and more' if len(matches) > 5 else ''}.",
                way_out="Give more of the id.",
            )
        return matches[0]

    # --- lifecycle --------------------------------------------------------------------------------------

    @property
    def lifecycle(self) -> Lifecycle:
        """Enhancement, review of what may be superseded, pruning, previews and triggers."""
        return Lifecycle(
            self._store, self._derived, self._embedder, self.clock, self.settings, self._id, self._lock
        )

    def plan_consolidation(
        self, *, limit: int | None = None, progress: Progress | None = None
    ) -> ConsolidationPlan:
        """What consolidating the inbox (its `limit` oldest arrivals) would do; changes nothing."""
        counter, limit = self._store.change_counter, bounds.count("A limit", limit)
        means = self._means()
        return consolidate.plan(
            stored_blocks.by_number(self._store, self._waiting(limit).tolist()),
            consolidate.surroundings(self._store),
            means,
            now=self.clock.now(),
            change_counter=counter,
            progress=progress,
        )

    def apply_consolidation(self, plan: ConsolidationPlan) -> Operation:
        """Carry a plan out in one transaction; raises UsageError when its blocks are no longer raw."""
        check_space(self._store, self._embedder)
        return consolidate.apply(
            self._store,
            plan,
            embedder=self._embedder,
            weights=registry.find("ATTENTION", self._definitions()).weights,
            now=self.clock.now(),
        )

    def consolidate_in_batches(
        self, *, limit: int | None = None, progress: Progress | None = None
    ) -> Iterator[tuple[ConsolidationPlan, Operation]]:
        """Consolidate the inbox (its `limit` oldest arrivals) batch by batch, each in a transaction of its own.

        Gives each batch's plan and the journal entry as it then stands, which one `undo` takes back. Stopping
        keeps the batches that were committed.
        """
        return consolidate.run(
            self._store,
            self._waiting(limit),
            self._means(),
            weights=registry.find("ATTENTION", self._definitions()).weights,
            now=self.clock.now(),
            progress=progress,
        )

    def _waiting(self, limit: int | None) -> NDArray[np.int64]:
        return block_columns.numbers(self._store, consolidate.RAW)[:limit]

    def _means(self) -> consolidate.Means:
        check_space(self._store, self._embedder)
        settings = self.settings.consolidation

        def near(vectors: Vector, allowed: NDArray[np.int64]) -> Near:
            with self._lock:
                return self._derived.neighbours(vectors, settings.neighbours, settings.similarity, allowed)

        return consolidate.Means(
            settings,
            self._embedder,
            self._recogniser,
            near,
            lambda ids: stored_blocks.contents_of(self._store, ids),
            lessons.lessons(self._store),
            self.settings.decay.profiles,
        )

    def operations(self, limit: int = 20) -> tuple[Operation, ...]:
        """The latest operations, the newest first."""
        return stored_journal.latest(self._store, bounds.count("A limit", limit))

    def undo(self, operation_id: int) -> Operation:
        """Take an operation back; raises UsageError when a later one stands on it."""
        return journal.undo(self._store, operation_id)

    def reinforce(self, ids: Sequence[str], *, event_type: str, source: str) -> None:
        """Start the decay clock of blocks anew, one logged event each."""
        wanted = [self._id(i) for i in ids]
        reinforcing.reinforce(self._store, wanted, event_type=event_type, source=source, now=self.clock.now())

    # --- retrieval and frames ---------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        layers: Sequence[str] | None = None,
        filter: BlockFilter | None = None,
        weights: Weights | None = None,
    ) -> SearchResult:
        """The best blocks for a query through the six layers, or through those named."""
        request = waterfall.Request(
            query, filter or BlockFilter(), weights or SEARCH_WEIGHTS, waterfall.check_layers(layers)
        )
        with self._lock:
            return waterfall.search(request, self._derived.sources(), self.settings.retrieval, top_k)

    def gather(
        self, query: str, *, layers: Sequence[str] | None = None, weights: Weights | None = None
    ) -> waterfall.Gathered:
        """Everything that the layers find for a query, with its evidence; no block is read. For measuring."""
        asked = waterfall.check_layers(layers)
        request = waterfall.Request(query, weights=weights or SEARCH_WEIGHTS, layers=asked, most=0)
        with self._lock:
            return waterfall.gather(request, self._derived.sources(), self.settings.retrieval)

    def nearest(self, query: str, limit: int = 10) -> list[tuple[str, float]]:
        """Ids and cosines of the blocks nearest in meaning, as the vector layer finds them."""
        with self._lock:
            sources = self._derived.sources()
            found = sources.vectors.search(sources.embed(query), limit)
            ids = {one.number: one.block.id for one in sources.blocks.stored([n for n, _ in found])}
        return [(ids[number], cosine) for number, cosine in found]

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
    ) -> Fall:
        """Why a block is among the `top_k` hits or in a frame, or at which layer it fell out: by how
        much, and the smallest change of weights that would admit it. Leaves no trace.
        """
        wanted = self.block(block)
        number = stored_blocks.numbers_of(self._store, [wanted.id])[wanted.id]
        known = self._definitions()
        definition = None if frame is None else registry.find(frame, known)
        with self._lock:
            sources = self._derived.sources()
            if definition is None:
                asked = waterfall.Request(query, filter or BlockFilter(), weights or SEARCH_WEIGHTS)
                return retrieval_why.why(asked, wanted, number, sources, self.settings.retrieval, top_k)
            framed = pipeline.FrameRequest(query, budget, weights)
            return frame_why.why(
                definition, framed, known, sources, self.settings, self._count_tokens, wanted, number
            )

    def assemble(
        self,
        name: str,
        *,
        query: str = "",
        budget: int | None = None,
        weights: Weights | None = None,
        reinforce: bool = True,
    ) -> Frame:
        """Assemble a frame. What it selects is reinforced once, and its scores are logged as forecasts.

        reinforce: False for a look that leaves no trace; so it is in a memory opened for reading only.
        """
        known = self._definitions()
        asked = pipeline.FrameRequest(query, budget, weights)
        definition = registry.find(name, known)
        with self._lock:
            frame, pools = self.frames.assembled(definition, asked, known)
        if reinforce and not self._store.read_only:
            self._log_use(frame, asked, pools)
        return frame

    def _log_use(self, frame: Frame, asked: pipeline.FrameRequest, pools: Mapping[str, KeptPool]) -> None:
        chosen = {c.block.id: c for c in frame.selected}
        reached = [i for i, c in chosen.items() if "graph" in c.layers]
        with self._lock:
            view = self._derived.graph.view()
        with self._store.transaction():
            numbers = stored_blocks.numbers_of(self._store, list(chosen))
            walked = reinforcing.walked_edges(view, [i for i in reached if i in numbers], numbers)
            forecasts.log(self._store, frame, tuple(chosen.values()), walked)
            self.frames.record(frame, asked, walked, pools)
            stored_scores.put(self._store, frame.name, {i: c.score for i, c in chosen.items()}, frame.as_of)
            reinforcing.reinforce(
                self._store,
                list(chosen),
                event_type="assembled",
                source=f"{frame.name} {frame.id}",
                now=frame.as_of,
                walked=walked,
            )

    def frame_definitions(self) -> tuple[FrameDefinition, ...]:
        """The registered frames, children before their parents."""
        return tuple(self._definitions().values())

    def define_frame(self, definition: FrameDefinition) -> None:
        """Register a frame or change one; raises FrameCycleError when it would contain itself."""
        registry.register(definition, self._definitions())
        with self._store.transaction():
            stored_frames.put(self._store, [definition])

    def _definitions(self) -> dict[str, FrameDefinition]:
        known = registry.by_name(stored_frames.everything(self._store) or shipped.DEFAULTS)
        return {name: known[name] for name in registry.order(known)}

    # --- graph ------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """What lies around a block, ways between blocks, communities, centralities."""
        return Graph(self._room(), self.block)

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
        block = self.block(block_id)
        return fading.decay_curve(
            block,
            reinforcement_log.of(self._store, block.id),
            self.clock.now(),
            days=days,
            threshold=self.settings.decay.threshold,
        )

    def forecast(self, *, days: float = 30, threshold: float | None = None) -> Forecast:
        """What will fall under the threshold within `days`, soonest first."""
        limit = self.settings.decay.threshold if threshold is None else threshold
        return fading.forecast(self._store, BlockFilter(), self.clock.now(), days=days, threshold=limit)

    # --- calibration ------------------------------------------------------------------------------------

    def feedback(self, block_id: str, *, useful: bool, assembly_id: str | None = None) -> Outcome:
        """The operator's verdict on the latest open forecast of a block, or on that of one assembly."""
        return forecasts.decide(
            self._store, self._id(block_id), useful=useful, assembly_id=assembly_id, now=self.clock.now()
        )

    def outcomes(self, limit: int = 100) -> tuple[Outcome, ...]:
        """The latest forecasts, with their outcome where there is one."""
        return calibration_log.latest(self._store, bounds.count("A limit", limit))

    def reliability(
        self, bins: int = 10, *, by: calibration_log.By | None = None, value: str | None = None
    ) -> Reliability:
        """The reliability table and the Brier score with its parts, of all forecasts or of one frame,
        category or relation type.
        """
        bins = bounds.count("The number of bins", bins, least=1, most=1000)
        decided = calibration_log.decided(self._store, by=by, value=value)
        return brier.reliability(
            decided, bins=bins, forecasts=calibration_log.count(self._store, by=by, value=value)
        )

    # --- what a workstation remembers beside the memory -----------------------------------------------------

    def keep(self, name: str, value: str | None) -> None:
        """Remember a text under a name, in the store itself: a layout, a bookmark; None forgets it."""
        with self._store.transaction():
            stored_meta.keep(self._store, name, value)

    def kept(self, prefix: str = "") -> dict[str, str]:
        """What is remembered under names that begin so, by name."""
        return stored_meta.kept(self._store, prefix)

    # --- health -----------------------------------------------------------------------------------------

    def status(self) -> StoreStatus:
        """One look at the whole memory."""
        now = self.clock.now()
        _, outcomes, score = calibration_log.counts(self._store)
        return StoreStatus(
            path=self.path,
            schema_version=self._store.schema_version,
            change_counter=self._store.change_counter,
            blocks=stored_blocks.by_status(self._store),
            categories=stored_blocks.by_category(self._store),
            edges=stored_edges.count(self._store),
            frames=len(self._definitions()),
            mean_relevance=stored_blocks.mean_relevance(self._store, now),
            last_consolidation=stored_journal.last_of(self._store, consolidate.KIND),
            brier=score,
            outcomes=outcomes,
            now=now,
        )

    def verify(self, progress: Progress | None = None) -> Verification:
        """Re-hash every block, follow every reference, compare the indexes; names each fault."""
        found = verify.faults(self._store, progress)
        with self._lock:
            found += self._derived.faults()
        found += self._frame_faults()
        return Verification(
            blocks=sum(stored_blocks.by_status(self._store).values()),
            edges=stored_edges.count(self._store),
            faults=tuple(found),
        )

    def _frame_faults(self) -> list[Fault]:
        known = registry.by_name(stored_frames.everything(self._store))
        return [
            Fault(f"frame {name}", f"its child {child.name} is not registered")
            for name, definition in known.items()
            for child in definition.children
            if child.name not in known
        ]
