"""What every bench gives: metrics by name, the goals they were held against, and tables for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

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
