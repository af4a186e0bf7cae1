"""What every bench is given, whatever it measures, and what it gives: metrics by name, the goals they were held
against, and tables for people.
"""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from amgs.types import Progress

if TYPE_CHECKING:
    from amgs.text.embedding import Embedder
    from amgs.text.language_model import CountTokens


Comparator = Literal[">=", "<="]


@dataclass(frozen=True, slots=True)
class Goal:
    """What a metric should be, and whether it is."""

    op: Comparator
    value: float
    met: bool


@dataclass(frozen=True, slots=True)
class BenchTable:
    """A table beside the metrics; cells are text or numbers, numbers are shown with one decimal."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]


@dataclass(frozen=True, slots=True)
class BenchResult:
    """One run of a bench. settings: what it was run with. metrics: numbers by the names that the requirement
    lists. goals: by metric. tables: what else it found.
    """

    bench: str
    commit: str
    machine: str
    settings: Mapping[str, Any] = field(hash=False)
    metrics: Mapping[str, float] = field(hash=False)
    goals: Mapping[str, Goal] = field(hash=False)
    tables: tuple[BenchTable, ...] = ()


def cell(value: str | float) -> str:
    """A cell of a bench's table as text."""
    return value if isinstance(value, str) else f"{value:.1f}"


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
    """Whether a figure, as it is shown, keeps a goal; one that could not be measured (NaN) does not."""
    seen = float(shown(found))
    return seen >= value if op == ">=" else seen <= value


def shown(found: float) -> str:
    """A metric as people read it."""
    return f"{found:.4g}"


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
        lines.append(f"| `{name}` | {shown(value)} | {said} |")
    for table in found.tables:
        lines += ["", f"{table.title}:", "", f"| {' | '.join(table.columns)} |"]
        lines.append(f"| --- |{' ---: |' * (len(table.columns) - 1)}")
        lines += [f"| {' | '.join(map(cell, row))} |" for row in table.rows]
    return "\n".join(lines) + "\n"


class Stopwatch:
    """The machine's monotonic clock: a bench measures real time, whatever the session's clock says."""

    def perf(self) -> float:
        return time.perf_counter()


@dataclass(frozen=True, kw_only=True)
class Rig:
    """progress: what a bench reports to, and what can stop it. seed: the session's, for what a bench draws."""

    progress: Progress = field(default_factory=Progress)
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class MemoryRig(Rig):
    """What a bench of the memory engine is given: the models of its stores."""

    embedder: Embedder
    count_tokens: CountTokens


@dataclass(frozen=True, slots=True)
class SubjectResult:
    """The figures of a subject, the goals they are held against, and tables with their controls beside them."""

    metrics: Mapping[str, float] = field(hash=False)
    goals: Mapping[str, tuple[Comparator, float]] = field(default_factory=dict, hash=False)
    tables: tuple[BenchTable, ...] = ()


Measure = Callable[[MemoryRig, Path], SubjectResult | None]
"""Measures a subject with what a folder holds; None where its data is not there."""


Given = TypeVar("Given")
"""What the subjects of a bench measure with: a folder, or more."""


def measured(
    rig: MemoryRig, data: Given, subjects: Mapping[str, Callable[[MemoryRig, Given], SubjectResult | None]]
) -> dict[str, SubjectResult]:
    """The subjects that there is data for, one after the other, by name."""
    found: dict[str, SubjectResult] = {}
    for place, (name, measure) in enumerate(subjects.items()):
        rig.progress(place, len(subjects), name)
        result = measure(rig, data)
        if result is not None:
            found[name] = result
    return found


def joined(results: Iterable[SubjectResult]) -> SubjectResult:
    """Several subjects as one."""
    metrics: dict[str, float] = {}
    goals: dict[str, tuple[Comparator, float]] = {}
    tables: list[BenchTable] = []
    for one in results:
        metrics |= one.metrics
        goals |= one.goals
        tables += one.tables
    return SubjectResult(metrics, goals, tuple(tables))
