"""Measuring the lens: `bench focus-c1c2`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs_app.operations.bench import AsJson
from amgs_app.operations.bench_focus import (
    GistFile,
    LensFile,
    OutFolder,
    Quick,
    TextFiles,
    _folder,
    encoder_of,
    scorers_of,
)
from amgs_app.operations.marks import Option
from amgs_app.operations.operation import operation

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.benches.frame import BenchResult
    from amgs_app.engine import Engine


@operation("bench focus-c1c2", summary="Measure whether the question decides what gets detail.", long=True)
def bench_c1c2(
    engine: Engine,
    *,
    text: TextFiles = None,
    gist: GistFile = None,
    lens: LensFile = None,
    pairs: Annotated[
        int,
        Option("--pairs", metavar="N", min=2, help="Pairs of lifetimes that differ in the question."),
    ] = 200,
    out: OutFolder = None,
    quick: Quick = False,
    as_json: AsJson = False,
    progress: Progress,
) -> BenchResult:
    """Put two facts among other text and ask two questions: does the fact that is asked about score higher each time?
    Compares the session's lens with the baseline and with the lens's causal twin, which cannot know the question.

    An interrupted run continues from the rows in the folder.
    """
    from amgs_app.benches import focus_c1c2
    from amgs_app.benches.focus_texts import read_texts

    del as_json
    model = engine.load_model(progress)
    return focus_c1c2.run(
        model,
        encoder_of(engine, model, gist),
        scorers_of(engine, model, lens),
        read_texts(model, text, "focus-c1c2"),
        _folder(engine, out),
        pairs=pairs,
        quick=quick,
        progress=progress,
    )
