"""`simulate`: compare the future with and without a change, by random draws."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Key, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.api.simulation import SimulatedChange
    from amgs.simulation import Simulation
    from amgs.types import Progress
    from amgs_app.engine import Engine

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
    synthetic: Annotated[int | None, Key(help="Over an invented memory of N blocks instead of this one.")] = None,
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
    from amgs.api.simulation import Decay, Insertion, Pruning
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
