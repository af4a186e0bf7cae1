"""How the result of a benchmark is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from benchmarks.bench_results import BenchResult, BenchTable
    from benchmarks.focus_training.lens_labels import LabelReport


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
    rows = []
    for name, value in result.metrics.items():
        goal = result.goals.get(name)
        said = "" if goal is None else f"{goal.op} {goal.value:g}: {'met' if goal.met else 'missed'}"
        rows.append((name, f"{value:.4g}", said))
    notes = [line for table in result.tables for line in ("", table.title, *_aligned(table))]
    at = f", commit {result.commit}" if result.commit else ""
    title = f"{result.bench} on {result.machine}{at}"
    return replace(sheet(title, "metric found:n goal*", rows), notes=tuple(notes))


@entry()
def label_report(result: LabelReport) -> ResultTable:
    rows: list[tuple[object, ...]] = [
        ("snapshots measured now", result.done),
        ("snapshots in the folder", result.snapshots),
        ("labels in the folder", result.labels),
    ]
    return sheet(f"Labels in {result.folder}", "what* value:n", rows)
