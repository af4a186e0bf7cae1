"""`memory.lifecycle`: what happens to blocks after ingestion. Each change is a plan first, then a transaction with a
journal entry that `undo` reverts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from amgs import bounds
from amgs.api.context import MemoryPart
from amgs.derived.search_indexes import check_space
from amgs.errors import UsageError
from amgs.frames import registry
from amgs.index.neighbours import Near
from amgs.lifecycle import consolidate, decay_forecast, enhance, plan_editing, prune, supersede, upkeep
from amgs.lifecycle import erase as erasing
from amgs.lifecycle.categories import CATEGORIES
from amgs.lifecycle.consolidate import ConsolidationInputs
from amgs.lifecycle.decay_forecast import DecayPreview, preview
from amgs.lifecycle.plan_editing import PlanDraft
from amgs.lifecycle.proposing import EnhancementPlan, Proposal, chosen
from amgs.lifecycle.prune import PruneAssessment, Pruned, PrunePlan
from amgs.lifecycle.self_detection import owner
from amgs.lifecycle.supersede import ReviewItem, ReviewPlan
from amgs.lifecycle.upkeep import Due
from amgs.log import journal
from amgs.log import undo as undoing
from amgs.settings import PruningSettings
from amgs.types import (
    Block,
    BlockFilter,
    CategoryCurves,
    Forecast,
    JournalEntry,
    JournalEntryDetail,
    Progress,
    UndoPlan,
    Vector,
)


class Lifecycle(MemoryPart):
    """The lifecycle of a memory, from the inbox on."""

    # --- consolidation and its trigger (AMGS §8.2) -------------------------------------------------------

    def due(self) -> Due:
        """Return whether the inbox should be consolidated, by its size and the time since the last consolidation."""
        raw = BlockFilter(statuses=("raw",))
        earliest = self._storage.blocks.select(raw, order="arrival", limit=1)
        last = self._storage.journal.last_of(consolidate.KIND)
        return upkeep.decide_due(
            self._storage.blocks.count(raw),
            earliest[0].created_at if earliest else None,
            None if last is None else last.at,
            self._now,
            self._context.settings.consolidation,
        )

    def draft_consolidation(
        self, *, limit: int | None = None, before: PlanDraft | None = None, progress: Progress | None = None
    ) -> PlanDraft:
        """Return an editable plan for consolidating the inbox (its `limit` oldest blocks); changes nothing.

        before: an earlier draft, reused if the same blocks wait; else its corrections are carried over where they fit.
        """
        counter, limit = self._storage.change_counter, bounds.count("A limit", limit)
        waiting = self._waiting(limit).tolist()
        if before is not None and self._number_draft_blocks(before) == waiting:
            return before
        known = consolidate.link_context(self._storage)
        with self._context.derived.raw_vectors.consolidating():
            plan = consolidate.plan(
                self._storage.blocks.by_number(waiting),
                known,
                self.means(),
                now=self._now,
                change_counter=counter,
                progress=progress,
            )
        return plan_editing.carry_edits_over(
            () if before is None else before.edits, PlanDraft(plan, whose=owner(known.authors))
        )

    def _number_draft_blocks(self, draft: PlanDraft) -> list[int]:
        """Return the running numbers of a draft's blocks, rising."""
        ids = [item.block.id for item in draft.proposed.items]
        return sorted(self._storage.blocks.numbers_of(ids).values())

    def edit_draft(
        self,
        draft: PlanDraft,
        block_id: str,
        *,
        category: str | None = None,
        new: bool = False,
        confidence: float | None = None,
        left_out: bool | None = None,
        drop: Sequence[str] = (),
        keep: Sequence[str] = (),
        sure: Mapping[str, float] | None = None,
    ) -> PlanDraft:
        """Return the draft with a block corrected, see `plan_editing.edit_draft`; nothing is written. new: allow a new
        category.
        """
        return plan_editing.edit_draft(
            draft,
            block_id,
            category=category,
            known=None if new else self.known_categories(),
            confidence=confidence,
            left_out=left_out,
            drop=drop,
            keep=keep,
            sure=sure,
            profiles=self._context.settings.decay.profiles,
        )

    def known_categories(self) -> frozenset[str]:
        """Return the categories that a consolidation assigns, and those of existing blocks."""
        return frozenset({*CATEGORIES, *self._storage.blocks.categories()})

    def find_categories(self, names: Sequence[str], *, adds: bool = False) -> tuple[str, ...]:
        """Return the canonical names of categories. Raises UsageError for an unknown category; adds: mention in it how
        to allow a new category.
        """
        known = self.known_categories() if names else frozenset[str]()
        return tuple(plan_editing.find_category(name, known, adds=adds) for name in names)

    def apply_draft(self, draft: PlanDraft) -> JournalEntry:
        """Apply a draft with its corrections, in a single transaction with a journal entry; excluded blocks stay raw.

        Raises UsageError if its blocks are no longer raw.
        """
        check_space(self._storage, self._context.embedder)
        return consolidate.apply_plan(
            self._storage,
            draft.plan,
            embedder=self._context.embedder,
            weights=registry.find("ATTENTION", self._context.definitions()).weights,
            now=self._now,
            edited=len(draft.edits),
        )

    def _waiting(self, limit: int | None) -> NDArray[np.int64]:
        return self._storage.block_columns.numbers(consolidate.RAW)[:limit]

    def means(self) -> ConsolidationInputs:
        """Return the inputs for consolidation; raises StoreError if the store was embedded by another encoder."""
        check_space(self._storage, self._context.embedder)
        settings = self._context.settings.consolidation

        def near(vectors: Vector, allowed: NDArray[np.int64]) -> Near:
            index = self._context.derived.vectors()
            return index.nearest(vectors, settings.neighbours, floor=settings.similarity, allowed=allowed)

        return ConsolidationInputs(
            settings,
            self._context.embedder,
            self._context.recogniser,
            near,
            lambda ids: self._storage.blocks.contents_of(ids),
            self._context.settings.decay.profiles,
            self._context.derived.raw_vectors.store,
            self._context.model,
        )

    def keep_derived(self, progress: Progress | None = None) -> bool:
        """Do the work due while a memory stays open for long: save new vectors beside the store and read them from
        there, and update the centrality of a large graph. Return whether vectors were saved. Raises Cancelled.
        """
        self._context.derived.settle_centrality()
        return self._context.derived.keep_vectors(progress)

    # --- enhancement (AMGS §8.3) ------------------------------------------------------------------------

    def plan_enhancement(
        self, *, kinds: Sequence[str] = (), limit: int | None = None, progress: Progress | None = None
    ) -> EnhancementPlan:
        """Return proposals of these kinds, at most `limit` of each; changes nothing."""
        check_space(self._storage, self._context.embedder)
        counter = self._storage.change_counter
        return enhance.plan(
            enhance.world(self._storage),
            embedder=self._context.embedder,
            now=self._now,
            change_counter=counter,
            kinds=kinds,
            limit=bounds.count("A limit", limit),
            progress=progress,
            model=self._context.model,
        )

    def choose(self, plan: EnhancementPlan, only: Sequence[str]) -> tuple[Proposal, ...]:
        """Return the proposals with these ids, all if none is named; raises UsageError for an unknown id."""
        return chosen(plan, only)

    def apply_enhancement(self, plan: EnhancementPlan, only: Sequence[str] = ()) -> JournalEntry:
        """Apply a plan or part of it; raises UsageError if a block or edge of it has changed since."""
        return enhance.apply(self._storage, chosen(plan, only), self._now)

    def walks(self) -> dict[tuple[str, str, str], int]:
        """Return how often each edge (source, target, relation) led to a block that was useful by a verdict."""
        return self._storage.reinforcements.walks()

    def list_most_used(self, limit: int = 20) -> tuple[tuple[Block, int], ...]:
        """Return the most often reinforced blocks with their counts; ties by id."""
        storage = self._storage
        counts = storage.reinforcements.counts()
        best = sorted(counts, key=lambda block_id: (-counts[block_id], block_id))[: bounds.count("A limit", limit)]
        blocks = storage.blocks.get(best)
        return tuple((blocks[block_id], counts[block_id]) for block_id in best if block_id in blocks)

    # --- supersession and contradiction -----------------------------------------------------------------

    def plan_review(self, *, progress: Progress | None = None) -> ReviewPlan:
        """Return what may be superseded, contradicted or merged and is not queued yet; changes nothing."""
        counter, now = self._storage.change_counter, self._now
        return supersede.plan(self._storage, now=now, change_counter=counter, progress=progress)

    def apply_review(self, plan: ReviewPlan) -> JournalEntry:
        """Add the findings to the queue; raises UsageError if another review has filled it since."""
        return supersede.enqueue(self._storage, plan, self._now)

    def reviews(self, *, every: bool = False, limit: int | None = None) -> tuple[ReviewItem, ...]:
        """Return the queue: open findings, most certain first; every: also decided ones."""
        return supersede.queue(self._storage, every=every, limit=bounds.count("A limit", limit))

    def accept(self, review_id: int) -> JournalEntry:
        """Apply a finding; raises UsageError if it is not open, or if blocks to merge are no longer consolidated."""
        return supersede.accept(self._storage, review_id, self._now, self._context.embedder)

    def reject(self, review_id: int) -> JournalEntry:
        """Reject a finding; raises UsageError if it is not open."""
        return supersede.reject(self._storage, review_id, self._now)

    # --- pruning (AMGS §8.5) ----------------------------------------------------------------------------

    def plan_pruning(
        self, *, hard: bool = False, limit: int | None = None, threshold: float | None = None
    ) -> PrunePlan:
        """Return the blocks that are faded, peripheral, unused and doubtful; hard: pruned blocks that would be deleted.
        threshold: replaces `relevance` of the settings.
        """
        counter, now = self._storage.change_counter, self._now
        if hard:
            return prune.plan_hard(self._storage, now=now, change_counter=counter, limit=bounds.count("A limit", limit))
        return prune.plan(
            self._storage,
            self._centrality(),
            self._pruning(threshold),
            now=now,
            change_counter=counter,
            limit=bounds.count("A limit", limit),
        )

    def explain_pruning(self, block_id: str, *, threshold: float | None = None) -> PruneAssessment:
        """Return how a block compares with the four limits: which of them keep it, and when it will have faded."""
        limits, wanted = self._pruning(threshold), self._context.whole_id(block_id)
        return prune.explain(self._storage, wanted, self._centrality(), limits, now=self._now)

    def _pruning(self, threshold: float | None) -> PruningSettings:
        if threshold is not None and not 0 < threshold <= 1:
            raise UsageError(f"Invalid relevance: {threshold:g}.", way_out="Give a value between 0 and 1.")
        changed = {} if threshold is None else {"relevance": threshold}
        return self._context.settings.pruning.model_copy(update=changed)

    def _centrality(self) -> dict[int, float]:
        """Return the centrality of every live block by running number."""
        with self._context.derived.reading() as state:
            view, scores = state.graph.view(), state.graph.measures().importance()
        return dict(zip(view.nodes.tolist(), scores.tolist(), strict=True))

    def apply_pruning(self, plan: PrunePlan) -> Pruned:
        """Apply a plan; blocks deleted by hard pruning are stored in the table `deleted_blocks`."""
        return prune.apply_plan(self._storage, plan, self._now)

    def delete(self, ids: Sequence[str]) -> JournalEntry:
        """Mark blocks as pruned, whatever their state; `undo` restores them. `memory.erasure` erases blocks."""
        whole = [self._context.whole_id(prefix) for prefix in ids]
        return erasing.delete(self._storage, whole, self._now)

    def preview_decay(self, block_id: str, decay_lambda: float, *, days: float = 30.0) -> DecayPreview:
        """Return the effect of another λ (0 pins) on a block; changes nothing."""
        wanted = self._context.whole_id(block_id)
        return preview(
            self._storage.blocks.get([wanted])[wanted],
            self._storage.reinforcements.of(wanted),
            decay_lambda,
            self._now,
            days=days,
            threshold=self._context.settings.decay.threshold,
        )

    # --- journal ----------------------------------------------------------------------------------------

    def operation(self, operation_id: int, limit: int = 200) -> JournalEntryDetail:
        """Return what an operation did to its first `limit` blocks and to edges, and which operations depend on it."""
        return journal.detail(self._storage, operation_id, bounds.count("A limit", limit) or 0)

    def plan_undo(self, operation_id: int | None = None) -> UndoPlan:
        """Return what undoing an operation (default: the latest) would revert; changes nothing."""
        return undoing.plan(self._storage, operation_id)

    # --- decay (AMGS §7.1) ------------------------------------------------------------------------------

    def forecast(self, *, days: float = 30, threshold: float | None = None, limit: int | None = None) -> Forecast:
        """Forecast the memory `days` ahead: its categories then, and the first `limit` blocks that drop below the
        threshold, used ones before others, soonest first.
        """
        least = self._context.settings.decay.threshold if threshold is None else threshold
        most = bounds.count("A limit", limit)
        with self._storage.snapshot():
            return decay_forecast.forecast(
                self._storage, BlockFilter(), self._now, days=days, threshold=least, limit=most
            )

    def category_curves(self, *, days: float = 30) -> CategoryCurves:
        """Return the mean relevance of each category from `days` ago to `days` ahead."""
        threshold = self._context.settings.decay.threshold
        with self._storage.snapshot():
            return decay_forecast.category_curves(
                self._storage, BlockFilter(), self._now, days=days, threshold=threshold
            )
