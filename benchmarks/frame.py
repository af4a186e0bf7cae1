"""What a bench is, and what every bench gives: metrics by name, the goals they were held against, tables for people."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bench_results import BenchResult, BenchTable, Comparator, Goal, cell


@dataclass(frozen=True, slots=True)
class Bench:
    """A bench by its name on the command line. goals: what its metrics should be."""

    name: str
    goals: Mapping[str, tuple[Comparator, float]] = field(default_factory=dict, hash=False)

    def result(
        self,
        settings: Mapping[str, Any],
        metrics: Mapping[str, float],
        tables: tuple[BenchTable, ...] = (),
        *,
        goals: Mapping[str, tuple[Comparator, float]] | None = None,
    ) -> BenchResult:
        """A result on this machine at this commit. goals: those of this run, beside the bench's own. A goal for
        what was not measured is left out.
        """
        held = {
            name: Goal(op, value, meets(metrics[name], op, value))
            for name, (op, value) in {**self.goals, **(goals or {})}.items()
            if name in metrics
        }
        return BenchResult(self.name, commit(), machine(), settings, metrics, held, tables)


def meets(found: float, op: Comparator, value: float) -> bool:
    """Whether a figure keeps a goal; one that could not be measured (NaN) does not."""
    return found >= value if op == ">=" else found <= value


def machine() -> str:
    """The machine in a few words: cores that this process may use, memory, processor."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, ValueError, OSError):
        return f"{cores} cores, {platform.machine()}"
    return f"{cores} cores, {memory:.0f} GiB, {platform.machine()}"


def commit() -> str:
    """The commit of the checkout this runs from, with a + when files differ from it; empty outside of one."""
    here = Path(__file__).resolve().parent
    head = _git(here, "rev-parse", "--short=12", "HEAD")
    changed = head and _git(here, "status", "--porcelain", "--untracked-files=no")
    return f"{head}+" if changed else head


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def markdown(found: BenchResult) -> str:
    """The result as a page's section: the metrics against their goals, then the tables."""
    lines = ["| metric | found | goal |", "| --- | ---: | --- |"]
    for name, value in found.metrics.items():
        goal = found.goals.get(name)
        said = f"{goal.op} {goal.value:g}: {'met' if goal.met else 'missed'}" if goal else ""
        lines.append(f"| `{name}` | {value:.3g} | {said} |")
    for table in found.tables:
        lines += ["", f"{table.title}:", "", f"| {' | '.join(table.columns)} |"]
        lines.append(f"| --- |{' ---: |' * (len(table.columns) - 1)}")
        lines += [f"| {' | '.join(map(cell, row))} |" for row in table.rows]
    return "\n".join(lines) + "\n"
