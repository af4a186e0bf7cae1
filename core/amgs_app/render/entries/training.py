"""Training runs and their data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs_focus.training.records import Staged, TrainedRun


def _interval(found: tuple[float, float, float]) -> str:
    return f"{found[0]:+.4f} [{found[1]:+.4f}, {found[2]:+.4f}]"


@entry()
def staged(result: Staged) -> ResultTable:
    rows = [
        (s.name, s.split, s.tokens, s.digest[:12], "written" if s.fresh else "kept") for s in result.shards
    ]
    return sheet(f"Shards in {result.folder}", "text* split tokens:n digest was", rows)


@entry()
def trained_run(result: TrainedRun) -> ResultTable:
    rows: list[tuple[object, ...]] = []
    for part in result.parts:
        rows.append((part.part, "step", f"{part.step:,} of {part.steps:,}"))
        rows.append((part.part, "time", f"{part.seconds:,.0f} s"))
        rows += [(part.part, name, f"{value:.4f}") for name, value in part.losses.items()]
        rows += [(part.part, name, f"{value:.4f}") for name, value in part.validation.items()]
    for one in result.effects:
        rows.append((one.phase, "loss before, after", f"{one.before:.4f}, {one.after:.4f}"))
        rows.append((one.phase, "change", _interval(one.change)))
        rows.append((one.phase, "beyond raw tokens", _interval(one.beyond_plain)))
        rows.append((one.phase, "verdict", one.verdict))
    notes = [f"Checkpoint: {result.checkpoint or 'none, no phase had an effect'}", f"Card: {result.card}"]
    if not result.complete:
        notes = [f"Not complete: --resume continues the run in {result.folder}."]
    return sheet(f"Run {result.name}", "part what* value", rows, notes)
