"""Forgetting: `decay curve`, `decay forecast`, `decay preview`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amgs.errors import UsageError
from amgs_tui.verbs.arguments import LambdaValue, Pin, Profile, Reference, read_lambda
from amgs_tui.verbs.registry import verb

if TYPE_CHECKING:
    from amgs.lifecycle.preview import DecayPreview
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


@verb("decay preview", summary="Show what another decay, or a pin, would do to a block.")
def preview(
    session: Session,
    block: Reference = None,
    *,
    profile: Profile = None,
    decay_lambda: LambdaValue = None,
    pin: Pin = False,
    days: Days = 30,
) -> DecayPreview:
    """Show relevance after --days as it is and as it would be; changes nothing. `block set` makes it so."""
    chosen = session.block(block)
    wanted = read_lambda(profile, decay_lambda, pin=pin)
    if wanted is None:
        raise UsageError("Nothing to preview.", way_out="Give --profile, --lambda or --pin.")
    return session.memory.lifecycle.preview_decay(chosen.id, wanted, days=days)
