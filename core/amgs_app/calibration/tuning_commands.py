"""Operations `calibrate`, `metrics` and `tune`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.arguments import DryRun, read_weights
from amgs_app.calls.marks import Arg, Key, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.calibration.results import Calibrated, CalibrationPlan, Metrics, Tuning
    from amgs.types import Progress
    from amgs.types.question_case import QuestionCase
    from amgs_app.engine import Engine


@operation(
    "calibrate",
    summary="Recalibrate forecasts from their outcomes.",
    synonyms=("fit", "probabilities"),
    example="calibrate --dry-run",
    pane="calibration",
    writes=True,
    long=True,
    keys=("c",),
)
def calibrate(
    engine: Engine,
    *,
    method: Annotated[Literal["isotonic", "platt"], Option("--method", help="The curve to fit.")] = "isotonic",
    dry_run: DryRun = False,
    questions: Annotated[
        Path | None,
        Option("--questions", metavar="FILE", help="Questions as `test` asks them: say which would move."),
        Takes("file"),
    ] = None,
    progress: Progress | None = None,
) -> CalibrationPlan | Calibrated:
    """Fit a curve from score to outcome over all verdicts, and map later forecasts along it.

    The curve is used only where it lowers the Brier score on outcomes it was not fitted on. How sure a block's category
    is stays as it was: no verdict asks about it. The change is journalled: `undo` reverts it.

    Kept with it is how many tokens the labelled questions need of their frames until all is in that they must rest on:
    what verdicts and answers say was of use, or what a question of the file must contain. Frames then tell with what
    chance they hold what theirs needs.

    With --questions, the questions of a file are asked before and after the change in a copy of the memory. The plan
    says how many would move, and is not carried out where one that holds now would fail.
    """
    from dataclasses import replace

    from amgs.exchange.question_cases import read_cases

    plan = engine.memory.calibration.plan(method)
    cases = () if questions is None else read_cases(questions)
    if questions is not None:
        plan = _gate_plan(engine, plan, cases, dry_run, progress)
    plan = replace(plan, needs=engine.memory.diagnosis.needs(cases, progress=progress))
    return plan if dry_run else engine.memory.calibration.apply(plan)


def _gate_plan(
    engine: Engine, plan: CalibrationPlan, cases: Sequence[QuestionCase], dry_run: bool, progress: Progress | None
) -> CalibrationPlan:
    """Return the plan with its effect on the questions of a file.

    Raises UsageError if it is to be applied and a question that holds now would fail.
    """
    from dataclasses import replace

    compared = engine.memory.diagnosis.calibrated(plan, cases, progress=progress)
    failing = compared.failing
    if failing and not dry_run:
        subject = "1 question that holds now" if len(failing) == 1 else f"{len(failing)} questions that hold now"
        raise UsageError(
            f"{subject} would fail, first “{failing[0].after.case.question}”. Nothing was changed.",
            title="Not calibrated",
            way_out="--dry-run shows why. Without --questions the plan is carried out all the same.",
        )
    return replace(plan, compared=compared)


@operation(
    "metrics",
    summary="Measure the memory: the six success metrics, with targets and drift.",
    synonyms=("diversity", "entropy", "monitor", "drift"),
    example="metrics",
    long=True,
    writes=True,
)
def metrics(
    engine: Engine,
    *,
    questions: Annotated[
        Path | None,
        Option("--questions", metavar="FILE", help="Labelled questions, for precision and recall."),
        Takes("file"),
    ] = None,
    record: Annotated[bool, Option("--record", help="Keep the values for the next comparison.")] = False,
) -> Metrics:
    """Show precision, recall, coherence, graph stability, Brier score and attention stability, each with its target and
    what it was at the last record. Precision and recall are given for all questions and for the held-out third
    separately. Nothing is reinforced.

    Below stand how far centrality drifted since the last record, and the entropy of the categories of all blocks and of
    those in frames: high entropy is broad knowledge.
    """
    from amgs.calibration.questions import load_questions

    labelled = () if questions is None else load_questions(questions)
    return engine.memory.calibration.metrics(labelled, seed=engine.seed, record=record)


@operation(
    "tune",
    needs="operate",
    summary="Tune a frame's weights on labelled questions.",
    synonyms=("optimise weights", "learn weights", "compare weights"),
    example="tune ATTENTION questions=questions.jsonl",
    long=True,
    writes=True,
)
def tune(
    engine: Engine,
    name: Annotated[str, Arg(metavar="FRAME", help="An atomic frame."), Takes("frame")],
    *,
    questions: Annotated[Path, Key(help="Labelled questions, one JSON object per line."), Takes("file")],
    method: Annotated[Literal["grid", "bayes"], Key(help="Search method.")] = "grid",
    trials: Annotated[int, Key(min=1, max=20_000, help="Try at most N weight sets.")] = 126,
    against: Annotated[
        str | None, Key(metavar="R,C,K,S,F", help="Search nothing: propose these weights."), Takes("weights")
    ] = None,
    apply: Annotated[bool, Option("--apply", help="Apply the proposed weights if they are better.")] = False,
    progress: Progress | None = None,
) -> Tuning:
    """Try weights on two thirds of the questions and report recall on the third that no trial saw, with a 95 % interval
    of the difference from a paired bootstrap.

    The split is made by a hash of each question's id and the seed. The proposal is applied only with --apply, and only
    when it is better on the held-out third and no measure of the table falls. A frame that keeps the order of the
    search orders by the weights then, which the answer says.

    against= compares weights of your own with the frame's on the same questions.
    """
    from dataclasses import replace

    from amgs.calibration.questions import load_questions
    from amgs.frames import registry

    start = registry.find(name, registry.by_name(engine.memory.frame_definitions()))
    tuning = engine.memory.calibration.tune(
        name,
        load_questions(questions),
        method=method,
        trials=trials,
        against=read_weights(against, start.weights),
        seed=engine.seed,
        progress=progress,
    )
    if apply and tuning.better:
        engine.memory.define_frame(tuning.definition)
        tuning = replace(tuning, applied=True)
    return tuning
