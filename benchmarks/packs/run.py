"""`packs`: every subject whose data is there, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.errors import UsageError
from benchmarks.bench_results import Bench, BenchResult, Measure, MemoryRig, joined, measured
from benchmarks.packs.consolidation import measure_consolidation
from benchmarks.packs.continuum import measure_continuum
from benchmarks.packs.intents import measure_intents
from benchmarks.packs.operations import measure_operations
from benchmarks.packs.pipeline import QUESTIONS, measure_pipeline
from benchmarks.packs.pruning import measure_pruning
from benchmarks.packs.routing import measure_routing
from benchmarks.packs.weights import measure_weights

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

BENCH = Bench("packs")
SUBJECTS: Mapping[str, Measure] = {
    "consolidation": measure_consolidation,
    "continuum": measure_continuum,
    "intents": measure_intents,
    "operations": measure_operations,
    "pruning": measure_pruning,
    "routing": measure_routing,
    "weights": measure_weights,
}
"""By name; None where the folder lacks the data of a subject. What is invented needs none."""


def run(
    rig: MemoryRig,
    data: Path,
    model: Callable[[], BaseModel] | None = None,
    questions: int = QUESTIONS,
    only: Sequence[str] = (),
) -> BenchResult:
    """Measure the subjects named, else all that a folder has data for and those that need none.

    model: gives the language model that judges so many answers; without it none are judged. Raises UsageError for a
    subject that does not exist, or where none of those named can be measured.
    """
    asked: dict[str, Measure] = {"pipeline": partial(measure_pipeline, model=model, questions=questions)}
    every = {**SUBJECTS, **asked}
    unknown = [name for name in only if name not in every]
    if unknown:
        raise UsageError(f"There is no subject {unknown[0]!r}.", way_out=f"Choose of: {', '.join(every)}.")
    found = measured(rig, data, {name: one for name, one in every.items() if not only or name in only})
    if only and not found:
        raise UsageError(
            f"There is no data for {', '.join(only)}, or no model was asked for.",
            way_out="Give a folder that has it, and a number of questions.",
        )
    made = joined(found.values())
    return BENCH.result({"subjects": list(found)}, dict(made.metrics), made.tables, goals=dict(made.goals))
