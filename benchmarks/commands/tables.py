"""How the result of a benchmark is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from benchmarks.bench_results import BenchResult, BenchTable
    from benchmarks.figures import FiguresChecked
    from benchmarks.focus_training.lens_labels import LabelReport
    from benchmarks.focus_training.records import Staged, TrainedRun


def _aligned(table: BenchTable) -> list[str]:
    """A bench's further table as lines: the first column to the left, the others to the right."""
    from benchmarks.bench_results import cell

    lines = [list(table.columns), *([cell(value) for value in row] for row in table.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.columns))]
    return [
        "  ".join(
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]


@entry()
def bench_result(result: BenchResult) -> ResultTable:
    from benchmarks.bench_results import shown

    rows = []
    for name, value in result.metrics.items():
        goal = result.goals.get(name)
        said = "" if goal is None else f"{goal.op} {goal.value:g}: {'met' if goal.met else 'missed'}"
        rows.append((name, shown(value), said))
    notes = [line for table in result.tables for line in ("", table.title, *_aligned(table))]
    at = f", commit {result.commit}" if result.commit else ""
    title = f"{result.bench} on {result.machine}{at}"
    return replace(sheet(title, "metric found:n goal*", rows), notes=tuple(notes))


@entry()
def figures_checked(result: FiguresChecked) -> ResultTable:
    rows = [
        (one.figure.page, one.figure.line, one.figure.metric, one.figure.printed, one.found, one.wrong or "holds")
        for one in result.checks
    ]
    wrong = sum(bool(one.wrong) for one in result.checks)
    title = f"{len(rows)} printed figures, {wrong} of which do not reproduce or could not be measured"
    return sheet(title, "page* benchmark metric printed:n found:n verdict", rows)


@entry()
def label_report(result: LabelReport) -> ResultTable:
    rows: list[tuple[object, ...]] = [
        ("snapshots measured now", result.done),
        ("snapshots in the folder", result.snapshots),
        ("labels in the folder", result.labels),
    ]
    return sheet(f"Labels in {result.folder}", "what* value:n", rows)


@entry()
def staged(result: Staged) -> ResultTable:
    rows = [(s.name, s.split, s.tokens, s.digest[:12], "written" if s.fresh else "kept") for s in result.shards]
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


def _interval(found: tuple[float, float, float]) -> str:
    return f"{found[0]:+.4f} [{found[1]:+.4f}, {found[2]:+.4f}]"
