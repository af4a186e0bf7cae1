"""Lifecycle: the later stages of a memory's life behind one door, reached as `memory.lifecycle`.

Each change is a plan first, then one transaction with a journal entry that `Memory.undo` takes back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from amgs import bounds
from amgs.clock import Clock
from amgs.derived import Derived, check_space
from amgs.errors import UsageError
from amgs.lifecycle import consolidate, enhance, lessons, prune, supersede, trigger
from amgs.lifecycle.preview import DecayPreview, preview
from amgs.lifecycle.proposals import EnhancementPlan, Proposal, chosen
from amgs.lifecycle.prune import Pruned, PrunePlan, Standing
from amgs.lifecycle.supersede import ReviewItem, ReviewPlan
from amgs.lifecycle.trigger import Due
from amgs.model import BlockFilter, Operation, Progress
from amgs.settings import PruningSettings, Settings
from amgs.store import blocks as stored_blocks
from amgs.store import journal as stored_journal
from amgs.store import reinforcement_log
from amgs.store.connection import MEMORY, Store
from amgs.text.embedding import Embedder


class Lifecycle:
    """The lifecycle of one open memory, beyond ingestion and consolidation."""

    def __init__(
        self,
        store: Store,
        derived: Derived,
        embedder: Embedder,
        clock: Clock,
        settings: Settings,
        find_id: Callable[[str], str],
        lock: threading.RLock,
    ) -> None:
        self._store = store
        self._derived = derived
        self._embedder = embedder
        self._clock = clock
        self._settings = settings
        self._find_id = find_id
        self._lock = lock

    # --- consolidation's trigger (AMGS §8.2) -------------------------------------------------------------

    def due(self) -> Due:
        """Whether the inbox should be consolidated now, by its volume and by the time since the last one."""
        raw = BlockFilter(statuses=("raw",))
        earliest = stored_blocks.select(self._store, raw, order="arrival", limit=1)
        return trigger.due(
            stored_blocks.count(self._store, raw),
            earliest[0].created_at if earliest else None,
            stored_journal.last_of(self._store, consolidate.KIND),
            self._clock.now(),
            self._settings.consolidation,
        )

    def corrections(self) -> int:
        """How many corrections of categories stand and teach."""
        return lessons.lessons(self._store).count

    # --- enhancement (AMGS §8.3) ------------------------------------------------------------------------

    def plan_enhancement(
        self, *, kinds: Sequence[str] = (), limit: int | None = None, progress: Progress | None = None
    ) -> EnhancementPlan:
        """What could be better: of the kinds asked for, at most `limit` of each; changes nothing."""
        check_space(self._store, self._embedder)
        counter = self._store.change_counter
        return enhance.plan(
            enhance.world(self._store),
            settings=self._settings.enhancement,
            embedder=self._embedder,
            now=self._clock.now(),
            change_counter=counter,
            kinds=kinds,
            limit=bounds.count("A limit", limit),
            progress=progress,
        )

    def choose(self, plan: EnhancementPlan, only: Sequence[str]) -> tuple[Proposal, ...]:
        """The proposals with these ids, all without any; raises UsageError for an unknown one."""
        return chosen(plan, only)

    def apply_enhancement(self, plan: EnhancementPlan, only: Sequence[str] = ()) -> Operation:
        """Carry a plan or a part of it out; raises UsageError when the store has moved on under it."""
        return enhance.apply(self._store, chosen(plan, only), self._clock.now())

    def walks(self) -> dict[tuple[str, str, str], int]:
        """How many assemblies walked each edge (source, target, relation)."""
        return reinforcement_log.walks(self._store)

    # --- supersession and contradiction -----------------------------------------------------------------

    def plan_review(self, *, progress: Progress | None = None) -> ReviewPlan:
        """What may be superseded or contradicted and is not in the queue yet; changes nothing."""
        counter, now = self._store.change_counter, self._clock.now()
        return supersede.plan(
            self._store, self._settings.review, now=now, change_counter=counter, progress=progress
        )

    def apply_review(self, plan: ReviewPlan) -> Operation:
        """Put the findings into the queue."""
        return supersede.enqueue(self._store, plan, self._clock.now())

    def reviews(self, *, every: bool = False, limit: int | None = None) -> tuple[ReviewItem, ...]:
        """The queue: open findings, the surest first; every: also those decided."""
        return supersede.queue(self._store, every=every, limit=bounds.count("A limit", limit))

    def accept(self, review_id: int) -> Operation:
        """Carry a finding out; raises UsageError for one that is not open."""
        return supersede.accept(self._store, review_id, self._clock.now())

    def reject(self, review_id: int) -> Operation:
        """Say that a finding is none; raises UsageError for one that is not open."""
        return supersede.reject(self._store, review_id, self._clock.now())

    # --- pruning (AMGS §8.5) ----------------------------------------------------------------------------

    def plan_pruning(
        self,
        *,
        hard: bool = False,
        limit: int | None = None,
        threshold: float | None = None,
        lowest: float | None = None,
    ) -> PrunePlan:
        """Blocks that are faded, peripheral, unused and doubted; hard: pruned blocks that would leave the store.

        threshold, lowest: stand in for `relevance` and `lowest` of the settings.
        """
        counter, now = self._store.change_counter, self._clock.now()
        if hard:
            return prune.plan_hard(
                self._store, now=now, change_counter=counter, limit=bounds.count("A limit", limit)
            )
        return prune.plan(
            self._store,
            self._centrality(),
            self._pruning(threshold, lowest),
            now=now,
            change_counter=counter,
            limit=bounds.count("A limit", limit),
        )

    def explain_pruning(
        self, block_id: str, *, threshold: float | None = None, lowest: float | None = None
    ) -> Standing:
        """How a block stands to the four limits: which of them keep it, and when it will have faded."""
        limits = self._pruning(threshold, lowest)
        wanted = self._find_id(block_id)
        return prune.explain(self._store, wanted, self._centrality(), limits, now=self._clock.now())

    def _pruning(self, threshold: float | None, lowest: float | None) -> PruningSettings:
        given = {"relevance": threshold, "lowest": lowest}
        changed = {name: value for name, value in given.items() if value is not None}
        for name, value in changed.items():
            if not 0 <= value <= 1 or (name == "relevance" and value == 0):
                raise UsageError(f"A {name} of {value:g} is no share.", way_out="It lies between 0 and 1.")
        return self._settings.pruning.model_copy(update=changed)

    def _centrality(self) -> dict[int, float]:
        """Centrality of every live block by running number."""
        with self._lock:
            view, scores = self._derived.graph.view(), self._derived.graph.measures().importance()
        return dict(zip(view.nodes.tolist(), scores.tolist(), strict=True))

    def apply_pruning(self, plan: PrunePlan, *, ledger: Path | None = None) -> Pruned:
        """Carry a plan out; what a hard one deletes is written to the ledger first, beside the store without one."""
        if plan.hard and ledger is None and self._store.path != MEMORY:
            ledger = Path(f"{self._store.path}.deleted.jsonl")
        return prune.apply(self._store, plan, self._clock.now(), ledger)

    def preview_decay(self, block_id: str, decay_lambda: float, *, days: float = 30.0) -> DecayPreview:
        """What another λ (0 pins) would do to a block; changes nothing."""
        wanted = self._find_id(block_id)
        return preview(
            stored_blocks.get(self._store, [wanted])[wanted],
            reinforcement_log.of(self._store, wanted),
            decay_lambda,
            self._clock.now(),
            days=days,
            threshold=self._settings.decay.threshold,
        )
