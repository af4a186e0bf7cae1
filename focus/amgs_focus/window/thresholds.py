"""The thresholds τ in force: as set, or led by how full the window was and how restless the loop.

MegaContext, "Future directions" of the allocator: adaptive thresholds based on recent utilization. Both
signals have a dead band, inside which nothing moves, so that the thresholds themselves do not oscillate.
"""

from __future__ import annotations

from dataclasses import dataclass

from amgs_focus.settings import FocusSettings

FULL, ROOMY = 0.95, 0.75  # of what the window may hold; between them the lean stays
RESTLESS, QUIET = 0.25, 0.125  # actions an entry outside the tail; between them the calm stays
LEAN_STEP = 0.25
CALM_STEP = 1.25
MOST_CALM = 2.0


@dataclass(frozen=True, slots=True)
class Thresholds:
    """lean, from −1 to 1: towards collapsing when positive, towards expanding when negative; half of it is
    the share by which each τ moves. calm, from 1 to 2: what both are multiplied by.
    """

    lean: float = 0.0
    calm: float = 1.0

    def expand(self, settings: FocusSettings) -> float:
        """The score above which a span may expand."""
        return min(1.0, settings.tau_expand * self.calm * (1 + self.lean / 2))

    def collapse(self, settings: FocusSettings) -> float:
        """The score below minus which a span may collapse."""
        return min(1.0, settings.tau_collapse * self.calm * (1 - self.lean / 2))

    def why(self) -> str:
        """What moved them, as a clause; empty while they are as set."""
        causes = []
        if self.lean:
            causes.append("the window was full" if self.lean > 0 else "the window had room")
        if self.calm > 1:
            causes.append("the loop was restless")
        return " and ".join(causes)

    def adapted(self, settings: FocusSettings, *, utilization: float, swap_rate: float) -> Thresholds:
        """The thresholds of the next refocus. utilization: positions used of those that may be, after this
        one; swap_rate: its actions an entry outside the tail.
        """
        if settings.thresholds == "fixed":
            return Thresholds()
        lean, calm = self.lean, self.calm
        if utilization > FULL:
            lean = min(1.0, lean + LEAN_STEP)
        elif utilization < ROOMY:
            lean = max(-1.0, lean - LEAN_STEP)
        if swap_rate > RESTLESS:
            calm = min(MOST_CALM, calm * CALM_STEP)
        elif swap_rate < QUIET:
            calm = max(1.0, calm / CALM_STEP)
        return Thresholds(lean, calm)
