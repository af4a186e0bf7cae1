"""Training gists on one's own texts: `focus train gistnet`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.training.records import Staged, TrainedRun
    from amgs_focus.training.run_config import RunConfig

ConfigKind = TypeVar("ConfigKind", bound="RunConfig")
Config = Annotated[
    Path, Arg(metavar="CONFIG", help="The run's TOML file; see docs/training.md."), Takes("file")
]
Resume = Annotated[bool, Option("--resume", help="Resume the run in the folder, if there is one.")]
Steps = Annotated[
    int | None, Option("--steps", metavar="N", min=1, help="Stop after N steps; --resume continues.")
]
Out = Annotated[
    Path | None,
    Option("--out", metavar="DIR", help="The run's folder; default: `out` in the file."),
    Takes("folder", made=True),
]


@operation(
    "focus train gistnet",
    lane="model",
    needs="operate",
    summary="Train gists on your own texts.",
    example="focus train gistnet gist.toml --steps 100",
    long=True,
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
    from amgs_focus.training import corpus, gist_run
    from amgs_focus.training.run_config import read_config

    told = cached(engine, read_config(config), out)
    if stage:
        return corpus.stage(told.data, gist_run.base_model(told, progress), progress)
    return gist_run.train_gistnet(told, clock=engine.clock, progress=progress, resume=resume, steps=steps)


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
