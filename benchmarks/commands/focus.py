"""Measuring the focus engine: `python -m benchmarks focus-NAME`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack

from amgs_app.calls.marks import Default, Option, Takes
from benchmarks.commands.rigs import bench, embedder_of, focus_rig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.records import Segment
    from amgs_focus.runtime.runtime import FocusRuntime
    from benchmarks.bench_results import BenchResult

OutFolder = Annotated[
    Path | None,
    Option("--out", metavar="DIR", help="Where to keep the measured rows; default: the data folder."),
    Takes("folder", writes=True),
    Default(None),
]
Places = Annotated[int, Option("--places", metavar="N", min=2, help="Places in the text that are measured.")]
Window = Annotated[int, Option("--window", metavar="N", min=1, help="W_max.")]


class TextOptions(TypedDict):
    """What every bench of the focus may be told."""

    text: Annotated[
        list[Path] | None,
        Option("--text", metavar="FILE", help="A text that the gists were not trained on; may be repeated."),
        Default(None),
    ]
    gist: Annotated[
        Path | None,
        Option("--gist", metavar="FILE", help="A gist checkpoint; default: the setting model.gists."),
        Default(None),
    ]
    quick: Annotated[bool, Option("--quick", help="A short run on a fraction of the places."), Default(False)]


class LensOptions(TextOptions):
    """What one that scores is told, too."""

    lens: Annotated[
        Path | None,
        Option("--lens", metavar="FILE", help="A lens checkpoint; default: the setting focus.lens."),
        Default(None),
    ]


class KeptOptions(LensOptions):
    """What one that keeps its rows is told, too."""

    out: OutFolder


class GistOptions(TextOptions):
    """What one is told that measures gists alone."""

    code: Annotated[
        bool, Option("--code/--no-code", help="Also measure held-out packages of the standard library."), Default(True)
    ]
    out: OutFolder


@bench(
    "focus-gist",
    summary="Measure how well gists stand in for the spans they replace.",
    example="focus-gist --text novel.txt --quick",
)
def bench_gist(
    engine: Engine,
    *,
    windows: Annotated[int, Option("--windows", metavar="N", min=2, help="Places measured per condition.")] = 48,
    progress: Progress,
    **shared: Unpack[GistOptions],
) -> BenchResult:
    """Replace blocks by their gists and score what follows, compared with full text, nothing, means, pointers, as many
    raw tokens, and with gists of another place, of another text and one constant.

    An interrupted run continues from the rows in the folder.
    """
    from benchmarks.focus_gist import BENCH, run

    return run(focus_rig(engine, progress, BENCH, scored=False, **shared), windows=windows)


@bench(
    "focus-policy",
    summary="Measure what the focus costs or gains while nothing is asked.",
    example="focus-policy --text novel.txt --quick",
)
def bench_policy(
    engine: Engine,
    *,
    places: Places = 8,
    code: Annotated[bool, Option("--code", help="Also held-out packages of the standard library.")] = False,
    progress: Progress,
    **shared: Unpack[KeptOptions],
) -> BenchResult:
    """Stream texts by and compare the shipped rule, random opening and the specification's thresholds with a window
    that stands still: entries changed, and NLL and KL of the next tokens.

    An interrupted run continues from the rows in the folder.
    """
    from benchmarks.focus_policy import BENCH, run

    return run(focus_rig(engine, progress, BENCH, code=code, **shared), places=places)


@bench(
    "focus-passkey",
    summary="Find keys planted in lifetimes of up to a million tokens.",
    example="focus-passkey --text novel.txt --quick",
)
def bench_passkey(
    engine: Engine,
    *,
    keys: Annotated[int, Option("--keys", metavar="N", min=2, help="Keys per lifetime.")] = 24,
    sizes: Annotated[
        list[str] | None, Option("--size", metavar="NAME", help="Only 4k, 32k, 256k or 1M; may be repeated.")
    ] = None,
    progress: Progress,
    **shared: Unpack[KeptOptions],
) -> BenchResult:
    """Plant pass keys at every depth and ask for each: was it expanded, and was it answered?

    Lifetimes are built once and kept in the folder; a size that the texts cannot fill is skipped.
    """
    from amgs.errors import UsageError
    from benchmarks.focus_passkey import BENCH, SIZES, run

    if unknown := [name for name in sizes or () if name not in SIZES]:
        raise UsageError(f"Unknown size: {unknown[0]}.", way_out=f"Sizes are {', '.join(SIZES)}.")
    rig = focus_rig(engine, progress, BENCH, **shared)
    return run(rig, sizes={name: SIZES[name] for name in sizes or SIZES}, keys=keys)


@bench(
    "focus-latency",
    summary="Measure what decoding a block costs with the focus.",
    example="focus-latency --text novel.txt --quick",
)
def bench_latency(
    engine: Engine,
    *,
    rounds: Annotated[int, Option("--rounds", metavar="N", min=1, help="Rounds; medians are shown.")] = 3,
    window: Window = 512,
    progress: Progress,
    **shared: Unpack[KeptOptions],
) -> BenchResult:
    """Split the time of a 32-token block into ingest, gist, lens, allocate, prefill and decode, at cadences of 32,
    128 and 256, beside the frozen model alone at the same window. Run it on an otherwise idle machine.
    """
    from benchmarks.focus_latency import BENCH, run

    rig = focus_rig(engine, progress, BENCH, **shared)
    return run(rig, rounds=rounds, window=window)


@bench(
    "focus-c1c2",
    summary="Measure whether the question decides what gets detail.",
    example="focus-c1c2 --text novel.txt --quick",
)
def bench_c1c2(
    engine: Engine,
    *,
    pairs: Annotated[
        int, Option("--pairs", metavar="N", min=2, help="Pairs of lifetimes that differ in the question.")
    ] = 200,
    progress: Progress,
    **shared: Unpack[KeptOptions],
) -> BenchResult:
    """Put two facts among other text and ask two questions: does the fact that is asked about score higher each time?
    Compares the session's lens with the baseline and with the lens's causal twin, which cannot know the question.

    An interrupted run continues from the rows in the folder.
    """
    from benchmarks.focus_c1c2 import BENCH, run

    rig = focus_rig(engine, progress, BENCH, **shared)
    return run(rig, pairs=pairs)


@bench(
    "focus-questions",
    summary="Measure whether questions are answered right, and from which block.",
    example="focus-questions --text novel.txt --asked 4",
)
def bench_questions(
    engine: Engine,
    *,
    asked: Annotated[
        int | None, Option("--asked", metavar="N", min=1, help="Only the first N of 32 facts, each asked twice.")
    ] = None,
    sizes: Annotated[
        list[str] | None, Option("--size", metavar="NAME", help="Only 7k or 65k; may be repeated.")
    ] = None,
    progress: Progress,
    **shared: Unpack[KeptOptions],
) -> BenchResult:
    """Plant statements in a text, ask for each in its own words and in other words, and count right answers: with the
    focus, with retrieval, with the latest text, with nothing; and whether the block that a right answer depends on
    holds the statement.

    Lifetimes and rows are kept in the folder; a size that the texts cannot fill is skipped.
    """
    from amgs.errors import UsageError
    from benchmarks.focus_questions import BENCH, SIZES, read_facts, run

    if unknown := [name for name in sizes or () if name not in SIZES]:
        raise UsageError(f"Unknown size: {unknown[0]}.", way_out=f"Sizes are {', '.join(SIZES)}.")
    rig = focus_rig(engine, progress, BENCH, **shared)
    chosen = {name: SIZES[name] for name in sizes or SIZES}
    return run(rig, read_facts(), embedder_of(engine), sizes=chosen, asked=asked)


@bench(
    "focus-sample",
    summary="Measure how many questions to the sample the model answers.",
    example="focus-sample --asked 10",
)
def bench_sample(
    engine: Engine,
    *,
    asked: Annotated[int | None, Option("--asked", metavar="N", min=1, help="Only the first N of 30.")] = None,
    out: OutFolder,
    progress: Progress,
) -> BenchResult:
    """Assemble a frame for each question to the sample, open it, and count right answers and loops: with the focus,
    with retrieval, with the latest text, with nothing.

    The store is the session's, which has to hold the sample. An interrupted run continues from the rows in the folder.
    """
    from amgs_app.models.choice import segments_of_frame
    from amgs_app.places.folders import data_folder
    from benchmarks.focus_sample import read_questions, run

    def open_frame(question: str) -> tuple[Sequence[Segment], FocusRuntime]:
        segments = segments_of_frame(engine.memory.assemble("SESSION", query=question, reinforce=False))
        return segments, engine.open_focus(segments, question)

    settings = {**engine.settings.focus.model_dump(), "model": engine.load_model(progress).card.name}
    folder = data_folder(engine.settings.paths) / "bench" if out is None else out
    return run(read_questions()[:asked], open_frame, embedder_of(engine), folder, settings, progress)


@bench(
    "focus-stability",
    summary="Measure how stable the working context is.",
    example="focus-stability --text novel.txt --quick",
)
def bench_stability(engine: Engine, *, progress: Progress, **shared: Unpack[LensOptions]) -> BenchResult:
    """Stream a text through refocuses and count swaps, residency and ping-pong, with the shipped scorers, the same
    with noise, and adversarial ones.
    """
    from benchmarks.focus_stability import BENCH, run

    return run(focus_rig(engine, progress, BENCH, **shared))
