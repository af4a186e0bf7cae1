"""Futures by simulation: `montecarlo NAME`. None of them changes anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from amgs.errors import UsageError
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

Simulation = Literal["enhance", "prune", "evolve", "insert", "stability"]

_OPTIONS: Final[Mapping[Simulation, frozenset[str]]] = {
    "enhance": frozenset({"only", "kind", "days", "draws"}),
    "prune": frozenset({"threshold", "days", "cycle", "rate", "lowest", "questions", "draws"}),
    "evolve": frozenset({"days", "steps", "rate", "draws"}),
    "insert": frozenset({"text", "days", "draws"}),
    "stability": frozenset({"noise", "loss", "days", "pace", "draws"}),
}
"""What each simulation can be told, by the names of the parameters; each takes a seed too."""


def _listed(found: Any) -> list[str] | None:
    """The blocks whose future is least certain, or that a new one would be linked to."""
    for name, block_id in (("open", "block_id"), ("links", "other_id"), ("least", "block_id")):
        if hasattr(found, name):
            return [getattr(each, block_id) for each in getattr(found, name)]
    return None


@operation(
    "montecarlo",
    needs="operate",
    summary="Simulate what a change, time, use or noise would come to.",
    synonyms=("what if", "simulate", "simulation"),
    example='montecarlo insert "The pump was replaced." --days 30',
    long=True,
    lists=_listed,
)
def montecarlo(
    engine: Engine,
    simulation: Annotated[Simulation, Arg(metavar="NAME", help="What is simulated.")],
    text: Annotated[str | None, Arg(metavar="TEXT", help="insert: the text of the new block."), Takes("text")] = None,
    *,
    days: Annotated[
        float | None,
        Option(
            "--days",
            metavar="N",
            min=0,
            max=36500,
            help="How many days to look ahead; default: 30, evolve 90, prune 180.",
        ),
    ] = None,
    draws: Annotated[
        int | None,
        Option(
            "--draws",
            metavar="N",
            min=1,
            max=10000,
            help="How many simulations; default: 64, of prune and stability 32.",
        ),
    ] = None,
    seed: Annotated[int | None, Option("--seed", metavar="N", help="Random seed; default: the session's.")] = None,
    only: Only = None,
    kind: Concerns = None,
    rate: Annotated[
        float | None,
        Option(
            "--rate", metavar="N", min=0, help="prune, evolve: accesses per day; default: as in the last thirty days."
        ),
    ] = None,
    steps: Annotated[
        int | None, Option("--steps", metavar="N", min=1, max=100, help="evolve: checkpoints; default: 6.")
    ] = None,
    threshold: Annotated[
        list[float] | None,
        Option(
            "--threshold", metavar="X", min=0.0001, max=1, help="prune: a relevance threshold to try; may be repeated."
        ),
    ] = None,
    cycle: Annotated[
        float | None,
        Option("--cycle", metavar="N", min=0.01, max=36500, help="prune: days between prunings; default: 30."),
    ] = None,
    lowest: Annotated[float | None, Option("--lowest", metavar="P", min=0, max=1, help="prune: as in `prune`.")] = None,
    questions: Annotated[
        Path | None,
        Option("--questions", metavar="FILE", help="prune: labelled questions, to measure the recall@10 that is left."),
        Takes("file"),
    ] = None,
    noise: Annotated[
        float | None,
        Option(
            "--noise",
            metavar="SIGMA",
            min=0,
            max=5,
            help="stability: noise on the logarithm of each strength; default: 0.3.",
        ),
    ] = None,
    loss: Annotated[
        float | None,
        Option("--loss", metavar="P", min=0, max=1, help="stability: share of edges lost at random; default: 0.1."),
    ] = None,
    pace: Annotated[
        list[float] | None,
        Option(
            "--pace",
            metavar="X",
            min=0,
            max=1000,
            help="stability: a multiple of the decay rate; may be repeated. Default: ½, 1, 2, 4.",
        ),
    ] = None,
    progress: Progress | None = None,
) -> EnhancementForecast | PruningFutures | Evolution | Insertion | Stability:
    """Draw many futures at random and show how they differ. The memory is read and never written; the seed decides the
    draws.

    enhance: the graph with and without the proposals of `enhance`, under uncertain confidences and decay: the strength
    of edges, the components, how stable the most central blocks are.

    prune: every pruning strategy on the same accesses, and the accesses that then find nothing. A strategy is a
    relevance threshold, and how many of the other three signs (centrality, reinforcement, confidence) must be low too.
    The marked ones are those that no other beats on both counts.

    evolve: accesses at the rate the memory has had so far, and which blocks and edges survive to each checkpoint. An
    access finds a block, walks each of its edges with a chance equal to the edge's strength, and reinforces what it
    reaches.

    insert: the links that consolidation would give TEXT, which of them last, and which blocks each brings within reach.

    stability: every edge disturbed, today and after --days at each pace of decay, and centrality compared with today's.
    """
    options = {
        "text": text,
        "days": days,
        "draws": draws,
        "only": only,
        "kind": kind,
        "rate": rate,
        "steps": steps,
        "threshold": threshold,
        "cycle": cycle,
        "lowest": lowest,
        "questions": questions,
        "noise": noise,
        "loss": loss,
        "pace": pace,
    }
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    _check(simulation, given)
    seed = engine.seed if seed is None else seed
    simulations = engine.memory.simulation
    match simulation:
        case "enhance":
            lifecycle = engine.memory.lifecycle
            kinds = [each.value for each in given.pop("kind", ())]
            plan = lifecycle.plan_enhancement(kinds=kinds, progress=progress)
            chosen = lifecycle.choose(plan, given.pop("only", ()))
            return simulations.enhance(chosen, seed=seed, progress=progress, **given)
        case "prune":
            given["thresholds"] = tuple(given.pop("threshold", ()))
            if questions is not None:
                from amgs.calibration.questions import load

                given["questions"] = load(questions)
            return simulations.prune(seed=seed, progress=progress, **given)
        case "evolve":
            return simulations.evolve(seed=seed, progress=progress, **given)
        case "insert":
            return simulations.insert(given.pop("text"), seed=seed, progress=progress, **given)
        case "stability":
            if pace:
                given["paces"] = tuple(given.pop("pace"))
            return simulations.stability(seed=seed, progress=progress, **given)


def _check(simulation: Simulation, given: Mapping[str, Any]) -> None:
    """Raise UsageError for an option of another simulation, and for a missing or a needless text."""
    if simulation == "insert" and "text" not in given:
        raise UsageError(
            "There is no text to insert.", way_out='For example `montecarlo insert "The pump was replaced."`.'
        )
    wrong = sorted(set(given) - _OPTIONS[simulation])
    if wrong:
        told = "TEXT" if wrong[0] == "text" else f"--{wrong[0]}"
        takes = sorted("TEXT" if each == "text" else f"--{each}" for each in _OPTIONS[simulation])
        raise UsageError(f"`montecarlo {simulation}` takes no {told}.", way_out=f"It takes {', '.join(takes)}, --seed.")
