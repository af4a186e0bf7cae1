"""Measuring whether the working context keeps still: `bench focus-stability`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs_app.operations.bench import AsJson
from amgs_app.operations.bench_focus import GistFile, LensFile, Quick, TextFiles, encoder_of, scorers_of
from amgs_app.operations.operation import operation

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.benches.frame import BenchResult
    from amgs_app.engine import Engine


@operation("bench focus-stability", summary="Measure how stable the working context is.", long=True)
def bench_stability(
    engine: Engine,
    *,
    text: TextFiles = None,
    gist: GistFile = None,
    lens: LensFile = None,
    quick: Quick = False,
    as_json: AsJson = False,
    progress: Progress,
) -> BenchResult:
    """Stream a text through refocuses and count swaps, residency and ping-pong, with the shipped scorers, the same
    with noise, and adversarial ones.
    """
    from amgs_app.benches import focus_stability
    from amgs_app.benches.focus_texts import read_texts

    del as_json
    model = engine.load_model(progress)
    corpus = read_texts(model, text, "focus-stability")
    encoder, scorers = encoder_of(engine, model, gist), scorers_of(engine, model, lens)
    return focus_stability.run(model, encoder, scorers, corpus, quick=quick, progress=progress)
