"""Futures by simulation: `montecarlo enhance|prune|evolve|insert|stability`. None of them changes anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.operations.maintenance import Concerns, Only

if TYPE_CHECKING:
    from amgs.simulation.enhance import EnhancementForecast
    from amgs.simulation.evolve import Evolution
    from amgs.simulation.insert import Insertion
    from amgs.simulation.prune import PruningFutures
    from amgs.simulation.stability import Stability
    from amgs.types import Progress
    from amgs_app.engine import Engine

Days = Annotated[float, Option("--days", metavar="N", min=0, max=36500, help="How many days to look ahead.")]
Draws = Annotated[int, Option("--draws", metavar="N", min=1, max=10000, help="How many simulations.")]
Rate = Annotated[
    float | None,
    Option("--rate", metavar="N", min=0, help="Accesses per day; default: as in the last thirty days."),
]


@operation(
    "montecarlo enhance",
    summary="Simulate what `enhance` would change.",
    example="montecarlo enhance --draws 200",
    long=True,
)
def enhance(
    engine: Engine,
    *,
    only: Only = None,
    kind: Concerns = None,
    days: Days = 30,
    draws: Draws = 64,
    progress: Progress | None = None,
) -> EnhancementForecast:
    """Simulate the graph with and without the proposals of `enhance`, under uncertain confidences and decay.

    Shows the strength of edges, the components, how stable the most central blocks are, and which blocks move. The
    session's seed decides the draws.
    """
    lifecycle = engine.memory.lifecycle
    plan = lifecycle.plan_enhancement(kinds=[each.value for each in kind] if kind else (), progress=progress)
    chosen = lifecycle.choose(plan, only or ())
    return engine.memory.simulation.enhance(
        chosen, days=days, draws=draws, seed=engine.seed, progress=progress
    )


@operation(
    "montecarlo prune",
    summary="Compare pruning strategies by simulation.",
    example="montecarlo prune --days 30",
    long=True,
)
def prune(
    engine: Engine,
    *,
    threshold: Annotated[
        list[float] | None,
        Option(
            "--threshold",
            metavar="X",
            min=0.0001,
            max=1,
            help="A relevance threshold to try; may be repeated.",
        ),
    ] = None,
    days: Days = 180,
    cycle: Annotated[
        float, Option("--cycle", metavar="N", min=0.01, max=36500, help="Days between prunings.")
    ] = 30,
    rate: Rate = None,
    lowest: Annotated[
        float | None,
        Option("--lowest", metavar="P", min=0, max=1, help="As in `prune`."),
    ] = None,
    questions: Annotated[
        Path | None,
        Option(
            "--questions", metavar="FILE", help="Labelled questions, to measure the recall@10 that is left."
        ),
        Takes("file"),
    ] = None,
    draws: Draws = 32,
    progress: Progress | None = None,
) -> PruningFutures:
    """Run every pruning strategy on the same simulated accesses, and count the accesses that then find nothing.

    A strategy is a relevance threshold, and how many of the other three signs (centrality, reinforcement, confidence)
    must be low too. The marked strategies are those that no other beats on both counts.
    """
    from amgs.calibration.questions import load

    return engine.memory.simulation.prune(
        thresholds=tuple(threshold or ()),
        days=days,
        cycle=cycle,
        draws=draws,
        seed=engine.seed,
        rate=rate,
        lowest=lowest,
        questions=() if questions is None else load(questions),
        progress=progress,
    )


@operation(
    "montecarlo evolve",
    summary="Simulate how the memory decays and is used over time.",
    example="montecarlo evolve --days 90",
    long=True,
    lists=lambda found: [each.block_id for each in found.open],
)
def evolve(
    engine: Engine,
    *,
    days: Days = 90,
    steps: Annotated[int, Option("--steps", metavar="N", min=1, max=100, help="Checkpoints.")] = 6,
    rate: Rate = None,
    draws: Draws = 64,
    progress: Progress | None = None,
) -> Evolution:
    """Draw accesses at the rate the memory has had so far, and show which blocks and edges survive to each
    checkpoint.

    An access finds a block, walks each of its edges with a chance equal to the edge's strength, and reinforces what
    it reaches. Lists the blocks whose survival is least certain.
    """
    return engine.memory.simulation.evolve(
        days=days, draws=draws, seed=engine.seed, steps=steps, rate=rate, progress=progress
    )


@operation(
    "montecarlo insert",
    summary="Simulate where a new text would attach to the graph.",
    example='montecarlo insert "The pump was replaced." --days 30',
    long=True,
    lists=lambda found: [each.other_id for each in found.links],
)
def insert(
    engine: Engine,
    text: Annotated[str, Arg(metavar="TEXT", help="The text to insert."), Takes("text")],
    *,
    days: Days = 30,
    draws: Draws = 64,
    progress: Progress | None = None,
) -> Insertion:
    """Show the links that consolidation would make, which of them last, and which blocks each brings within reach.

    The best insertion point comes first. Nothing is ingested.
    """
    return engine.memory.simulation.insert(text, days=days, draws=draws, seed=engine.seed, progress=progress)


@operation(
    "montecarlo stability",
    summary="Test how stable the graph is when edges are lost at random.",
    example="montecarlo stability --noise 0.1",
    long=True,
    lists=lambda found: [each.block_id for each in found.least],
)
def stability(
    engine: Engine,
    *,
    noise: Annotated[
        float,
        Option("--noise", metavar="SIGMA", min=0, max=5, help="Noise on the logarithm of each strength."),
    ] = 0.3,
    loss: Annotated[
        float, Option("--loss", metavar="P", min=0, max=1, help="Share of edges lost at random.")
    ] = 0.1,
    days: Days = 30,
    pace: Annotated[
        list[float] | None,
        Option(
            "--pace",
            metavar="X",
            min=0,
            max=1000,
            help="A multiple of the decay rate; may be repeated. Default: ½, 1, 2, 4.",
        ),
    ] = None,
    draws: Draws = 32,
    progress: Progress | None = None,
) -> Stability:
    """Disturb every edge, today and after --days at each decay rate, and compare centrality with that of today.

    Lists the central blocks whose rank is least stable.
    """
    return engine.memory.simulation.stability(
        noise=noise,
        loss=loss,
        days=days,
        paces=tuple(pace) if pace else (0.5, 1.0, 2.0, 4.0),
        draws=draws,
        seed=engine.seed,
        progress=progress,
    )
