"""Measuring packs: `python -m benchmarks packs`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Option
from benchmarks.commands.rigs import bench, memory_rig

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from benchmarks.bench_results import BenchResult


@bench("packs", summary="Measure what each layer of packs brings.", example="packs --data data")
def bench_packs(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="A folder with multihop/ and others.")],
    questions: Annotated[int, Option("--questions", metavar="N", min=1, help="Questions of each memory.")] = 5,
    progress: Progress,
) -> BenchResult:
    """Measure what the text of packs holds of what answers, with each layer alone and with each left out, beside a
    frame and the likeliest texts without packs. Does not touch the session's own store.
    """
    from amgs_app.views.packs.commands import attention_of
    from benchmarks.packs.layers import run

    return run(memory_rig(engine, progress), data, questions, attention_of(engine))
