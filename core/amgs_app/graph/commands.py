"""The graph: `graph neighbours`, `graph inspect`, `graph path`, `graph stats`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from amgs_app import results
from amgs_app.calls.arguments import Limit, Reference
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.api.graph import Communities, GraphPath
    from amgs.types import GraphStats, Neighbourhood
    from amgs_app.engine import Engine

Hops = Annotated[int, Option("--hops", metavar="N", min=1, max=4, help="How far to walk.")]
Nodes = Annotated[int, Option("--limit", metavar="N", min=1, help="At most this many blocks, the strongest first.")]


@operation(
    "graph neighbours",
    summary="Show the blocks around a block.",
    example="graph neighbours @1 --hops 2",
    pane="graph",
    lists=lambda result: [each.id for each in result.blocks],
)
def neighbours(
    engine: Engine,
    block: Reference = None,
    *,
    hops: Hops = 1,
    limit: Nodes = 60,
    relation: Annotated[
        list[str] | None, Option("--relation", metavar="TYPE", help="Only edges of this type; may be repeated.")
    ] = None,
    since: Annotated[
        datetime | None, Option("--since", metavar="DATE", help="Only edges created or used since.")
    ] = None,
) -> Neighbourhood:
    """Show the blocks within --hops of a block and the edges among them, with their type and present strength."""
    chosen = engine.block(block).id
    return engine.memory.graph.neighbourhood(chosen, hops, limit, relations=relation or (), since=since)


@operation(
    "graph path",
    summary="Show the strongest path between two blocks.",
    example="graph path @1 @2",
    lists=lambda result: [block.id for block in result.blocks],
)
def path(
    engine: Engine,
    start: Annotated[str, Arg(metavar="FROM", help="A block."), Takes("block")],
    goal: Annotated[
        str | None, Arg(metavar="TO", help="Another block; default: the selected one."), Takes("block")
    ] = None,
) -> GraphPath:
    """Find the path whose edges have the greatest product of strengths: how two blocks are connected."""
    return engine.memory.graph.path(engine.block(start).id, engine.block(goal).id)


@operation(
    "graph inspect",
    summary="Show a node, its neighbours and its place in the graph.",
    example="graph inspect @1",
    pane="graph",
    lists=lambda result: [each.id for each in result.neighbourhood.blocks],
)
def inspect(engine: Engine, block: Reference = None, *, hops: Hops = 1, limit: Nodes = 60) -> results.Inspection:
    """Show a node with its neighbourhood and its degree, eigenvector, PageRank and betweenness centrality."""
    chosen = engine.block(block).id
    neighbourhood = engine.memory.neighbourhood(chosen, hops, limit)
    return results.Inspection(neighbourhood, engine.memory.centrality(chosen))


@operation(
    "graph stats",
    summary="Count nodes, edges, components and relations, or find communities.",
    synonyms=("communities", "clusters"),
    example="graph stats",
    pane="graph",
    lists=lambda result: [community.centre[0].id for community in getattr(result, "found", ())] or None,
)
def stats(
    engine: Engine,
    *,
    communities: Annotated[bool, Option("--communities", help="Show the largest communities instead.")] = False,
    limit: Limit = 12,
) -> GraphStats | Communities:
    """Count nodes, edges and connected components, the density, and edges by relation.

    With --communities, group the blocks by the strengths of their edges (Louvain's method), with the most central
    blocks of each group.
    """
    if communities:
        return engine.memory.graph.communities(limit)
    return engine.memory.graph_stats()
