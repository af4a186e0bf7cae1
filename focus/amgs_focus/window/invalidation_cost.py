"""Invalidation cost: what an action makes the base model compute again, known before the action is taken.

In a full read keys and values hold up to the first position that changed, and everything from there on is computed
anew: an action behind a change that is there already costs only the positions it adds. A read that reuses keys and
values computes only what is new.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from amgs_focus.records import InvalidationCost
from amgs_focus.window.working_context import Edit, WorkingContext


@dataclass(frozen=True, slots=True)
class ReadingCosts:
    """What reading costs now. clean: leading positions whose keys and values hold in a full read. single_ms: a pass
    over one position; each_ms: every further position of it; both 0 while nothing was measured. pending: positions
    to compute as the context is. reuse: the next read computes only what is new.
    """

    clean: int
    single_ms: float = 0.0
    each_ms: float = 0.0
    pending: int = 0
    reuse: bool = False

    def milliseconds(self, positions: int) -> float:
        """What computing so many positions in one pass will take."""
        return 0.0 if positions <= 0 else self.single_ms + self.each_ms * (positions - 1)

    def front(self, context: WorkingContext, first: int, cost: int) -> InvalidationCost:
        """What would be computed after a change of `cost` positions at entry number `first`, with all that
        is dirty already.
        """
        at = context.offsets[first]
        if self.reuse:
            positions = self.pending + context.slots + max(0, cost)  # the children, or the gist over them
        else:
            at = min(self.clean, at)
            positions = max(0, context.used + cost - at)
        return InvalidationCost(at, positions, self.milliseconds(positions))

    def after(self, context: WorkingContext, edit: Edit) -> ReadingCosts:
        """The prices once an edit of this context was carried out."""
        new = sum(entry.cost for entry in edit.inserted)
        clean = min(self.clean, context.offsets[edit.position])
        return replace(self, clean=clean, pending=self.pending + new)
