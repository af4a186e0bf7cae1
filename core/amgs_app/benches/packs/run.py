"""`bench packs`: every subject whose data is there, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from amgs_app.bench_results import BenchResult, BenchTable, Comparator
from amgs_app.benches.conversation.subject import SubjectResult
from amgs_app.benches.frame import Bench
from amgs_app.benches.packs.continuum import measure_continuum
from amgs_app.benches.packs.pruning import measure_pruning
from amgs_app.benches.packs.routing import measure_routing
from amgs_app.benches.rig import MemoryRig

BENCH = Bench("packs")
SUBJECTS: Mapping[str, Callable[[MemoryRig, Path], SubjectResult | None]] = {
    "continuum": measure_continuum,
    "pruning": measure_pruning,
    "routing": measure_routing,
}
"""By name; None where the folder lacks the data of a subject. What is invented needs none."""


def run(rig: MemoryRig, data: Path) -> BenchResult:
    """Measure what a folder has data for, and what needs none."""
    metrics: dict[str, float] = {}
    goals: dict[str, tuple[Comparator, float]] = {}
    tables: list[BenchTable] = []
    done: list[str] = []
    for place, (name, measure) in enumerate(SUBJECTS.items()):
        rig.progress(place, len(SUBJECTS), name)
        found = measure(rig, data)
        if found is not None:
            done.append(name)
            metrics |= found.metrics
            goals |= found.goals
            tables += found.tables
    return BENCH.result({"subjects": done}, metrics, tuple(tables), goals=goals)
