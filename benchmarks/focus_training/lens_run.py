"""A LensNet run in a folder: guesses for the warm start, measured labels, the steps that are left, and the card.

B2 of the joint schedule: the lens learns anew from what detail is worth under the gists and the adapter of now.

MegaContext, "Phase B2": labels are measured on-policy, after the last B1. The lens that comes out is held against the
one before it by what the next tokens cost after their refocuses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from amgs_focus.errors import ConfigurationError, TextError
from amgs_focus.gist import GistEncoder
from amgs_focus.lens.lensnet import LensNet, LensReader, LensShape, load_checkpoint, save_net
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import PerfClock, ProgressCallback
from benchmarks.focus_training.context_phase import ContextPhase
from benchmarks.focus_training.contexts import effect
from benchmarks.focus_training.corpus import TrainingCorpus
from benchmarks.focus_training.joint_config import LensPhaseConfig
from benchmarks.focus_training.lens_examples import LensExample, measured_example, warm_examples
from benchmarks.focus_training.lens_labels import label_runs, read
from benchmarks.focus_training.lens_runs import LensRuns, LensText
from benchmarks.focus_training.lens_training import LensTraining, evaluate, resumed, train
from benchmarks.focus_training.model_card import card_section
from benchmarks.focus_training.model_card import made as made_of
from benchmarks.focus_training.records import Effect, TrainedPart, TrainedRun
from benchmarks.focus_training.trainer import StepReport

STATE, LOG = "lens.state", "log.jsonl"


@dataclass(frozen=True, slots=True)
class LensJob:
    """What is trained on what. labels: folders that `label` wrote. texts: for the warm start and for how
    dear tokens are. held_out: groups whose snapshots are only examined. warm: lifetimes of the warm start.
    """

    name: str
    out: Path
    labels: tuple[Path, ...]
    texts: tuple[LensText, ...]
    held_out: frozenset[str] = frozenset()
    warm: int = 100
    runs: LensRuns = field(default_factory=LensRuns)


@dataclass(frozen=True, slots=True)
class _Read:
    """The examples of a run, and how many labels the measured ones have."""

    warm: list[LensExample]
    measured: list[LensExample]
    asked: list[LensExample]
    held_out: list[LensExample]
    labels: int


def train_lensnet(
    job: LensJob,
    settings: LensTraining,
    model: BaseModel,
    gist: GistEncoder,
    *,
    clock: PerfClock,
    progress: ProgressCallback | None = None,
    resume: bool = False,
) -> TrainedRun:
    """Trains the steps that are left and writes `NAME.safetensors` with its card, `NAME.md`; where
    attention did not beat the solved features by their standard error, it adds nothing to them.

    Raises ConfigurationError when the folder holds a run and `resume` is not set, TextError when there are no
    labels, and whatever `progress` raises to cancel; what was reached is then saved.
    """
    path = job.out / STATE
    if path.exists() and not resume:
        raise ConfigurationError(
            f"{job.out} already holds a run.",
            title="Nothing was trained",
            way_out="Resume it with --resume, or choose another folder with --out.",
        )
    job.out.mkdir(parents=True, exist_ok=True)
    began = clock.perf()
    found = _examples(job, settings, model, gist, progress)
    state = resumed(path, settings) if path.exists() else None
    last: dict[str, StepReport] = {}

    def told(report: StepReport) -> None:
        last["report"] = report
        with (job.out / LOG).open("a", encoding="utf-8") as file:
            said = {"step": report.step, **report.losses, **report.validation}
            file.write(json.dumps({name: round(value, 5) for name, value in said.items()}) + "\n")
        if progress is not None:
            progress(report.step, report.steps, "lens")

    state = train(
        settings, found.warm, found.measured, found.held_out, told, state=state, save=lambda kept: kept.save(path)
    )
    seconds = clock.perf() - began
    checkpoint = job.out / f"{job.name}.safetensors"
    kept = state.best_step if state.best else state.step
    made, made_with = of_lens(settings, job.texts), f"{gist.name} {gist.version}"
    save_net(checkpoint, state.net, model=model, gist=made_with, training=made)
    figures = {
        name: evaluate(state.net, examples)
        for name, examples in (("held out", found.held_out), ("of these, asked", found.asked))
        if examples
    }
    version = load_checkpoint(checkpoint, model).version
    card = job.out / f"{job.name}.md"
    said = _card(job, settings, model, gist, found, figures, seconds, version, kept, weights_of(state.net))
    card.write_text(said + "\n".join(card_section(made)) + "\n", encoding="utf-8")
    report = last.get("report")
    part = TrainedPart(
        "lens", state.step, settings.steps, seconds, report.losses if report else {}, figures.get("held out", {})
    )
    return TrainedRun(job.name, str(job.out), (part,), str(checkpoint), str(card), complete=True)


def of_lens(settings: LensTraining, texts: Sequence[LensText]) -> dict[str, str]:
    """Of a lens. Hashes are of groups of texts: the SHA-256 of their names and token ids."""
    hashes = {one.group: hashlib.sha256() for one in texts}
    for one in texts:
        hashes[one.group].update(json.dumps([one.name, *one.tokens]).encode())
    digests = {group: found.hexdigest() for group, found in hashes.items()}
    return made_of(asdict(settings), settings.seed, digests)


def weights_of(net: LensNet) -> dict[str, float]:
    """The features' own weights by name."""
    return dict(zip(net.shape.features, net.weights.tolist(), strict=True))


