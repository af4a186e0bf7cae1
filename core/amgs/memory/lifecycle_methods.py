"""Consolidation, undo, decay and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from amgs import bounds
from amgs.memory.open_memory import OpenMemory

if TYPE_CHECKING:
    from amgs.storage.forecasts import ForecastGroup
    from amgs.types import (
        ConsolidationPlan,
        ConsolidationSummary,
        DecayCurve,
        Forecast,
        JournalEntry,
        Outcome,
        Progress,
        Reliability,
    )


class LifecycleMethods(OpenMemory):
    """Methods for the lifecycle of blocks."""

    def consolidate(self, *, limit: int | None = None, progress: Progress | None = None) -> ConsolidationSummary:
        """Consolidate new blocks: category, embedding, entities, edges, decay profile.

        limit: most raw blocks, oldest first. Each batch is one transaction. progress: if it is cancelled, committed
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
        """Apply a plan in one transaction; raises UsageError if its blocks are no longer raw."""
        from amgs.lifecycle.plan_editing import PlanDraft

        return self.lifecycle.apply_draft(PlanDraft(plan))

    def consolidate_in_batches(
        self, *, limit: int | None = None, progress: Progress | None = None
    ) -> Iterator[tuple[ConsolidationPlan, JournalEntry]]:
        """Consolidate the inbox (its `limit` oldest blocks) in batches, each in its own transaction.

        Yields each batch's plan and the journal entry so far, which one `undo` reverts. Stopping keeps committed
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
        """Undo an operation; raises UsageError if it is unknown or already undone, or if a later one depends on it."""
        from amgs.log import undo as undoing

        return undoing.undo(self._storage, operation_id)

    def reinforce(self, ids: Sequence[str], *, event_type: str, source: str) -> None:
        """Restart the decay clock of blocks, with one logged event each."""
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
        (`frame.id`), that of this frame; with prediction_id, this one. Raises UsageError if there is no such open
        forecast, UnknownBlockError or AmbiguousIdError for the id.
        """
        from amgs.calibration import forecasts

        return forecasts.record_verdict(
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
        """Return the reliability table and the Brier score with its components, of all forecasts or of one frame,
        category or relation type; for all, also how promises of coverage were kept.
        """
        from amgs.calibration import brier, coverage

        bins = bounds.count("The number of bins", bins, least=1, most=1000)
        forecasts = self._storage.forecasts
        decided = forecasts.decided(by=by, value=value)
        table = brier.reliability(decided, bins=bins, forecasts=forecasts.count(by=by, value=value))
        return table if by else replace(table, coverage=coverage.reviews(self._storage))
