"""Measuring the recorder of other memories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Option
from benchmarks.commands.rigs import bench, memory_rig

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from benchmarks.bench_results import BenchResult


@bench(
    "recorder",
    summary="Measure the recorder of other memories, and the comparison of memories.",
    example="recorder --data locomo",
)
def bench_recorder(
    engine: Engine,
    *,
    data: Annotated[
        Path | None,
        Option("--data", metavar="DIR", help="Conversations in LoCoMo's format; without, nothing is compared."),
    ] = None,
    kills: Annotated[int, Option("--kills", metavar="N", min=0, help="How often it is killed.")] = 100,
    bodies: Annotated[int, Option("--bodies", metavar="N", min=0, help="How many hostile bodies it gets.")] = 2_000,
    seconds: Annotated[int, Option("--seconds", metavar="N", min=1, help="How long it takes spans.")] = 10,
    causes: Annotated[
        int, Option("--causes", metavar="N", min=0, help="How many causes are planted for `bisect`.")
    ] = 150,
    progress: Progress,
) -> BenchResult:
    """Send the examples of the conventions through it and back and count what is lost; send spans as fast as it takes
    them; kill it while it does, and look for every body that it acknowledged; send hostile bodies; plant what an audit
    and a use should find, beside the same where there is nothing to find; compare memories on LoCoMo, where recall is
    known; and plant causes of sentences in windows, for `bisect` and what needs fewer calls or more. Does not touch the
    session's own store.
    """
    from benchmarks.recorder.bench import run

    rig, model = memory_rig(engine, progress), engine.load_model(progress) if causes else None
    return run(rig, data, kills=kills, bodies=bodies, seconds=seconds, model=model, causes=causes)
