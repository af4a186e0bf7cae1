"""Operations `feedback`, `calibration`, `calibrate`, `metrics` and `tune`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app import results
from amgs_app.calls.marks import Arg, DryRun, Key, Option, Reference, Takes, read_weights
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.calibration.results import Calibrated, CalibrationPlan, Metrics, OutcomeGroups, Tuning
    from amgs.types import Outcome, Progress, Reliability
    from amgs.types.diagnosis import QuestionCase
    from amgs_app.engine import Engine


GroupKind = Literal["frame", "category", "relation"]
Verdict = Literal["useful", "useless", "answered"]
View = Literal["table", "forecasts", "groups", "answers"]

By = Annotated[GroupKind | None, Option("--by", help="Only forecasts of a frame, category or relation type.")]
Value = Annotated[str | None, Option("--value", metavar="NAME", help="Its name; requires --by.")]


@operation(
    "feedback",
    summary="Record whether a block of the last frame was useful, or what was answered from it.",
    synonyms=("rate", "thumbs up", "useful"),
    example="feedback useful @1",
    pane="calibration",
    writes=True,
)
def feedback(
    engine: Engine,
    verdict: Annotated[Verdict, Arg(metavar="VERDICT", help="useful, useless or answered.")],
    block: Reference = None,
    *,
    forecast: Annotated[
        str | None,
        Option("--forecast", metavar="ID", help="This forecast of the block; default: the latest open forecast."),
    ] = None,
    assembly: Annotated[
        str | None, Option("--assembly", metavar="ID", help="The forecast that this assembly made of the block.")
    ] = None,
    query: Annotated[str, Option("--query", metavar="TEXT", help="answered: the query of the frame.")] = "",
    answer: Annotated[
        str | None, Option("--answer", metavar="TEXT", help="answered: what was answered from the frame.")
    ] = None,
) -> Outcome | results.AnswerUses:
    """Settle the latest open forecast about a block: its Brier score is (forecast − outcome)².

    answered: log which blocks of the latest frame for a query an answer used: those that it cites by their ids, and
    those with which it shares more words than chance gives.
    """
    if (verdict == "answered") != (answer is not None):
        raise UsageError(
            "`answered` needs --answer, and no other verdict takes it.",
            way_out='`feedback answered --query "berth of the Heron" --answer "Berth 7."`',
        )
    if answer is not None:
        return results.AnswerUses(engine.memory.calibration.note_answer(answer, query=query))
    return engine.memory.feedback(
        engine.block(block).id, useful=verdict == "useful", assembly_id=assembly, prediction_id=forecast
    )


@operation(
    "calibration",
    summary="Show how well scores forecast usefulness, the forecasts, or their groups.",
    synonyms=("reliability", "brier", "forecasts"),
    example="calibration forecasts --limit 20",
    pane="calibration",
    lists=lambda result: (
        dict.fromkeys(case.outcome.block_id for case in result.cases) if hasattr(result, "cases") else None
    ),
)
def calibration(
    engine: Engine,
    view: Annotated[View, Arg(metavar="VIEW", help="table, forecasts, groups or answers.")] = "table",
    *,
    bins: Annotated[int, Option("--bins", metavar="N", min=2, max=50, help="How many bins the table has.")] = 10,
    by: By = None,
    value: Value = None,
    bin: Annotated[
        int | None, Option("--bin", metavar="K", min=1, help="forecasts: only the K-th bin of the table.")
    ] = None,
    state: Annotated[
        Literal["all", "settled", "open"],
        Option("--state", help="forecasts: with a verdict, without a verdict, or both."),
    ] = "all",
    limit: Annotated[int, Option("--limit", metavar="N", min=1, help="forecasts, answers: the latest N.")] = 2000,
) -> Reliability | results.ForecastList | OutcomeGroups | results.AnswerUses:
    """Show the reliability table with 95 % intervals, the Brier score and its Murphy decomposition through time; and
    what frames promise of their questions, beside what came of it.

    forecasts: the forecasts behind the table, the latest first: the block, what asked for it, when, and the verdict.
    `@1` is the block of the first of them in the commands that follow.

    groups: forecasts, outcomes, mean forecast, how often it came true, and Brier score of each frame, category and
    relation type.

    answers: the latest blocks that models had in front of them when they answered, and whether the answers used them.
    """
    if (by is None) != (value is None):
        raise UsageError("--by and --value belong together.", way_out="`calibration --by frame --value SESSION`")
    if view == "table":
        return engine.memory.reliability(bins, by=by, value=value)
    if view == "groups":
        return engine.memory.calibration.groups()
    if view == "answers":
        return results.AnswerUses(engine.memory.calibration.answers(limit))
    if bin is not None and bin > bins:
        raise UsageError(f"There are {bins} bins, not {bin}.", way_out=f"--bin takes 1 to {bins}.")
    cases = engine.memory.calibration.cases(
        settled={"all": None, "settled": True, "open": False}[state],
        in_bin=None if bin is None else (bin - 1, bins),
        by=by,
        value=value,
        limit=limit,
    )
    place = None if bin is None else (bin, bins)
    return results.ForecastList(cases, engine.clock.now(), place, f"{by} {value}" if by else "")


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
    says how many would move, and is not carried out where a question that holds now would fail.
    """
    from dataclasses import replace

    from amgs.calibration.questions import read_cases

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

    compared = engine.memory.diagnosis.compare_calibration(plan, cases, progress=progress)
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
    what it was at the last record. Precision and recall are shown for all questions and for the held-out third
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
    questions: Annotated[Path, Key(help="Labelled questions, a JSON object per line."), Takes("file")],
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

    The split is decided by a hash of each question's id and the seed. The proposal is applied only with --apply, and
    only when it is better on the held-out third and no measure of the table falls. A frame that keeps the order of the
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
