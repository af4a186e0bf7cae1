"""`bench packs`: every subject whose data is there, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from amgs_app.bench_results import BenchResult
from amgs_app.benches.frame import Bench
from amgs_app.benches.packs.continuum import measure_continuum
from amgs_app.benches.packs.pruning import measure_pruning
from amgs_app.benches.packs.routing import measure_routing
from amgs_app.benches.rig import MemoryRig
from amgs_app.benches.subject import Measure, joined, measured

BENCH = Bench("packs")
SUBJECTS: Mapping[str, Measure] = {
    "continuum": measure_continuum,
    "pruning": measure_pruning,
    "routing": measure_routing,
}
"""By name; None where the folder lacks the data of a subject. What is invented needs none."""


def run(rig: MemoryRig, data: Path) -> BenchResult:
    """Measure what a folder has data for, and what needs none."""
    found = measured(rig, data, SUBJECTS)
    every = joined(found.values())
    return BENCH.result({"subjects": list(found)}, dict(every.metrics), every.tables, goals=dict(every.goals))
