"""Learning from verdicts: `feedback`, `calibration table`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from amgs.errors import UsageError
from amgs_tui.verbs.arguments import Reference
from amgs_tui.verbs.registry import verb

if TYPE_CHECKING:
    from amgs.model import Outcome, Reliability
    from amgs_tui.session import Session


@verb(
    "feedback", summary="Say whether a block of the last frame was useful.", pane="calibration", writes=True
)
def feedback(
    session: Session,
    verdict: Annotated[
        Literal["useful", "useless"], typer.Argument(metavar="useful|useless", help="The verdict.")
    ],
    block: Reference = None,
) -> Outcome:
    """Settle the latest open forecast about a block: its Brier score is (forecast − outcome)²."""
    return session.memory.feedback(session.block(block).id, useful=verdict == "useful")


@verb("calibration table", summary="Show how well scores forecast usefulness.", pane="calibration")
def table(
    session: Session,
    *,
    bins: Annotated[
        int, typer.Option("--bins", metavar="N", min=2, max=50, help="Steps of the forecast.")
    ] = 10,
    by: Annotated[
        Literal["frame", "category", "relation"] | None,
        typer.Option("--by", help="Only outcomes of one frame, category or relation type."),
    ] = None,
    value: Annotated[
        str | None, typer.Option("--value", metavar="NAME", help="Which one, with --by.")
    ] = None,
) -> Reliability:
    """Show the reliability table with 95 % intervals and the Brier score with its Murphy decomposition."""
    if (by is None) != (value is None):
        raise UsageError(
            "--by and --value belong together.", way_out="`calibration table --by frame --value SESSION`"
        )
    return session.memory.reliability(bins, by=by, value=value)
