"""What every subject of `bench conversation` gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from amgs_app.bench_results import BenchTable, Comparator


@dataclass(frozen=True, slots=True)
class SubjectResult:
    """The figures of a subject, the goals they are held against, and tables with their controls beside them."""

    metrics: Mapping[str, float] = field(hash=False)
    goals: Mapping[str, tuple[Comparator, float]] = field(default_factory=dict, hash=False)
    tables: tuple[BenchTable, ...] = ()
