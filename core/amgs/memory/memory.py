"""Memory: the engine's public interface. It opens the store and provides the stages with what they need; it
contains no rules itself. Also its methods for consolidation, undo, decay and verdicts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from amgs import bounds
from amgs.api.context import MemoryContext
from amgs.api.ingest import Intake
from amgs.clock import ZonedClock
from amgs.derived.indexes import Derived
from amgs.errors import StoreError
from amgs.frames import shipping
from amgs.memory.open_memory import BlockMethods, OpenMemory, RetrievalMethods
from amgs.retrieval.search_log import SearchLog
from amgs.settings import Settings
from amgs.storage.opening import open_storage, remove
from amgs.text.embedders import find_embedder
from amgs.text.embedding import Embedder, HashingEmbedder
from amgs.text.entities import EntityRecogniser, RuleRecogniser
from amgs.text.language_model import approximate_tokens

if TYPE_CHECKING:
    from amgs.clock import Clock
    from amgs.conversation.summaries import AbstractiveSummariser
    from amgs.storage.forecasts import ForecastGroup
    from amgs.storage.store import Storage
    from amgs.text.language_model import TextModel
    from amgs.types import (
        ConsolidationPlan,
        ConsolidationSummary,
        DecayCurve,
        Forecast,
        Health,
        JournalEntry,
        Outcome,
        Progress,
        Reliability,
        StoreStatus,
        Verification,
    )
    from amgs.types.health import NamespaceSize


class LifecycleMethods(OpenMemory):
    """Methods for the lifecycle of blocks."""

    def consolidate(self, *, limit: int | None = None, progress: Progress | None = None) -> ConsolidationSummary:
        """Consolidate new blocks: category, embedding, entities, edges, decay profile.

        limit: most raw blocks, oldest first. Each batch is a transaction. progress: if it is cancelled, committed
        batches stay. Without raw blocks nothing is written. Raises StoreError if the store was embedded by another
        encoder, ModelError if a model cannot be loaded.
        """
        from collections import Counter

        from amgs.types import ConsolidationSummary

        blocks, categories = 0, Counter[str]()
        entries: dict[int, JournalEntry] = {}
        for plan, entry in self.consolidate_in_batches(limit=limit, progress=progress):
            blocks += len(plan.items)
            categories.update(item.category for item in plan.items)
            entries[entry.id] = entry
        return ConsolidationSummary(
            blocks,
            sum(entry.edges for entry in entries.values()),
            dict(categories.most_common()),
            tuple(entries.values()),
        )

    def plan_consolidation(self, *, limit: int | None = None, progress: Progress | None = None) -> ConsolidationPlan:
        """Plan the consolidation of the inbox (its `limit` oldest blocks); changes nothing."""
        return self.lifecycle.draft_consolidation(limit=limit, progress=progress).proposed

    def apply_consolidation(self, plan: ConsolidationPlan) -> JournalEntry:
        """Apply a plan in a single transaction; raises UsageError if its blocks are no longer raw."""
        from amgs.lifecycle.plan_editing import PlanDraft

        return self.lifecycle.apply_draft(PlanDraft(plan))

    def consolidate_in_batches(
        self, *, limit: int | None = None, progress: Progress | None = None
    ) -> Iterator[tuple[ConsolidationPlan, JournalEntry]]:
        """Consolidate the inbox (its `limit` oldest blocks) in batches, each in its own transaction.

        Yields each batch's plan and the journal entry so far, which a single `undo` reverts. Stopping keeps committed
        batches.
        """
        return self._run_consolidation(bounds.count("A limit", limit), progress)

    def _run_consolidation(
        self, limit: int | None, progress: Progress | None
    ) -> Iterator[tuple[ConsolidationPlan, JournalEntry]]:
        from amgs.frames import registry
        from amgs.lifecycle import consolidate

        context = self._context
        with context.storage.consolidating(), self._opened.derived.raw_vectors.consolidating():
            yield from consolidate.consolidate_inbox(
                context.storage,
                context.storage.block_columns.numbers(consolidate.RAW)[:limit],
                self.lifecycle.means(),
                weights=registry.find("ATTENTION", context.definitions()).weights,
                clock=context.clock,
                progress=progress,
            )

    def operations(self, limit: int = 20) -> tuple[JournalEntry, ...]:
        """Return the latest operations, newest first."""
        return self._storage.journal.latest(bounds.count("A limit", limit))

    def last_event(self) -> datetime | None:
        """Return the time of the latest operation, forecast or assembly; None without any."""
        return self._storage.journal.last_event()

    def undo(self, operation_id: int) -> JournalEntry:
        """Undo an operation; raises UsageError if it is unknown or already undone, or if a later operation depends on
        it.
        """
        from amgs.log import undo as undoing

        return undoing.undo(self._storage, operation_id)

    def reinforce(self, ids: Sequence[str], *, event_type: str, source: str) -> None:
        """Restart the decay clock of blocks, with a logged event each."""
        from amgs.log import reinforcement as reinforcing

        wanted, now = [self._context.whole_id(i) for i in ids], self._now
        reinforcing.reinforce(self._storage, wanted, event_type=event_type, source=source, now=now)

    def decay_curve(self, block_id: str, *, days: float = 30) -> DecayCurve:
        """Return a block's relevance from its creation to `days` ahead."""
        from amgs.lifecycle import decay_forecast

        block = self._context.block(block_id)
        return decay_forecast.decay_curve(
            block,
            self._storage.reinforcements.of(block.id),
            self._now,
            days=days,
            threshold=self.settings.decay.threshold,
        )

    def forecast(self, *, days: float = 30, threshold: float | None = None) -> Forecast:
        """Forecast the memory `days` ahead, with the blocks that will drop below the threshold by then: used ones
        first, soonest first in each group.
        """
        return self.lifecycle.forecast(days=days, threshold=threshold)

    def feedback(
        self, block_id: str, *, useful: bool, assembly_id: str | None = None, prediction_id: str | None = None
    ) -> Outcome:
        """Record whether a block selected by `context` was useful; its score was a forecast of that.

        block_id: an id or unique prefix. The verdict is on the block's latest open forecast; with assembly_id
        (`frame.id`), that of this frame; with prediction_id, this forecast. Raises UsageError if there is no such open
        forecast, UnknownBlockError or AmbiguousIdError for the id.
        """
        from amgs.calibration import forecasting

        return forecasting.record_verdict(
            self._storage,
            self._context.whole_id(block_id),
            useful=useful,
            assembly_id=assembly_id,
            now=self._now,
            prediction_id=prediction_id,
        )

    def outcomes(self, limit: int = 100) -> tuple[Outcome, ...]:
        """Return the latest forecasts, newest first, those without an outcome included."""
        return self._storage.forecasts.latest(bounds.count("A limit", limit))

    def reliability(self, bins: int = 10, *, by: ForecastGroup | None = None, value: str | None = None) -> Reliability:
        """Return the reliability table and the Brier score with its components, of all forecasts or of a frame,
        category or relation type; for all, also how promises of coverage held.
        """
        from amgs.calibration import brier, forecasting

        bins = bounds.count("The number of bins", bins, least=1, most=1000)
        forecasts = self._storage.forecasts
        decided = forecasts.read_decided(by=by, value=value)
        table = brier.reliability(decided, bins=bins, forecasts=forecasts.count(by=by, value=value))
        return table if by else replace(table, coverage=forecasting.reviews(self._storage))


