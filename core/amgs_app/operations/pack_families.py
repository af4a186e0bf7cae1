"""How packs hang together, and what that would bring to a question: `pack graph|intent`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types.pack_families import PackGraph, PackIntent
    from amgs_app.engine import Engine


@operation(
    "pack graph", summary="Show which packs are linked, and by what.", example="pack graph", pane="packs"
)
def graph(engine: Engine) -> PackGraph:
    """Show how many relations there are between the members of each two packs: semantic, temporal, causal and of
    entities.
    """
    return engine.memory.packs.graph()


@operation(
    "pack intent",
    summary="Show what a question asks for, and what relations would add.",
    example='pack intent "when does the router fail?"',
    lists=lambda found: [one.block.id for reach in found.families for one in reach.blocks],
)
def intent(
    engine: Engine,
    query: Annotated[str, Arg(metavar="QUESTION", help="The question.")],
    *,
    limit: Annotated[int, Option("--limit", metavar="N", min=0, help="At most N blocks of each family.")] = 3,
) -> PackIntent:
    """Say whether a question asks for a time, for one thing, for several, or for what is likely, and how sure that is;
    and what each family of relations leads to from the best hits: blocks, and packs with their share of the walk.

    It explains. No search and no route reads it: even with what is asked for given, weights of the families by
    intent found hardly more than the same for all (docs/results/packs.md).
    """
    return engine.memory.packs.intent(query, limit=limit)
