"""Lifecycle: the later stages of a memory's life behind one door, reached as `memory.lifecycle`.

Each change is a plan first, then one transaction with a journal entry that `Memory.undo` takes back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from amgs.clock import Clock
from amgs.derived import Derived, check_space
from amgs.lifecycle import enhance, montecarlo
from amgs.lifecycle.change import Change, joined
from amgs.lifecycle.montecarlo import Simulation
from amgs.lifecycle.proposals import EnhancementPlan, Proposal, chosen
from amgs.model import Operation, Progress
from amgs.settings import Settings
from amgs.store.connection import Store
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
            limit=limit,
            progress=progress,
        )

    def choose(self, plan: EnhancementPlan, only: Sequence[str]) -> tuple[Proposal, ...]:
        """The proposals with these ids, all without any; raises UsageError for an unknown one."""
        return chosen(plan, only)

    def apply_enhancement(self, plan: EnhancementPlan, only: Sequence[str] = ()) -> Operation:
        """Carry a plan or a part of it out; raises UsageError when the store has moved on under it."""
        return enhance.apply(self._store, chosen(plan, only), self._clock.now())

    # --- Monte Carlo (AMGS §7.6) ------------------------------------------------------------------------

    def simulate(
        self, proposals: Sequence[Proposal] = (), *, days: float = 30.0, draws: int = 64, seed: int = 0
    ) -> Simulation:
        """What the graph comes to after `days` without the proposals and with them, under uncertainty."""
        change = joined(p.change for p in proposals) if proposals else Change()
        return montecarlo.simulate(
            montecarlo.scene(self._store),
            change,
            now=self._clock.now(),
            days=days,
            draws=draws,
            seed=seed,
        )
