"""A bench of several subjects: what each gives, and all of them whose data is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from benchmarks.bench_results import BenchTable, Comparator
from benchmarks.rig import MemoryRig


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
