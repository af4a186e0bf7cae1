"""Operations `decay curve` and `decay forecast`, and `simulate`, which compares the future with and without a
change.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Key, LambdaValue, Limit, Option, Pin, Profile, Reference, Takes, read_lambda
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.api.graph import SimulatedChange
    from amgs.lifecycle.decay_forecast import DecayPreview
    from amgs.simulation import Simulation
    from amgs.types import CategoryCurves, DecayCurve, Forecast, Progress
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


_OWN = {"enhance": "only", "prune": "threshold", "insert": "text", "decay": "pace"}
"""The argument that belongs to each change alone."""


@operation(
    "simulate",
    needs="operate",
    summary="Simulate what proposed edges, pruning, a new block or decay would come to.",
    synonyms=("what if", "montecarlo", "simulation"),
    example='simulate insert "The pump was replaced." days=30',
    long=True,
    lists=lambda result: list(result.blocks),
)
def simulate(
    engine: Engine,
    change: Annotated[Literal["enhance", "prune", "insert", "decay"], Arg(metavar="CHANGE", help="What is simulated.")],
    text: Annotated[str | None, Arg(metavar="TEXT", help="insert: the text of the new block."), Takes("text")] = None,
    *,
    only: Annotated[list[str] | None, Key(metavar="ID", help="enhance: this proposal alone; may be repeated.")] = None,
    threshold: Annotated[list[float] | None, Key(help="prune: a relevance to prune under; may be repeated.")] = None,
    pace: Annotated[
        list[float] | None, Key(help="decay: a multiple of its pace; may be repeated. Default: 1, ½, 2, 4.")
    ] = None,
    days: Annotated[float, Key(help="How many days to look ahead.")] = 30.0,
    draws: Annotated[int, Key(help="How many futures to draw.")] = 64,
    rate: Annotated[float | None, Key(help="Uses a day; default: as in the last thirty days.")] = None,
    seed: Annotated[int | None, Key(help="Random seed; default: the session's.")] = None,
    synthetic: Annotated[int | None, Key(help="Over an invented memory of N blocks instead of this memory.")] = None,
    progress: Progress | None = None,
) -> Simulation:
    """Draw many futures at random and compare the change with none. The memory is read and never written; the seed
    decides the draws.

    enhance: with and without the proposals of `enhance`. prune: a pruning every thirty days under each threshold.
    insert: TEXT with each link that consolidation would make alone, the best first. decay: the graph under other paces
    of decay.

    A use finds a block, walks each of its edges with a chance equal to the edge's strength, and reinforces what it
    reaches. `change` is the difference from the first scenario in the middle draw.
    """
    from amgs.api.graph import Decay, Insertion, Pruning
    from amgs.lifecycle.change import combine_changes

    for name, value in (("only", only), ("threshold", threshold), ("text", text), ("pace", pace)):
        if value is not None and _OWN[change] != name:
            argument = "TEXT" if name == "text" else f"{name}="
            raise UsageError(
                f"`simulate {change}` takes no {argument}.", way_out="`help simulate` says what each takes."
            )
    seed = engine.seed if seed is None else seed
    invented = None
    if synthetic is not None:
        from amgs.memory.synthetic import synthetic_memory

        invented = synthetic_memory(synthetic, seed, engine.settings.memory)
    with invented or nullcontext(engine.memory) as memory:
        what: SimulatedChange
        if change == "enhance":
            plan = memory.lifecycle.plan_enhancement(progress=progress)
            what = combine_changes(proposal.change for proposal in memory.lifecycle.choose(plan, only or ()))
        elif change == "prune":
            what = Pruning(threshold or ())
        elif change == "decay":
            what = Decay(pace) if pace else Decay()
        elif text is None:
            raise UsageError(
                "There is no text to insert.", way_out='For example `simulate insert "The pump was replaced."`.'
            )
        else:
            what = Insertion(text)
        result = memory.simulate(what, draws, seed, days=days, rate=rate, progress=progress)
    return replace(result, blocks=(), synthetic=synthetic) if synthetic else result
