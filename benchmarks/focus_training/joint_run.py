"""The joint schedule: cycles of B1 (gists), B2 (lens) and B3 (LoRA), each phase against its own frozen ablation.

MegaContext, "Joint training (alternating / EM-style)". A phase begins with what the phases before it left, and is
taken back when it does not beat its frozen ablation on texts kept apart. The schedule ends early when cycles change
nothing.

The model card of a run of phases, written from the run's own record.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from amgs_focus.errors import ConfigurationError
from amgs_focus.gist import GistEncoder, GistNetEncoder, load_checkpoint, save_checkpoint
from amgs_focus.lens import lensnet as lens_checkpoint
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.adapter import Adapter, AdapterShape, attach, read_adapter
from amgs_focus.options import PerfClock, ProgressCallback
from benchmarks.focus_training.context_phase import ContextPhase, GistTrainee, LoraTrainee, Trainee, train_phase
from benchmarks.focus_training.contexts import HeldOut
from benchmarks.focus_training.corpus import TrainingCorpus, open_corpus
from benchmarks.focus_training.gist_run import base_model, starting_gists
from benchmarks.focus_training.joint_config import JointRunConfig
from benchmarks.focus_training.lens_run import train_lens_phase
from benchmarks.focus_training.model_card import card_section, data_table, of_run, table
from benchmarks.focus_training.records import Effect, TrainedRun
from benchmarks.focus_training.run_record import RunRecord, RunSession, duration
from benchmarks.focus_training.trainer import StepReport, saved_step


def joint_card(config: JointRunConfig, record: RunRecord, corpus: TrainingCorpus, kept: Sequence[str]) -> str:
    """The card of a run of phases on working contexts. kept: the phases whose checkpoints it ended with."""
    focus = config.focus
    lines = [
        f"# {config.name}",
        "",
        f"Phases on {record.model['name']} with a window of {focus.window} over {config.contexts.lifetime} tokens of "
        f"life, {focus.horizon} tokens asked. Kept: {', '.join(kept) or 'nothing, no phase had an effect'}.",
        "",
        *table(
            ("phase", "steps", "time", "loss before", "after", "change [95 %]", "beyond raw tokens [95 %]", "verdict"),
            [
                (
                    one.phase,
                    *next(
                        ((f"{p.step:,}", duration(p.seconds)) for p in record.parts if p.part == one.phase), ("", "")
                    ),
                    f"{one.before:.4f}",
                    f"{one.after:.4f}",
                    interval(one.change),
                    interval(one.beyond_plain),
                    one.verdict,
                )
                for one in record.effects
            ],
        ),
        "",
        "Losses are NLL in nats a token over windows kept apart, the same for both; a phase that is not better is "
        "taken back. Beyond raw tokens: how much more the working context changed than as many raw tokens did.",
        "",
        *data_table(corpus),
        *card_section(of_run(config, corpus)),
    ]
    return "\n".join(lines) + "\n"


def interval(found: tuple[float, float, float]) -> str:
    """A mean with its ends."""
    return f"{found[0]:+.4f} [{found[1]:+.4f}, {found[2]:+.4f}]"


PhaseName = Literal["b1", "b2", "b3"]
LABELS = {"b1": "gists", "b2": "lens", "b3": "LoRA"}


@dataclass(slots=True)
class Trio:
    """The three modules as they are now. adapter: None until B3 first runs."""

    gist: GistEncoder
    scorer: FocusScorer
    adapter: Adapter | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """What a run goes through: `cycles` times the phases, in order."""

    kind: str
    cycles: int
    phases: tuple[PhaseName, ...]
    patience: int = 1


def train_lora(
    config: JointRunConfig,
    *,
    clock: PerfClock,
    progress: ProgressCallback | None = None,
    resume: bool = False,
    steps: int | None = None,
) -> TrainedRun:
    """B3 alone: a LoRA adapter on the base, with the gists that ship or that `gistnet.start` names.

    Raises as `train_joint`.
    """
    return _run(config, Schedule("lora", 1, ("b3",)), clock, progress, resume=resume, steps=steps)


def train_joint(
    config: JointRunConfig,
    *,
    clock: PerfClock,
    progress: ProgressCallback | None = None,
    resume: bool = False,
    steps: int | None = None,
) -> TrainedRun:
    """The whole schedule of `joint`, at most `steps` steps of it now.

    Raises ConfigurationError when the folder holds a run and `resume` is not set, ModelMismatchError when the base
    cannot carry an adapter, CheckpointError when there are no trained gists to go on from, and whatever `progress`
    raises to cancel; what was reached is then saved.
    """
    told = config.joint
    schedule = Schedule("joint", told.cycles, told.phases, told.patience)
    return _run(config, schedule, clock, progress, resume=resume, steps=steps)


def _run(
    config: JointRunConfig,
    schedule: Schedule,
    clock: PerfClock,
    progress: ProgressCallback | None,
    *,
    resume: bool,
    steps: int | None,
) -> TrainedRun:
    folder = config.out
    if not resume and (folder / "run.json").exists():
        raise ConfigurationError(
            f"{folder} already holds a run.",
            title="Nothing was trained",
            way_out="Resume it with --resume, or choose another folder with --out.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    run = _JointRun(config, schedule, clock, progress, steps)
    return run.go_on()


class _JointRun:
    """One session of a schedule."""

    def __init__(
        self,
        config: JointRunConfig,
        schedule: Schedule,
        clock: PerfClock,
        progress: ProgressCallback | None,
        steps: int | None,
    ) -> None:
        self._config, self._schedule, self._clock, self._progress = config, schedule, clock, progress
        self._left = steps
        self._model = base_model(config, progress)
        self._corpus = open_corpus(config.data, self._model, progress)
        self._trio = Trio(
            starting_gists(config, self._model), lens_checkpoint.find_scorer(self._model, config.focus.lens)
        )
        self._record = RunRecord.open(config.out, config, self._model.card, schedule.kind)
        self._judge, self._stopper = (self._held_out(half) for half in (1, 0))

    def go_on(self) -> TrainedRun:
        """Every phase that is not done; the run as it stands when the steps are used up."""
        idle = 0
        for cycle in range(1, self._schedule.cycles + 1):
            changed = False
            for number, phase in enumerate(self._schedule.phases):
                name = f"cycle{cycle}-{phase}"
                known = next((one for one in self._record.effects if one.phase == name), None)
                if known is None:
                    known = self._phase(name, phase, cycle * 10 + number)
                    if known is None:
                        return self._standing()
                elif known.verdict == "better":
                    self._take_up(name, phase)
                changed = changed or known.verdict == "better"
            idle = 0 if changed else idle + 1
            if idle >= self._schedule.patience:
                break
        return self._finished()

    def _phase(self, name: str, phase: PhaseName, number: int) -> Effect | None:
        """Trains one phase and keeps or takes back what it learned; None when it was not finished now."""
        if self._left is not None and self._left <= 0:
            return None
        stage = self._stage(name, number)
        found = self._lens(stage) if phase == "b2" else self._context_phase(stage, phase)
        if found is not None:
            self._record = replace(self._record, effects=(*self._record.effects, found))
            self._record.save(self._config.out)
        return found

    def _stage(self, name: str, number: int) -> ContextPhase:
        config = self._config
        return ContextPhase(
            name=name,
            model=self._model,
            gist=self._trio.gist,
            scorer=self._trio.scorer,
            corpus=self._corpus,
            focus=config.focus,
            lifetime=config.contexts.lifetime,
            judge=self._judge,
            stopper=self._stopper,
            seed=config.seed * 1000 + number,
        )

    def _context_phase(self, stage: ContextPhase, phase: PhaseName) -> Effect | None:
        """B1 or B3; None when the steps of now did not suffice."""
        config, name = self._config, stage.name
        plan = config.lora if phase == "b3" else config.joint.gistnet
        done = saved_step(self._state(name))
        until = plan.steps if self._left is None else min(plan.steps, done + self._left)
        trainee = self._trainee(phase)
        run_session = RunSession(
            config, config.out, name, f"{name}, {LABELS[phase]}", (done, until, plan.steps), self._clock, self._progress
        )
        last = [done]

        def report(said: StepReport) -> None:
            last[0] = said.step
            run_session.report(said)

        try:
            found = train_phase(stage, plan, trainee, self._state(name), report, lambda: last[0] >= until)
        finally:
            self._record = run_session.recorded(self._record, last[0])
        if self._left is not None:
            self._left -= last[0] - done
        if found is not None and found.verdict == "better":
            self._keep(name, phase, trainee)
        return found

    def _lens(self, stage: ContextPhase) -> Effect:
        """B2, in one go: what is labelled and saved is kept when it is cancelled."""
        config, name = self._config, stage.name
        plan = config.joint.lensnet
        steps = plan.warm_steps + plan.steps
        run_session = RunSession(config, config.out, name, LABELS["b2"], (0, steps, steps), self._clock, None)
        reached = 0
        try:
            found, scorer, path = train_lens_phase(stage, plan, config.out / name, self._clock, self._progress)
            reached = steps
        finally:
            self._record = run_session.recorded(self._record, reached)
        if self._left is not None:
            self._left = max(0, self._left - steps)
        if found.verdict == "better":
            shutil.copyfile(path, self._checkpoint(name))
            self._trio.scorer = scorer
        return found

    def _trainee(self, phase: PhaseName) -> Trainee:
        """The module of a phase with the weights that it has now."""
        if phase == "b1":
            return GistTrainee(self._trio.gist)
        return LoraTrainee(self._adapter(), self._trio.gist)

    def _adapter(self) -> Adapter:
        if self._trio.adapter is None:
            told = self._config.lora
            shape = AdapterShape(told.rank, told.alpha, told.targets)
            self._trio.adapter = attach(self._model, shape, self._config.seed)
        return self._trio.adapter

    def _keep(self, name: str, phase: PhaseName, trainee: Trainee) -> None:
        """Writes what a phase learned as a checkpoint and goes on with it."""
        path, made = self._checkpoint(name), of_run(self._config, self._corpus)
        if isinstance(trainee, GistTrainee):
            gist = trainee.encoder()
            assert isinstance(gist, GistNetEncoder)
            save_checkpoint(path, gist.token_net, gist.gist_net, model=self._model, training=made)
        else:
            self._adapter().save(path, made)
        self._take_up(name, phase)

    def _take_up(self, name: str, phase: PhaseName) -> None:
        """Goes on with what a phase learned, from its checkpoint."""
        path = self._checkpoint(name)
        if phase == "b1":
            self._trio.gist = load_checkpoint(path, self._model)
        elif phase == "b2":
            self._trio.scorer = lens_checkpoint.load_checkpoint(path, self._model)
        else:
            self._adapter().load_weights(dict(read_adapter(path).weights))

    def _held_out(self, half: Literal[0, 1]) -> HeldOut:
        told = self._config
        return HeldOut(
            self._corpus,
            told.focus,
            lifetime=told.contexts.lifetime,
            windows=told.contexts.windows,
            seed=told.seed,
            half=half,
            clock=self._clock,
        )

    def _state(self, name: str) -> Path:
        return self._config.out / f"{name}.state"

    def _checkpoint(self, name: str) -> Path:
        return self._config.out / f"{name}.safetensors"

    def _standing(self) -> TrainedRun:
        record = self._record
        return TrainedRun(self._config.name, str(self._config.out), record.parts, effects=record.effects)

    def _finished(self) -> TrainedRun:
        """The card, and the names of the checkpoints that the schedule ended with."""
        better = [one.phase for one in self._record.effects if one.verdict == "better"]
        last = {phase: name for name in better for phase in [name.rpartition("-")[2]]}
        card = self._config.out / f"{self._config.name}.md"
        card.write_text(joint_card(self._config, self._record, self._corpus, tuple(last.values())), encoding="utf-8")
        kept = ", ".join(str(self._checkpoint(name)) for name in last.values())
        return replace(self._standing(), checkpoint=kept, card=str(card), complete=True)
