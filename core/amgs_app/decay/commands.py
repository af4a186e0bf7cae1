"""Operations `decay curve` and `decay forecast`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.arguments import LambdaValue, Limit, Pin, Profile, Reference, read_lambda
from amgs_app.calls.marks import Option
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.lifecycle.decay_forecast import DecayPreview
    from amgs.types import CategoryCurves, DecayCurve, Forecast
    from amgs_app.engine import Engine

Days = Annotated[float, Option("--days", metavar="N", min=0.01, max=36500, help="How many days to look ahead.")]


@operation(
    "decay curve",
    summary="Show relevance over time: of a block, also with another rate or a pin, or of each category.",
    example="decay curve @1 --pin",
    pane="decay",
)
def curve(
    engine: Engine,
    block: Reference = None,
    *,
    days: Days = 30,
    profile: Profile = None,
    decay_lambda: LambdaValue = None,
    pin: Pin = False,
    categories: Annotated[
        bool, Option("--categories", help="Of each category, from --days ago to --days ahead.")
    ] = False,
) -> DecayCurve | DecayPreview | CategoryCurves:
    """Show relevance over time, when the block was reinforced, and when it drops below the threshold.

    With --profile, --lambda or --pin it is compared with what it would be; nothing is changed. `block set` applies it.

    With --categories, show the mean relevance of each with its uses in that time; in the past a block counts from its
    creation on, with the category and decay it has today.
    """
    if categories:
        return engine.memory.lifecycle.category_curves(days=days)
    chosen = engine.block(block).id
    wanted = read_lambda(engine, profile, decay_lambda, pin=pin)
    if wanted is not None:
        return engine.memory.lifecycle.preview_decay(chosen, wanted, days=days)
    return engine.memory.decay_curve(chosen, days=days)


@operation(
    "decay forecast",
    summary="List the blocks that will drop below the threshold.",
    synonyms=("forget", "fade", "expire"),
    example="decay forecast --days 30",
    pane="decay",
    lists=lambda result: [row.block.id for row in result.rows],
)
def forecast(
    engine: Engine,
    *,
    days: Days = 30,
    threshold: Annotated[
        float | None,
        Option("--threshold", metavar="X", min=0.0001, max=0.9999, help="Relevance threshold; default: the setting."),
    ] = None,
    limit: Limit = 500,
) -> Forecast:
    """Forecast the whole memory --days ahead: each category now and then, and the blocks that drop below the
    threshold by then: first those that were ever used, then the rest, soonest first in each; --limit of them.

    A block below the threshold ranks lower but can still be found: nothing is removed before `prune`.
    """
    return engine.memory.lifecycle.forecast(days=days, threshold=threshold, limit=limit)
