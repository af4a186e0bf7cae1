"""Learning from verdicts: `feedback`, `calibration table`, `calibration forecasts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Reference
from amgs_app.results.memory import ForecastList

if TYPE_CHECKING:
    from amgs.types import Outcome, Reliability
    from amgs_app.engine import Engine


GroupKind = Literal["frame", "category", "relation"]
Verdict = Literal["useful", "useless"]

By = Annotated[
    GroupKind | None,
    Option("--by", help="Only forecasts of one frame, category or relation type."),
]
Value = Annotated[str | None, Option("--value", metavar="NAME", help="Which one; requires --by.")]


@operation(
    "feedback",
    summary="Record whether a block of the last frame was useful.",
    synonyms=("rate", "thumbs up", "useful"),
    example="feedback useful @1",
    pane="calibration",
    writes=True,
)
def feedback(
    engine: Engine,
    verdict: Annotated[Verdict, Arg(metavar="useful|useless", help="The verdict.")],
    block: Reference = None,
    *,
    forecast: Annotated[
        str | None,
        Option("--forecast", metavar="ID", help="This forecast of the block; default: the latest open one."),
    ] = None,
    assembly: Annotated[
        str | None,
        Option("--assembly", metavar="ID", help="The forecast that this assembly made of the block."),
    ] = None,
) -> Outcome:
    """Settle the latest open forecast about a block: its Brier score is (forecast − outcome)²."""
    return engine.memory.feedback(
        engine.block(block).id, useful=verdict == "useful", assembly_id=assembly, prediction_id=forecast
    )


@operation(
    "calibration table",
    summary="Show how well scores forecast usefulness.",
    example="calibration table --bins 10",
    pane="calibration",
)
def table(
    engine: Engine,
    *,
    bins: Annotated[int, Option("--bins", metavar="N", min=2, max=50, help="How many bins.")] = 10,
    by: By = None,
    value: Value = None,
) -> Reliability:
    """Show the reliability table with 95 % intervals, the Brier score and its Murphy decomposition through time."""
    _both_or_none(by, value)
    return engine.memory.reliability(bins, by=by, value=value)


@operation(
    "calibration forecasts",
    summary="List forecasts with their outcomes.",
    example="calibration forecasts --limit 20",
    pane="calibration",
    lists=lambda found: dict.fromkeys(case.outcome.block_id for case in found.cases),
)
def forecasts(
    engine: Engine,
    *,
    bin: Annotated[
        int | None, Option("--bin", metavar="K", min=1, help="Only the K-th bin of the table.")
    ] = None,
    bins: Annotated[
        int, Option("--bins", metavar="N", min=2, max=50, help="How many bins the table has.")
    ] = 10,
    by: By = None,
    value: Value = None,
    state: Annotated[
        Literal["all", "settled", "open"],
        Option("--state", help="With a verdict, without one, or both."),
    ] = "all",
    limit: Annotated[int, Option("--limit", metavar="N", min=1, help="The latest N.")] = 2000,
) -> ForecastList:
    """List the forecasts behind the table, the latest first: the block, what asked for it, when, and the verdict.

    `@1` is the block of the first of them in the commands that follow.
    """
    _both_or_none(by, value)
    if bin is not None and bin > bins:
        raise UsageError(f"There are {bins} bins, not {bin}.", way_out=f"--bin takes 1 to {bins}.")
    found = engine.memory.calibration.cases(
        settled={"all": None, "settled": True, "open": False}[state],
        in_bin=None if bin is None else (bin - 1, bins),
        by=by,
        value=value,
        limit=limit,
    )
    place = None if bin is None else (bin, bins)
    return ForecastList(found, engine.clock.now(), place, f"{by} {value}" if by else "")


def _both_or_none(by: str | None, value: str | None) -> None:
    if (by is None) != (value is None):
        raise UsageError(
            "--by and --value must be given together.",
            way_out="`calibration table --by frame --value SESSION`",
        )
