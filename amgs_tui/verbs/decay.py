"""Forgetting: `decay curve`, `decay forecast`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amgs_tui.verbs.arguments import Reference
from amgs_tui.verbs.registry import verb

if TYPE_CHECKING:
    from amgs.model import DecayCurve, Forecast
    from amgs_tui.session import Session

Days = Annotated[
    float, typer.Option("--days", metavar="N", min=0.01, max=36500, help="How far to look ahead.")
]


@verb("decay curve", summary="Show how a block's relevance fell and will fall.", pane="decay")
def curve(session: Session, block: Reference = None, *, days: Days = 30) -> DecayCurve:
    """Show relevance over time, the instants of reinforcement, and when it falls under the threshold."""
    return session.memory.decay_curve(session.block(block).id, days=days)


@verb("decay forecast", summary="Show which blocks will fade, soonest first.", pane="decay")
def forecast(
    session: Session,
    *,
    days: Days = 30,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", metavar="X", min=0.0001, max=0.9999, help="Relevance; else the setting."),
    ] = None,
) -> Forecast:
    """Show the blocks that fall under the threshold within --days, and all relevances now and then."""
    result = session.memory.forecast(days=days, threshold=threshold)
    session.listed = tuple(row.block.id for row in result.rows)
    return result
