"""Measuring: `bench NAME`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amgs_tui.verbs.registry import Takes, verb

if TYPE_CHECKING:
    from amgs.model import Progress
    from amgs_tui.benches.frame import BenchResult
    from amgs_tui.session import Session

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object, as with --format json.")]


@verb("bench locomo", summary="Measure retrieval on conversations in LoCoMo's format.", long=True)
def bench_locomo(
    session: Session,
    *,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The folder of conversations.")
    ] = None,
    as_json: AsJson = False,
    progress: Progress,
) -> BenchResult:
    """Protocol turn-R: a store for each conversation, a block for each turn, the question as the query.

    Gives recall, nDCG and MRR by category, the reference methods beside them, what each layer is worth,
    latency, and how well a question without an answer is told. Leaves the session's own store alone.
    """
    from amgs.errors import UsageError
    from amgs_tui.benches import locomo
    from amgs_tui.models import text_models

    del as_json  # read by whoever writes the result
    if data is None:
        raise UsageError(
            "The bench needs conversations, and none were given.",
            way_out="Give their folder: `bench locomo --data DIR`.",
        )
    embedder, _, _ = text_models(session.model_spec, session.settings.model, lambda: None)
    return locomo.run(data, embedder, progress=progress)


@verb("bench search", summary="Measure how long a search takes in stores of any size.", long=True)
def bench_search(
    session: Session,
    *,
    blocks: Annotated[
        str, typer.Option("--blocks", metavar="N,N", help="Sizes of the stores.")
    ] = "10000,100000",
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="A folder of books as .txt files.")
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option("--work", metavar="DIR", help="Where stores are kept for the next run."),
        Takes("folder", made=True),
    ] = None,
    questions: Annotated[int, typer.Option("--questions", metavar="N", min=1, help="Timed.")] = 200,
    frames: Annotated[int, typer.Option("--frames", metavar="N", min=2, help="Timed.")] = 40,
    sample: Annotated[int, typer.Option("--sample", metavar="N", min=1, help="Embedded texts.")] = 3000,
    as_json: AsJson = False,
    progress: Progress,
) -> BenchResult:
    """Fills stores with the books' paragraphs, varied until there are enough, and asks their sentences: search,
    the SESSION frame, opening; beside them bm25s with NumPy, and the database's own scan.

    Without --work the stores are gone afterwards. A million blocks take about 12 GiB of disk and half an hour.
    """
    import tempfile

    from amgs.errors import UsageError
    from amgs_tui.benches import search
    from amgs_tui.models import text_models

    del as_json  # read by whoever writes the result
    if data is None:
        raise UsageError(
            "The bench needs books, and none were given.",
            way_out="Give their folder: `bench search --data DIR`.",
        )
    sizes = [int(size) for size in blocks.replace("_", "").split(",") if size.strip().isdecimal()]
    if not sizes or min(sizes) < 100:
        raise UsageError(
            f"{blocks!r} names no sizes.", way_out="Give numbers from 100 on: `--blocks 10000,100000`."
        )
    embedder, _, count_tokens = text_models(session.model_spec, session.settings.model, lambda: None)
    effort = search.Effort(questions, frames, sample)
    with tempfile.TemporaryDirectory() as temporary:
        kept = work or Path(temporary)
        return search.run(data, embedder, count_tokens, sizes, kept, effort=effort, progress=progress)


@verb(
    "bench metrics", summary="Measure the six success metrics on a corpus with labelled questions.", long=True
)
def bench_metrics(
    session: Session,
    *,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="Notes with questions.jsonl; else the sample."),
    ] = None,
    as_json: AsJson = False,
    progress: Progress,
) -> BenchResult:
    """A memory lives for some days with two thirds of the questions, and recalibrates by the labels; the last third is
    asked afterwards only. Gives precision, recall, coherence, graph stability, Brier score and stability of attention.
    """
    from amgs_tui.benches import metrics
    from amgs_tui.models import text_models

    del as_json  # read by whoever writes the result
    embedder, _, _ = text_models(session.model_spec, session.settings.model, lambda: None)
    folder = session.corpus.path if data is None else data
    return metrics.run(folder, embedder, seed=session.seed, progress=progress)


@verb("bench tui", summary="Measure how soon the screen answers.", long=True)
def bench_tui(
    session: Session,
    *,
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=1, help="Of the long table.")] = 100_000,
    acts: Annotated[int, typer.Option("--acts", metavar="N", min=1, help="Of the hour of use.")] = 600,
    as_json: AsJson = False,
    progress: Progress,
) -> BenchResult:
    """Runs the program in terminals of its own and presses keys: starting, while models load, while one decodes
    and a consolidation runs, over a long table, for an hour of acts; and draws the map of a million tokens.

    Uses the session's model (`--model`), and stores in a temporary folder.
    """
    from amgs_tui.benches import tui

    del as_json  # read by whoever writes the result
    return tui.run(session.model_spec, rows=rows, acts=acts, progress=progress)


@verb("bench ingest", summary="Measure taking in and consolidating many blocks.", long=True)
def bench_ingest(
    session: Session,
    *,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="A folder of books, as .txt files.")
    ] = None,
    blocks: Annotated[int, typer.Option("--blocks", metavar="N", min=1, help="Blocks.")] = 100_000,
    sample: Annotated[
        int, typer.Option("--sample", metavar="N", min=1, help="Of them, with the real models.")
    ] = 2048,
    as_json: AsJson = False,
    progress: Progress,
) -> BenchResult:
    """Takes in paragraphs of the books, brings the keyword index up to date, and consolidates: all but a sample
    with stand-ins for the models, the sample with the real ones into the store that holds the others.

    The real models are in memory throughout, and the peak of memory is that of the whole process.
    """
    from amgs.errors import UsageError
    from amgs_tui.benches import ingest

    del as_json
    if data is None:
        raise UsageError(
            "The bench needs texts, and none were given.",
            way_out="Give a folder of books: `bench ingest --data DIR`.",
        )
    settings = session.settings.model
    models = {"embedder": settings.embedder, "recogniser": settings.recogniser}
    return ingest.run(
        data,
        blocks=blocks,
        sample=sample,
        model=session.model_spec,
        models=models,
        seed=session.seed,
        progress=progress,
    )
