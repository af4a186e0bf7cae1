"""A GistNet run from its configuration: stage the texts, train the net for tokens, then the one for gists, export both.

Everything a run needs to go on lies in its folder: `tokens.state`, `gists.state`, `run.json`, `log.jsonl`. It can be
stopped after any step and resumed, by the same command or another program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from amgs_focus.errors import CheckpointError, ConfigurationError
from amgs_focus.gist import (
    GistEncoder,
    GistNet,
    GistNetEncoder,
    GistShape,
    find_gist_encoder,
    load_checkpoint,
    save_checkpoint,
)
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import PerfClock, ProgressCallback
from benchmarks.focus_training.corpus import TrainingCorpus, open_corpus
from benchmarks.focus_training.data_parallel import SINGLE, DataParallel, run_workers
from benchmarks.focus_training.gistnet import GistState, resumed, start, train
from benchmarks.focus_training.model_card import gist_card, of_run
from benchmarks.focus_training.records import TrainedPart, TrainedRun
from benchmarks.focus_training.run_config import GistTraining, RunConfig
from benchmarks.focus_training.run_record import RunRecord, RunSession, read_log
from benchmarks.focus_training.trainer import StepReport

PartName = Literal["tokens", "gists"]
PARTS: tuple[PartName, ...] = get_args(PartName)
_LABELS = {"tokens": "net for tokens", "gists": "net for gists"}


@dataclass(frozen=True, slots=True)
class GistJob:
    """One part of a run for the steps that it has now: what every parallel worker is given.

    until: the step at which this session ends, at the latest.
    """

    config: RunConfig
    folder: Path
    part: PartName
    until: int

    def __call__(
        self, parallel: DataParallel, report: Callable[[StepReport], None], stopped: Callable[[], bool]
    ) -> None:
        model = base_model(self.config)
        self.run(model, open_corpus(self.config.data, model), report, stopped, parallel)

    def run(
        self,
        model: BaseModel,
        corpus: TrainingCorpus,
        report: Callable[[StepReport], None],
        stopped: Callable[[], bool] = lambda: False,
        parallel: DataParallel = SINGLE,
    ) -> None:
        """The same with a model and a corpus that are open already."""
        settings = self.config.training(self.part, model.card.width)
        path = _state(self.folder, self.part)
        state = _begin(self.config, settings, self.part, path, model, parallel)
        first = parallel.rank == 0
        last = [state.step]

        def told(said: StepReport) -> None:
            last[0] = said.step
            if first:
                report(said)

        train(
            settings,
            corpus,
            model,
            told,
            state=state,
            lower=_lower(self.config, self.folder, model) if self.part == "gists" else None,
            save=(lambda kept: kept.save(path)) if first else None,
            stopped=lambda: last[0] >= self.until or stopped(),
            parallel=parallel,
        )


def train_gistnet(
    config: RunConfig,
    *,
    clock: PerfClock,
    progress: ProgressCallback | None = None,
    resume: bool = False,
    steps: int | None = None,
) -> TrainedRun:
    """Trains what is left of a run, at most `steps` steps now, and exports the nets once both are trained.

    Raises ConfigurationError when the folder holds a run and `resume` is not set, and whatever `progress` raises
    to cancel; the state is then saved, and resuming goes on from that very step.
    """
    folder = config.out
    if not resume and _state(folder, "tokens").exists():
        raise ConfigurationError(
            f"{folder} already holds a run.",
            title="Nothing was trained",
            way_out="Resume it with --resume, or choose another folder with --out.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    model = base_model(config, progress)
    corpus = open_corpus(config.data, model, progress)
    record = RunRecord.open(folder, config, model.card, "gistnet")
    budget = steps
    for part in PARTS:
        settings = config.training(part, model.card.width)
        done = _step_of(folder, part, settings)
        until = settings.steps if budget is None else min(settings.steps, done + budget)
        if until > done:
            job = GistJob(config, folder, part, until)
            record = _session(job, model, corpus, done, record, clock, progress)
            budget = None if budget is None else budget - (until - done)
        if until < settings.steps:
            return _standing(config, model, record)
    return _exported(config, model, corpus, record)


def base_model(config: RunConfig, progress: ProgressCallback | None = None) -> BaseModel:
    """The frozen model of a run."""
    if config.model.base == "tiny":
        from amgs_focus.model.tiny import TinyModel

        return TinyModel()
    from amgs_focus.model.loading import load

    if progress is not None:
        progress(0, 1, f"loading {config.model.base}")
    told = config.model
    return load(told.base, precision=told.precision, device=told.device, cache=told.cache)


def _session(
    job: GistJob,
    model: BaseModel,
    corpus: TrainingCorpus,
    done: int,
    record: RunRecord,
    clock: PerfClock,
    progress: ProgressCallback | None,
) -> RunRecord:
    """Trains a part for its steps of this session; the record after it, saved even when cancelled."""
    config = job.config
    settings = config.training(job.part, model.card.width)
    span = (done, job.until, settings.steps)
    run_session = RunSession(config, job.folder, job.part, _LABELS[job.part], span, clock, progress)
    try:
        if config.workers > 1:
            run_workers(job, config.workers, run_session.report)
        else:
            job.run(model, corpus, run_session.report)
    finally:
        record = run_session.recorded(record, _step_of(job.folder, job.part, settings))
    return record


def _begin(
    config: RunConfig, settings: GistTraining, part: PartName, path: Path, model: BaseModel, parallel: DataParallel
) -> GistState:
    """The state of before, or a new one."""
    if path.exists():
        return resumed(path, settings, parallel)
    trained = None
    if config.gistnet.start:
        begun = starting_nets(config, model)
        # The net for gists goes on where it has the shape that is asked for; else it begins anew.
        trained = widened(begun.token_net, settings.shape) if part == "tokens" else begun.gist_net
        trained = trained if trained.shape == settings.shape else None
    return start(settings, trained, parallel)


def starting_nets(config: RunConfig, model: BaseModel) -> GistNetEncoder:
    """The nets that `gistnet.start` names. Raises CheckpointError when there is none."""
    told = config.gistnet.start
    encoder = find_gist_encoder(model) if told == "shipped" else starting_gists(config, model)
    if not isinstance(encoder, GistNetEncoder):
        raise CheckpointError(
            f"No gists ship for {model.card.name}.", way_out="Leave out gistnet.start to begin from scratch."
        )
    return encoder


def starting_gists(config: RunConfig, model: BaseModel) -> GistEncoder:
    """The gists that `gistnet.start` names; where it names none, those that ship for the model."""
    if config.gistnet.start in ("", "shipped"):
        return find_gist_encoder(model)
    return load_checkpoint(Path(config.gistnet.start), model)


def widened(net: GistNet, shape: GistShape) -> GistNet:
    """A net that reads alike and the states of a layer besides, which count nothing yet.

    Raises CheckpointError when the shapes differ in more than the layer, or the trained net reads states.
    """
    if net.shape == shape:
        return net
    if replace(net.shape, layer=shape.layer) != shape or net.shape.layer:
        raise CheckpointError(
            "The net to start from has another shape than the settings ask for.",
            way_out="Use its own shape with any layer, or start from scratch.",
        )
    wider = GistNet(shape)
    wider.load_state_dict({**wider.state_dict(), **net.state_dict()})
    return wider


def _lower(config: RunConfig, folder: Path, model: BaseModel) -> GistEncoder:
    """The trained net for tokens, below the net for gists."""
    net = _net(config, folder, "tokens", model)
    return GistNetEncoder(net, net, name="tokens", version=1, model=model)


def _net(config: RunConfig, folder: Path, part: PartName, model: BaseModel) -> GistNet:
    """The net of a part with the weights that validated best."""
    settings = config.training(part, model.card.width)
    path = _state(folder, part)
    if not path.exists():  # a part of no steps: the pointer, or the net it was told to start from
        return _begin(config, settings, part, path, model, SINGLE).net.requires_grad_(False)
    state = resumed(path, settings)
    state.take_best()
    return state.net.requires_grad_(False)


def _state(folder: Path, part: PartName) -> Path:
    return folder / f"{part}.state"


def _step_of(folder: Path, part: PartName, settings: GistTraining) -> int:
    path = _state(folder, part)
    return resumed(path, settings).step if path.exists() else 0


def _standing(config: RunConfig, model: BaseModel, record: RunRecord) -> TrainedRun:
    known = {part.part: part for part in record.parts}
    parts = []
    for part in PARTS:
        settings = config.training(part, model.card.width)
        parts.append(known.get(part, TrainedPart(part, 0, settings.steps, 0.0)))
    return TrainedRun(config.name, str(config.out), tuple(parts))


def _judged(config: RunConfig, model: BaseModel, record: RunRecord) -> RunRecord:
    """The record with the step whose weights each part keeps, and what these validated at."""
    parts = []
    for part in record.parts:
        name: PartName = "tokens" if part.part == "tokens" else "gists"
        state = resumed(_state(config.out, name), config.training(name, model.card.width))
        lines = read_log(config.out / "log.jsonl", name)
        found = next((line for line in lines if state.best and line["step"] == state.best_step), {})
        part = replace(part, kept=state.best_step if state.best else state.step)
        parts.append(replace(part, validation=found.get("validation", part.validation)))
    return replace(record, parts=tuple(parts))


def _exported(config: RunConfig, model: BaseModel, corpus: TrainingCorpus, record: RunRecord) -> TrainedRun:
    """Both nets as one checkpoint with its card, in the run's folder."""
    checkpoint = config.out / f"{config.name}.safetensors"
    nets = {part: _net(config, config.out, part, model) for part in PARTS}
    made = of_run(config, corpus)
    save_checkpoint(checkpoint, nets["tokens"], nets["gists"], model=model, training=made)
    version = load_checkpoint(checkpoint, model).version
    card = checkpoint.with_suffix(".md")
    record = _judged(config, model, record)
    record.save(config.out)
    sizes: dict[str, int] = {part: sum(p.numel() for p in net.parameters()) for part, net in nets.items()}
    card.write_text(gist_card(config, record, corpus, sizes, version, made), encoding="utf-8")
    standing = _standing(config, model, record)
    return replace(standing, checkpoint=str(checkpoint), card=str(card), complete=True)
