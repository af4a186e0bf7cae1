"""Operations `feedback` and `calibration`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app import results
from amgs_app.calls.arguments import Reference
from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.calibration.results import OutcomeGroups
    from amgs.types import Outcome, Reliability
    from amgs_app.engine import Engine


GroupKind = Literal["frame", "category", "relation"]
Verdict = Literal["useful", "useless", "answered"]
View = Literal["table", "forecasts", "groups", "answers"]

By = Annotated[GroupKind | None, Option("--by", help="Only forecasts of one frame, category or relation type.")]
Value = Annotated[str | None, Option("--value", metavar="NAME", help="Which one; requires --by.")]


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
        str | None, Option("--forecast", metavar="ID", help="This forecast of the block; default: the latest open one.")
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
            "`answered` needs --answer, and no other verdict takes one.",
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
        Literal["all", "settled", "open"], Option("--state", help="forecasts: with a verdict, without one, or both.")
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
        raise UsageError("--by and --value must be given together.", way_out="`calibration --by frame --value SESSION`")
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
