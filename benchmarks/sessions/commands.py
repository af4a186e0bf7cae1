"""Measuring what is told of agents' sessions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs_app.calls.marks import Option
from benchmarks.commands.rigs import bench

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from benchmarks.bench_results import BenchResult


@bench(
    "sessions",
    summary="Measure the reading of agents' sessions, and what is called regret.",
    example="sessions --data sessions",
)
def bench_sessions(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="A folder of session files.")],
    mutations: Annotated[
        int, Option("--mutations", metavar="N", min=0, help="How many damaged files are opened.")
    ] = 2_000,
    strategies: Annotated[
        bool, Option("--strategies/--no-strategies", help="Also replay our own ways to drop.")
    ] = True,
    only: Annotated[
        Literal["", "bytes", "brief", "price", "ways", "speed", "damage"], Option("--only", help="Only this part.")
    ] = "",
    progress: Progress,
) -> BenchResult:
    """Read every session file below a folder; hold what is read against a count of the bytes, and what was needed again
    after compactions against the same rule where nothing was compacted, and against other ways to drop as much; and
    measure the list of a thousand files, the first screen of a large one, and damaged ones. Nothing is kept.
    """
    from benchmarks.bench_results import Rig
    from benchmarks.sessions.bench import run

    return run(Rig(progress=progress, seed=engine.seed), data, mutations=mutations, strategies=strategies, only=only)
