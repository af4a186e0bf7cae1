"""B2 of the joint schedule: the lens learns anew from what detail is worth under the gists and the adapter of now.

MegaContext, "Phase B2": labels are measured on-policy, after the last B1. The lens that comes out is held against the
one before it by what the next tokens cost after their refocuses.
"""

from __future__ import annotations

from pathlib import Path

from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.protocols import PerfClock, ProgressCallback
from amgs_focus.training.corpus import TrainingCorpus
from amgs_focus.training.records import Effect
from benchmarks.focus_training.context_phase import ContextPhase
from benchmarks.focus_training.held_out import effect
from benchmarks.focus_training.joint_config import LensPhaseConfig
from benchmarks.focus_training.lens_checkpoint import load_checkpoint
from benchmarks.focus_training.lens_labels import label_runs
from benchmarks.focus_training.lens_run import LensJob, train_lensnet
from benchmarks.focus_training.lens_runs import LensRuns, LensText
from benchmarks.focus_training.lens_training import LensTraining
from benchmarks.focus_training.lensnet import LensShape


def train_lens_phase(
    stage: ContextPhase,
    plan: LensPhaseConfig,
    folder: Path,
    clock: PerfClock,
    progress: ProgressCallback | None = None,
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
