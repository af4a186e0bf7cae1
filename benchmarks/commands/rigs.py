"""What several benches take, and the rigs they run on, made of the session's engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TypeVar

from amgs_app.calls.marks import Option, Takes
from amgs_app.calls.operation import Operation, operation

if TYPE_CHECKING:
    from amgs.text.embedding import Embedder
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.gist import GistEncoder
    from amgs_focus.lens.scoring import FocusScorer
    from amgs_focus.model.base_model import BaseModel
    from benchmarks.bench_results import Bench, MemoryRig
    from benchmarks.focus_rig import FocusRig

P = ParamSpec("P")
R = TypeVar("R")

Books = Annotated[Path, Option("--data", metavar="DIR", help="A folder of books as .txt files.")]
WorkFolder = Annotated[
    Path | None,
    Option("--work", metavar="DIR", help="Keep the stores here for the next run."),
    Takes("folder", writes=True),
]


def bench(name: str, *, summary: str, example: str) -> Callable[[Callable[Concatenate[Any, P], R]], Operation[P, R]]:
    """Make a function that measures a benchmark: it takes its time, and its result may be had as JSON."""
    return operation(name, summary=summary, example=example, long=True, json=True)


def sizes_of(blocks: str) -> tuple[int, ...]:
    """The sizes of stores that were listed; raises UsageError for what is none."""
    from amgs.errors import UsageError

    listed = [size.strip() for size in blocks.replace("_", "").split(",")]
    if not all(size.isdecimal() and int(size) >= 100 for size in listed):
        raise UsageError(
            f"{blocks!r} is not a list of sizes.", way_out="Give numbers of at least 100: `--blocks 10000,100000`."
        )
    return tuple(map(int, listed))


def names_of(only: str) -> tuple[str, ...]:
    """The subjects that were listed, none for all."""
    return tuple(name.strip() for name in only.split(",")) if only else ()


def memory_rig(engine: Engine, progress: Progress) -> MemoryRig:
    """The rig of a bench of the memory engine, with the models of the session."""
    from amgs_app.models.choice import text_models
    from benchmarks.bench_results import MemoryRig

    embedder, _, count_tokens = text_models(engine.model_spec, engine.settings.model, lambda: None)
    return MemoryRig(progress=progress, seed=engine.seed, embedder=embedder, count_tokens=count_tokens)


def focus_rig(
    engine: Engine,
    progress: Progress,
    measured: Bench,
    *,
    text: Sequence[Path] | None = None,
    code: bool = False,
    gist: Path | None = None,
    lens: Path | None = None,
    out: Path | None = None,
    quick: bool = False,
    scored: bool = True,
) -> FocusRig:
    """What the options that the benches share ask for. scored: whether the bench needs a scorer.

    Raises UsageError where no text is named.
    """
    from amgs_app.places.folders import data_folder
    from amgs_focus.lens.question_search import QuestionSearch
    from benchmarks.focus_rig import FocusRig, held_out_code, read_texts

    model = engine.load_model(progress)
    corpora = [read_texts(model, text, measured.name)]
    encoder = engine.text_encoder()
    return FocusRig(
        progress=progress,
        seed=engine.seed,
        model=model,
        corpora=[*corpora, held_out_code(model)] if code else corpora,
        encoder=encoder_of(engine, model, gist),
        scorers=scorers_of(engine, model, lens) if scored else (),
        out=data_folder(engine.settings.paths) / "bench" if out is None else out,
        search=None if encoder is None else QuestionSearch(encoder),
        quick=quick,
    )


def embedder_of(engine: Engine) -> Embedder:
    """The application's, for retrieval by meaning."""
    from amgs_app.models.choice import text_models

    return text_models(engine.model_spec, engine.settings.model, lambda: None)[0]


def scorers_of(engine: Engine, model: BaseModel, lens: Path | None = None) -> list[FocusScorer]:
    """That of `lens` or of the settings first, then the baseline, where that is another."""
    from amgs_focus.lens.lensnet import find_scorer
    from amgs_focus.lens.scoring import TailSimilarity

    own = find_scorer(model, str(lens) if lens else engine.settings.focus.lens, engine.checkpoints)
    return [own] if own.name == TailSimilarity.name else [own, TailSimilarity()]


def encoder_of(engine: Engine, model: BaseModel, gist: Path | None) -> GistEncoder:
    """The checkpoint that was named, else what the settings say; raises CheckpointError."""
    from amgs_app.models.choice import gist_encoder

    told = engine.settings.model
    named = told if gist is None else told.model_copy(update={"gists": str(gist)})
    return gist_encoder(model, named, engine.checkpoints)
