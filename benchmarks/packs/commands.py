"""Measuring packs: `python -m benchmarks packs`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Option
from benchmarks.commands.rigs import bench, memory_rig

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from benchmarks.bench_results import BenchResult


@bench("packs", summary="Measure how packs are kept, chosen and read.", example="packs --data data")
def bench_packs(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="A folder with multihop/ and others.")],
    questions: Annotated[
        int, Option("--questions", metavar="N", min=0, help="Answers that the language model judges; 0: none.")
    ] = 0,
    only: Annotated[str, Option("--only", metavar="NAME,NAME", help="These subjects; else all.")] = "",
    progress: Progress,
) -> BenchResult:
    """Measure every subject that the folder has data for, each with its controls and its ceiling beside it: which packs
    of an invented year are there when they are needed, which a question is given, which sentences of them, and what
    the text of all packs holds beside a frame of as many tokens. With --questions the language model of the session
    judges answers after that text as well, which takes some minutes for every thirty.

    Does not touch the session's own store.
    """
    from benchmarks.packs.run import run

    model = partial(engine.load_model, progress) if questions else None
    names = tuple(name for name in only.replace(" ", "").split(",") if name)
    return run(memory_rig(engine, progress), data, model, questions, names)
