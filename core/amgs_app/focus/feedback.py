"""`focus measure --feedback`: report to the memory how much each block helped an answer.

The only place that knows the vocabulary of both engines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.errors import UsageError
from amgs_app.results.focus import FocusFeedback, WorthRow

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.records import BlockUtility

RESIDENT = 0.5
"""A block is reinforced if at least this share of it was in the window as tokens."""


def report_to_memory(engine: Engine, *, measure: bool, dry_run: bool, progress: Progress | None) -> FocusFeedback:
    """Report to the memory how much each block helped the answer, once per lifetime context. dry_run: only return the
    values.
    """
    from amgs_focus.runtime.utility import block_utilities

    runtime = engine.focus
    if engine.fed_back is runtime and not dry_run:
        raise UsageError(
            "This lifetime context was already reported to memory.",
            title="Already reported",
            way_out="Assemble and open another frame; `focus measure --feedback --dry-run` shows the values again.",
        )
    memory = engine.memory
    utilities = block_utilities(runtime.state, runtime.tree, runtime.clock, measure=measure, progress=progress)
    if not utilities:
        raise UsageError(
            "The lifetime context contains no block of the memory.",
            way_out="Open a frame (`frame open`), or all of memory (`focus open`).",
        )
    waiting = {outcome.block_id for outcome in memory.outcomes(limit=10_000) if outcome.actual is None}
    rows = tuple(_row(worth, worth.source in waiting) for worth in utilities)
    plan = FocusFeedback(rows, (), applied=False)
    if dry_run:
        return plan
    outcomes = memory.calibration.settle(
        {row.worth.source: row.useful for row in rows if row.useful is not None and row.open_forecast},
        reinforced=plan.reinforced,
        event_type="resident",
        source="focus",
    )
    engine.fed_back = runtime
    return FocusFeedback(rows, outcomes, applied=True)


def _row(worth: BlockUtility, waits: bool) -> WorthRow:
    """Return what is reported about a single block. waits: the block has an open forecast."""
    clear = worth.gain is not None and abs(worth.gain) > worth.error
    useful = worth.gain > 0 if clear and worth.gain is not None else None
    return WorthRow(worth, worth.residency >= RESIDENT, useful, waits)