_COUNTS_KEPT = 4096


def _embedder_of(storage: Storage, at_hand: Embedder | None) -> Embedder | None:
    """Return the embedder of the store's embeddings, which may be the passed embedder; for a store without any, the
    passed embedder.
    """
    space = storage.meta.embedding_space()
    if space is None or (at_hand is not None and space == (at_hand.name, at_hand.dimension)):
        return at_hand
    return find_embedder(*space)


class Memory(BlockMethods, LifecycleMethods, RetrievalMethods, Intake):
    """An open memory, from `amgs.open` or `Memory.open`; close it, or use it as a context manager.

    Four calls make a cycle: `add` ingests texts, `consolidate` processes them, `context` assembles what a model should
    read for a question, `feedback` records what of it was useful. All methods may be called from any thread. One thread
    writes at a time; others read one committed state per call meanwhile, and wait only while indexes catch up. Long
    methods take a Progress, which reports and cancels.
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
        summariser: AbstractiveSummariser | None = None,
        model: TextModel | None = None,
    ) -> None:
        derived = Derived(storage, embedder, clock, settings)
        # Pools of successive frames contain the same blocks.
        counted = lru_cache(maxsize=_COUNTS_KEPT)(count_tokens)
        searches = SearchLog(storage)
        if summariser is not None:
            from amgs.conversation.written import RememberedSummariser

            summariser = RememberedSummariser(summariser)
        super().__init__(
            MemoryContext(storage, derived, clock, settings, embedder, counted, recogniser, searches, summariser, model)
        )
        if not storage.read_only:
            shipping.renew(storage, shipping.DEFAULTS)
            self._finish_erasure()

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
        summariser: AbstractiveSummariser | None = None,
        model: TextModel | None = None,
        read_only: bool = False,
        create: bool = True,
        accept_loss: bool = False,
    ) -> Memory:
        """Open or create a memory (":memory:" for a memory in RAM) with these models; `amgs.open` chooses them.

        embedder: default: that of the store's embeddings; in a store without any, `new_embedder`. Deterministic
        replacements are used for missing models. create: if False, a missing store is an error. accept_loss: open a
        store that has lost its last changes. summariser: writes digests of conversations in its own words, marked as
        such. model: proposes categories, names, duplicates and changes of topic in notes, and writes frames that are
        summaries; rules check its answers. Raises StoreLockedError, StoreTooNewError, StoreCorruptError or StoreError;
        ModelError if the store's embedder is not installed.
        """
        storage = open_storage(path, read_only=read_only, create=create, accept_loss=accept_loss)
        try:
            return cls(
                storage,
                clock=ZonedClock(clock, zone) if (zone := (settings or Settings()).time_zone) else clock,
                settings=settings or Settings(),
                embedder=embedder or _embedder_of(storage, new_embedder) or HashingEmbedder(),
                count_tokens=count_tokens or approximate_tokens,
                recogniser=recogniser or RuleRecogniser(),
                summariser=summariser,
                model=model,
            )
        except BaseException:
            storage.close()
            raise

    def close(self, progress: Progress | None = None) -> None:
        """Write the log of searches, save the indexes and close the store.

        New texts that nobody has searched yet are indexed first, which takes about a second for some thousands of them.
        """
        if self._storage.closed:
            return
        try:
            self._finish_erasure()
            if self._opened.searches.waits:
                with self._storage.log():
                    self._opened.searches.write(self.settings.retrieval.searches, most=None)
            self._opened.derived.close(progress)
        finally:
            self._storage.close()

    def _finish_erasure(self) -> None:
        """Rewrite files that still contain erased content; if the disk is full, the next opening tries again."""
        if not self._storage.read_only and self._storage.erasure.unfinished:
            with contextlib.suppress(StoreError):
                self.erasure.finish()

    def discard(self) -> None:
        """Close the memory; if opening created it and nothing was done in it, delete its file or namespace."""
        empty = self._storage.created and self._storage.tables.is_untouched()
        self.close()
        if empty:
            remove(self._storage.path, untouched=True)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def path(self) -> str:
        """Place of the store; `:memory:` for a memory in RAM."""
        return self._storage.path

    @property
    def read_only(self) -> bool:
        """Return whether it was opened for reading only."""
        return self._storage.read_only

    @property
    def change_counter(self) -> int:
        """Number that increases by 1 with every committed change."""
        return self._storage.change_counter

    @property
    def committed_changes(self) -> int:
        """Change counter after the last commit, whatever state this thread reads; reads no file."""
        return self._storage.committed_changes

    def transaction(self) -> AbstractContextManager[None]:
        """Commit all changes of this thread while the block runs together, or none; other writers wait."""
        return self._storage.transaction()

    def keep(self, name: str, value: str | None) -> None:
        """Store a text under a name in the store, such as a layout or bookmark; None deletes it."""
        with self._storage.transaction():
            self._storage.meta.keep(name, value)

    def read_saved(self, prefix: str = "") -> dict[str, str]:
        """Return the texts from `keep` under names with this prefix, by name."""
        return self._storage.meta.read_saved(prefix)

    # --- health -----------------------------------------------------------------------------------------

    def counts(self) -> Mapping[str, int]:
        """Return the numbers of raw, consolidated, archived and pruned blocks; without entries for 0."""
        return self._storage.blocks.by_status()

    def status(self) -> StoreStatus:
        """Return the status of the whole memory."""
        from amgs.api import health

        return health.status(self._context)

    def namespaces(self) -> tuple[NamespaceSize, ...]:
        """Return the namespaces of this memory's database that the connected role may use; none for a file."""
        return self._storage.namespaces()

    def health(self) -> Health:
        """Return the state of each area of the memory, with commands that show more or repair it."""
        from amgs.api import health

        return health.health(self._context)

    def verify(self, progress: Progress | None = None) -> Verification:
        """Hash every block again, check every reference, compare the indexes; return each fault."""
        from amgs.api import health

        return health.verify(self._context, progress)