def _examples(
    job: LensJob, settings: LensTraining, model: BaseModel, gist: GistEncoder, progress: ProgressCallback | None
) -> _Read:
    warm: list[LensExample] = []
    texts = [text for text in job.texts if text.group not in job.held_out]
    for number in range(job.warm if settings.warm_steps else 0):
        if progress is not None:
            progress(number, job.warm, "warm start")
        warm += warm_examples(number, texts, job.runs, model, gist)
    files = [file for folder in job.labels for file in sorted(folder.glob("*.parquet"))]
    if not files:
        raise TextError(
            "There are no labels to train on.", way_out="Measure labels first: `python -m benchmarks label`."
        )
    measured, asked, held_out, labels = [], [], [], 0
    for number, file in enumerate(files):
        if progress is not None:
            progress(number, len(files), "reading labels")
        labelled = read(file, model, gist)
        example = measured_example(labelled, LensReader())
        labels += len(labelled.labels)
        if labelled.group in job.held_out:
            held_out.append(example)
            if labelled.snapshot.question:
                asked.append(example)
        else:
            measured.append(example)
    return _Read(warm, measured, asked, held_out, labels)


def _card(
    job: LensJob,
    settings: LensTraining,
    model: BaseModel,
    gist: GistEncoder,
    found: _Read,
    figures: Mapping[str, Mapping[str, float]],
    seconds: float,
    version: int,
    kept: int,
    weights: Mapping[str, float],
) -> str:
    """The model card, from what the run knows of itself."""
    shape = settings.shape
    names = sorted({text.name for text in job.texts})
    shown: Sequence[str] = names if len(names) <= 12 else [*names[:12], f"and {len(names) - 12} more"]
    kind = (
        f"LensNet for {model.card.name} (embedding width {shape.width}): {shape.stacks} stacks of dual "
        f"cross-attention, width {shape.hidden}, {len(shape.features)} features."
    )
    lines = [
        f"# {job.name}",
        "",
        f"{kind} Its version, the CRC-32 of the weights, is {version}.",
        "",
        "| | |",
        "| --- | --- |",
        f"| texts | {', '.join(shown)} |",
        f"| held out | {', '.join(sorted(job.held_out)) or 'nothing'} |",
        f"| gists | {gist.name}, version {gist.version} |",
        f"| warm start | {len(found.warm)} snapshots with guessed worths, {settings.warm_steps} steps of "
        f"{settings.batch} |",
        f"| measured | {len(found.measured)} snapshots, {settings.steps - settings.warm_steps} steps of "
        f"{settings.batch}; {found.labels} labels in all, the held-out ones included |",
        f"| weights kept | those of step {kept} of {settings.steps}"
        f"{', the solved features alone: attention added nothing' if not kept else ''} |",
        f"| time | {seconds / 60:.1f} minutes |",
        "",
        "| held-out snapshots | number | Spearman, all labels | Spearman within a snapshot | worth in the best "
        "third | Spearman of sets of blocks |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    counts = {"held out": len(found.held_out), "of these, asked": len(found.asked)}
    for name, said in figures.items():
        lines.append(
            f"| {name} | {counts[name]} | {said['spearman']:.2f} | {said['spearman_within']:.2f} | "
            f"{100 * said['caught']:.0f} % | {said['spearman_joint']:.2f} |"
        )
    lines += ["", "| feature | weight |", "| --- | ---: |"]
    lines += [f"| `{name}` | {weight:.2f} |" for name, weight in weights.items()]
    return "\n".join(lines) + "\n"


def train_lens_phase(
    stage: ContextPhase, plan: LensPhaseConfig, folder: Path, clock: PerfClock, progress: ProgressCallback | None = None
) -> tuple[Effect, FocusScorer, Path]:
    """Labels, trains and judges; the effect, the new lens and its checkpoint in `folder`.

    Finished labels and the last saved step are kept when `progress` raises to cancel, and the next call goes on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = lens_texts(stage.corpus, plan.tokens)
    blocks = stage.lifetime // stage.focus.block_size
    runs = LensRuns(
        seed=stage.seed,
        blocks=(max(2, blocks // 2), blocks),
        windows=(stage.focus.window,),
        tails=(max(1, stage.focus.tail_blocks),),
        horizons=(stage.focus.horizon,),
        facts=plan.facts,
    )
    labels = folder / "labels"
    label_runs(
        labels,
        texts,
        runs,
        stage.model,
        stage.gist,
        stage.scorer,
        snapshots=plan.snapshots,
        exact=plan.exact,
        progress=progress,
    )
    settings = LensTraining(
        LensShape(stage.model.card.width),
        warm_steps=plan.warm_steps,
        steps=plan.warm_steps + plan.steps,
        seed=stage.seed,
        learning_rate=plan.learning_rate,
        save_every=plan.save_every,
    )
    job = LensJob(stage.name, folder, (labels,), texts, warm=plan.warm, runs=runs)
    made = train_lensnet(job, settings, stage.model, stage.gist, clock=clock, progress=progress, resume=True)
    path = Path(made.checkpoint)
    scorer = load_checkpoint(path, stage.model)
    before = stage.judge.sit(stage.model, stage.gist, stage.scorer)
    after = stage.judge.sit(stage.model, stage.gist, scorer)
    return effect(stage.name, before, after, stage.seed), scorer, path


def lens_texts(corpus: TrainingCorpus, most: int) -> tuple[LensText, ...]:
    """The first `most` tokens of every part that is trained on."""
    return tuple(
        LensText(part.name, part.name, tuple(part.train[:most].tolist()))
        for part in corpus.parts
        if part.weight and len(part.train)
    )
