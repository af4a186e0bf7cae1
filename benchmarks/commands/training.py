"""Training gists, lenses, adapters and the joint schedule: `python -m benchmarks train-NAME`, `label`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.model.base_model import BaseModel
    from benchmarks.focus_training.joint_config import JointRunConfig
    from benchmarks.focus_training.lens_labels import LabelReport
    from benchmarks.focus_training.lens_runs import LensText
    from benchmarks.focus_training.records import Staged, TrainedRun
    from benchmarks.focus_training.run_config import RunConfig

ConfigKind = TypeVar("ConfigKind", bound="RunConfig")
Config = Annotated[
    Path, Arg(metavar="CONFIG", help="The run's TOML file; see benchmarks/focus_training/GISTS.md."), Takes("file")
]
Resume = Annotated[bool, Option("--resume", help="Resume the run in the folder, if there is one.")]
Steps = Annotated[int | None, Option("--steps", metavar="N", min=1, help="Stop after N steps; --resume continues.")]
Out = Annotated[
    Path | None,
    Option("--out", metavar="DIR", help="The run's folder; default: `out` in the file."),
    Takes("folder", writes=True),
]
Texts = Annotated[
    list[Path], Arg(metavar="TEXT", help="Text files, or folders of them (.txt, .md, .py)."), Takes("file")
]
SUFFIXES = (".txt", ".md", ".py")


@operation(
    "label",
    summary="Measure what detail was worth, for training a lens.",
    example="label books/*.txt --out labels",
    long=True,
)
def label(
    engine: Engine,
    texts: Texts,
    *,
    out: Annotated[
        Path, Option("--out", metavar="DIR", help="Where to keep the labels."), Takes("folder", writes=True)
    ],
    snapshots: Annotated[
        int, Option("--snapshots", metavar="N", min=1, help="How many snapshots the folder should hold.")
    ] = 50,
    exact: Annotated[int, Option("--exact", metavar="N", min=1, help="Candidates measured per snapshot.")] = 12,
    together: Annotated[
        int, Option("--together", metavar="N", min=0, help="Sets of blocks measured as a whole per snapshot.")
    ] = 6,
    horizon: Annotated[
        list[int] | None,
        Option("--horizon", metavar="H", min=1, help="Tokens ahead; if repeated, one is drawn each time."),
    ] = None,
    blocks: Annotated[int, Option("--blocks", metavar="N", min=2, help="At most N blocks per lifetime.")] = 90,
    facts: Annotated[float, Option("--facts", min=0, max=1, help="Share of made-up facts with a question.")] = 0.3,
    progress: Progress | None = None,
) -> LabelReport:
    """Draw runs over the texts, stop each at a snapshot, and measure by exact recomputation what candidates for
    expansion and collapse are worth to the next tokens.

    Writes one Parquet file per snapshot; an interrupted run adds those that are missing. With the same seed, snapshot
    N is always the same.
    """
    from amgs_app.models.choice import gist_encoder
    from amgs_focus.lens.lensnet import find_scorer as lens_for
    from benchmarks.focus_training.lens_labels import label_runs
    from benchmarks.focus_training.lens_runs import LensRuns

    model = engine.load_model(progress)
    runs = LensRuns(
        seed=engine.seed, blocks=(min(30, blocks), blocks), horizons=tuple(horizon or (32, 64)), facts=facts
    )
    return label_runs(
        out,
        _read(model, texts),
        runs,
        model,
        gist_encoder(model, engine.settings.model, engine.checkpoints),
        lens_for(model, engine.settings.focus.lens, engine.checkpoints),
        snapshots=snapshots,
        exact=exact,
        together=together,
        progress=progress,
    )


@operation(
    "train-gistnet", summary="Train gists on your own texts.", example="train-gistnet gist.toml --steps 100", long=True
)
def train_gistnet(
    engine: Engine,
    config: Config,
    *,
    resume: Resume = False,
    steps: Steps = None,
    out: Out = None,
    stage: Annotated[bool, Option("--stage", help="Only tokenise the texts.")] = False,
    progress: Progress | None = None,
) -> TrainedRun | Staged:
    """Train the net for tokens, then the net for gists above it, and write both as one checkpoint with its card.

    --stage only tokenises the texts that `data.texts` names into block-aligned Arrow files that record their source;
    training does that by itself, and keeps what has not changed.

    Stopping keeps the state: the same command with --resume continues from that step as if it had never stopped.
    """
    from benchmarks.focus_training import corpus, gist_run
    from benchmarks.focus_training.run_config import read_config

    told = cached(engine, read_config(config), out)
    if stage:
        return corpus.stage(told.data, gist_run.base_model(told, progress), progress)
    return gist_run.train_gistnet(told, clock=engine.clock, progress=progress, resume=resume, steps=steps)


@operation(
    "train-lensnet",
    summary="Train a lens on measured labels.",
    example="train-lensnet books/*.txt --labels labels --out lens",
    long=True,
)
def train_lensnet(
    engine: Engine,
    texts: Texts,
    *,
    labels: Annotated[
        list[Path], Option("--labels", metavar="DIR", help="A folder written by `label`; may be repeated.")
    ],
    out: Annotated[Path, Option("--out", metavar="DIR", help="The run's folder."), Takes("folder", writes=True)],
    name: Annotated[str, Option("--name", help="Name of the checkpoint.")] = "lensnet",
    held_out: Annotated[
        list[str] | None, Option("--held-out", metavar="TEXT", help="Name of a text used for validation only.")
    ] = None,
    warm: Annotated[int, Option("--warm", metavar="N", min=0, help="Lifetimes for the warm start; 0 for none.")] = 100,
    warm_steps: Annotated[int, Option("--warm-steps", metavar="N", min=0, help="Steps of the warm start.")] = 400,
    steps: Annotated[
        int, Option("--steps", metavar="N", min=1, help="Steps on measured labels after the warm start.")
    ] = 100,
    resume: Annotated[bool, Option("--resume", help="Resume the run in the folder, if there is one.")] = False,
    progress: Progress | None = None,
) -> TrainedRun:
    """Train first on labels guessed from the texts, then on measured ones, validating on the held-out texts on the
    way.

    Writes the checkpoint and its card into the folder; `[focus] lens = "PATH"` in the settings uses it. Stopping
    keeps the last saved step.
    """
    from amgs_app.models.choice import gist_encoder
    from amgs_focus.lens.lensnet import LensShape
    from benchmarks.focus_training.lens_run import LensJob, train_lensnet
    from benchmarks.focus_training.lens_runs import LensRuns
    from benchmarks.focus_training.lens_training import LensTraining

    model = engine.load_model(progress)
    guessed = warm_steps if warm else 0
    settings = LensTraining(LensShape(model.card.width), warm_steps=guessed, steps=guessed + steps, seed=engine.seed)
    job = LensJob(
        name=name,
        out=out,
        labels=tuple(labels),
        texts=tuple(_read(model, texts)),
        held_out=frozenset(held_out or ()),
        warm=warm,
        runs=LensRuns(seed=engine.seed, blocks=(30, 90)),
    )
    gist = gist_encoder(model, engine.settings.model, engine.checkpoints)
    return train_lensnet(job, settings, model, gist, clock=engine.clock, progress=progress, resume=resume)


@operation(
    "train-lora",
    summary="Train a LoRA adapter for working contexts (phase B3).",
    example="train-lora lora.toml --steps 100",
    long=True,
)
def train_lora(
    engine: Engine,
    config: Config,
    *,
    resume: Resume = False,
    steps: Steps = None,
    out: Out = None,
    progress: Progress | None = None,
) -> TrainedRun:
    """Train a small adapter on the frozen base so that it reads a mix of gists and tokens, and report its effect.

    It is compared with the base model without it on held-out texts; an adapter without effect is not kept.
    """
    from benchmarks.focus_training import joint_run

    told = _run_of(engine, config, out)
    return joint_run.train_lora(told, clock=engine.clock, progress=progress, resume=resume, steps=steps)


@operation(
    "train-joint",
    summary="Train gists, lens and LoRA in turns.",
    example="train-joint joint.toml --steps 100",
    long=True,
)
def train_joint(
    engine: Engine,
    config: Config,
    *,
    resume: Resume = False,
    steps: Steps = None,
    out: Out = None,
    progress: Progress | None = None,
) -> TrainedRun:
    """Run cycles of B1 (gists), B2 (lens) and B3 (LoRA); each phase trains one of them while the others stay frozen.

    A phase that does not beat its own frozen ablation on held-out texts is reported as without effect and reverted.
    """
    from benchmarks.focus_training import joint_run

    told = _run_of(engine, config, out)
    return joint_run.train_joint(told, clock=engine.clock, progress=progress, resume=resume, steps=steps)


def cached(engine: Engine, config: ConfigKind, out: Path | None) -> ConfigKind:
    """The configuration with the run's folder, if one is named, and the workstation's own cache for unpacked models
    where it names none.
    """
    from amgs_app.places.folders import model_cache

    told = config
    if told.model.cache is None:
        cache = model_cache(engine.settings.paths)
        told = told.model_copy(update={"model": told.model.model_copy(update={"cache": cache})})
    return told if out is None else told.model_copy(update={"out": out})


def _read(model: BaseModel, named: list[Path]) -> list[LensText]:
    """Text files as token ids. A file is its own group; those of a folder are one group, under its name.

    Raises InputError for what cannot be read.
    """
    from amgs.errors import InputError
    from amgs.incoming import read_text
    from benchmarks.focus_training.lens_runs import LensText

    found = []
    for path in named:
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
        if not files:
            raise InputError(f"{path} contains no text files.", way_out=f"Texts end in {', '.join(SUFFIXES)}.")
        for file in files:
            group = path.stem
            told = str(file.relative_to(path)) if path.is_dir() else file.stem
            found.append(LensText(told, group, tuple(model.encode(read_text(file, "Give a text file.")))))
    return found


def _run_of(engine: Engine, file: Path, out: Path | None) -> JointRunConfig:
    """The run that a file describes, phases included."""
    from benchmarks.focus_training.joint_config import JointRunConfig
    from benchmarks.focus_training.run_config import read_as

    return cached(engine, read_as(JointRunConfig, file), out)
