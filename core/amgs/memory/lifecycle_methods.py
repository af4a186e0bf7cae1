"""Consolidation, undo, decay and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    """What works blocks into the memory, and what becomes of them there."""

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

    def last_event(self) -> datetime | None:
        """When something was last done: an operation, a forecast, the assembly of a frame; None where nothing was."""
        return self._storage.journal.last_event()

    def undo(self, operation_id: int) -> JournalEntry:
        """Take an operation back; raises UsageError when a later one stands on it."""
        return self.lifecycle.undo(operation_id)

    def redo(self, operation_id: int | None = None) -> JournalEntry:
        """Put an undone operation (the one undone last) back exactly as the undo found it.

        Raises UsageError when something later stands in the way.
        """
        return self.lifecycle.redo(operation_id)

    def reinforce(self, ids: Sequence[str], *, event_type: str, source: str) -> None:
        """Restart the decay clock of blocks, one logged event each."""
        self.lifecycle.reinforce(ids, event_type=event_type, source=source)

    def decay_curve(self, block_id: str, *, days: float = 30) -> DecayCurve:
        """A block's relevance from its creation to `days` ahead."""
        return self.lifecycle.decay_curve(block_id, days=days)

    def forecast(self, *, days: float = 30, threshold: float | None = None) -> Forecast:
        """What will fall under the threshold within `days`, soonest first."""
        return self.lifecycle.forecast(days=days, threshold=threshold)

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
