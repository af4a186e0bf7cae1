"""Learning from outcomes: `calibrate`, `metrics`, `tune`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.arguments import DryRun, read_weights
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.api.diversity import Diversity
    from amgs.calibration.results import Calibrated, CalibrationPlan, Metrics, Monitored, Tuning, WeightTest
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
        plan = _gated(engine, plan, cases, dry_run, progress)
    plan = replace(plan, needs=engine.memory.diagnosis.needs(cases, progress=progress))
    return plan if dry_run else engine.memory.calibration.apply(plan)


def _gated(
    engine: Engine, plan: CalibrationPlan, cases: Sequence[QuestionCase], dry_run: bool, progress: Progress | None
) -> CalibrationPlan:
    """The plan with what it does to the questions of a file. Raises UsageError where it is to be carried out, and one
    that holds now would fail.
    """
    from dataclasses import replace

    compared = engine.memory.diagnosis.calibrated(plan, cases, progress=progress)
    failing = compared.failing
    if failing and not dry_run:
        told = "1 question that holds now" if len(failing) == 1 else f"{len(failing)} questions that hold now"
        raise UsageError(
            f"{told} would fail, first “{failing[0].after.case.question}”. Nothing was changed.",
            title="Not calibrated",
            way_out="--dry-run shows why. Without --questions the plan is carried out all the same.",
        )
    return replace(plan, compared=compared)


@operation(
    "metrics",
    summary="Measure the memory: the six success metrics, drift, or how evenly it is spread.",
    synonyms=("diversity", "entropy", "monitor"),
    example="metrics",
    long=True,
    writes=True,
)
def metrics(
    engine: Engine,
    what: Annotated[
        Literal["success", "drift", "diversity"], Arg(metavar="WHAT", help="success, drift or diversity.")
    ] = "success",
    *,
    questions: Annotated[
        Path | None,
        Option("--questions", metavar="FILE", help="Labelled questions, for precision and recall."),
        Takes("file"),
    ] = None,
    record: Annotated[bool, Option("--record", help="Of drift: record the values for the next comparison.")] = False,
    progress: Progress | None = None,
) -> Metrics | Monitored | Diversity:
    """Show precision, recall, coherence, graph stability, Brier score and attention stability, each with its target.
    Precision and recall are given for all questions and for the held-out third separately. Nothing is reinforced.

    drift: how far centrality moved since the last record, and entropy and stability of each frame, beside earlier
    records.

    diversity: the Shannon entropy of the categories, of the decisions for them, and of the clusters of the graph, each
    beside the most it could be. High entropy of the categories: broad knowledge. High entropy of the decisions: the
    categories are unsure. Clusters are found by Louvain's method, also in a shuffled graph with the same degrees: what
    differs is no chance.
    """
    if what != "success" and questions is not None:
        raise UsageError(f"`metrics {what}` takes no questions.", way_out="Leave --questions out.")
    if what != "drift" and record:
        raise UsageError("--record is for `metrics drift`.", way_out="Leave it out.")
    if what == "diversity":
        return engine.memory.diversity(progress)
    if what == "drift":
        return engine.memory.calibration.monitor(record=record)
    from amgs.calibration.questions import load

    return engine.memory.calibration.metrics(() if questions is None else load(questions), seed=engine.seed)


@operation(
    "tune",
    needs="operate",
    summary="Tune a frame's weights on labelled questions.",
    synonyms=("optimise weights", "learn weights", "compare weights"),
    example="tune SESSION --questions questions.json",
    long=True,
    writes=True,
)
def tune(
    engine: Engine,
    name: Annotated[str, Arg(metavar="FRAME", help="An atomic frame."), Takes("frame")],
    *,
    questions: Annotated[
        Path, Option("--questions", metavar="FILE", help="Labelled questions, one JSON object per line."), Takes("file")
    ],
    method: Annotated[Literal["grid", "bayes"], Option("--method", help="Search method.")] = "grid",
    trials: Annotated[int, Option("--trials", metavar="N", min=1, max=20_000, help="Try at most N weight sets.")] = 126,
    apply: Annotated[bool, Option("--apply", help="Apply the proposed weights if they are better.")] = False,
    against: Annotated[
        str | None, Option("--against", metavar="R,C,K,S,F", help="Search nothing: compare with these weights.")
    ] = None,
    weights: Annotated[
        str | None,
        Option("--weights", metavar="R,C,K,S,F", help="With --against: in place of the frame's own weights."),
    ] = None,
    progress: Progress | None = None,
) -> Tuning | WeightTest:
    """Try weights on two thirds of the questions and report recall on the third that no trial saw.

    The split is made by a hash of each question's id and the seed. The proposal is applied only with --apply, and only
    when it is better on the held-out third and no measure of the table falls. A frame that keeps the order of the
    search orders by the weights then, which the answer says.

    With --against, recall under the frame's own weights and under these is compared on all the questions, with a 95 %
    interval of the difference from a paired bootstrap.
    """
    from dataclasses import replace

    from amgs.calibration.questions import load

    if against is not None:
        if apply:
            raise UsageError("--against applies nothing.", way_out="`frame define NAME --weights` does.")
        return engine.memory.calibration.compare_weights(
            name, load(questions), read_weights(weights), read_weights(against), seed=engine.seed, progress=progress
        )
    if weights is not None:
        raise UsageError("--weights are compared with --against.", way_out="Give both, or neither.")

    found = engine.memory.calibration.tune(
        name, load(questions), method=method, trials=trials, seed=engine.seed, progress=progress
    )
    if apply and found.better:
        engine.memory.define_frame(found.definition)
        found = replace(found, applied=True)
    return found
