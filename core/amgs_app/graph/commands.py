"""The graph: `graph neighbours|inspect|path|stats`; edges set and removed by hand; and `entity`, the people,
places, projects and topics that blocks name.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from amgs_app import results
from amgs_app.calls.marks import Arg, Limit, Option, Reference, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.api.graph import Communities, GraphPath
    from amgs.types import EntityKnowledge, GraphStats, JournalEntry, Neighbourhood, Progress
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
        str | None, Arg(metavar="TO", help="Another block; default: the selected block."), Takes("block")
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


_From = Annotated[str, Arg(metavar="FROM", help="The block that the edge leaves."), Takes("block")]
_To = Annotated[
    str | None, Arg(metavar="TO", help="The block that it leads to; default: the selected block."), Takes("block")
]
_Kind = Annotated[str, Option("--kind", metavar="TYPE", help="The type of the edge: related, links_to, depends_on, …")]


@operation(
    "edge set",
    summary="Add an edge between two blocks, or correct an existing edge.",
    synonyms=("add", "link", "connect", "confirm"),
    example="edge set @1 @2 --kind supports --weight 0.8",
    writes=True,
)
def set_edge(
    engine: Engine,
    start: _From,
    goal: _To = None,
    *,
    kind: _Kind = "related",
    weight: Annotated[float, Option("--weight", metavar="X", min=0, max=1, help="Strength, 0 to 1.")] = 0.8,
    confidence: Annotated[
        float, Option("--confidence", metavar="X", min=0, max=1, help="How sure it is, 0 to 1.")
    ] = 1.0,
    confirm: Annotated[bool, Option("--confirm", help="Confirm an edge that is there, and leave its weight.")] = False,
) -> results.EdgeAdded | results.EdgeConfirmed:
    """Add an edge, or change the weight and the confidence of an existing edge; `undo` takes it back.

    With --confirm the confidence of an edge that is there becomes 1, and its decay begins anew.
    """
    ends = engine.block(start), engine.block(goal)
    if confirm:
        edge = engine.memory.graph.confirm_edge(ends[0].id, ends[1].id, kind=kind)
        return results.EdgeConfirmed(edge, ends[0].title, ends[1].title)
    edge = engine.memory.add_edge(ends[0].id, ends[1].id, kind=kind, weight=weight, confidence=confidence)
    return results.EdgeAdded(edge, ends[0].title, ends[1].title)


@operation(
    "edge remove",
    summary="Remove the edges from a block to another.",
    synonyms=("unlink", "disconnect"),
    example="edge remove @1 @2",
    writes=True,
)
def remove(
    engine: Engine,
    start: _From,
    goal: _To = None,
    *,
    kind: Annotated[str | None, Option("--kind", metavar="TYPE", help="Only edges of this type.")] = None,
) -> JournalEntry:
    """Remove edges, also the program's own; `undo` brings them back."""
    return engine.memory.remove_edge(engine.block(start).id, engine.block(goal).id, kind=kind)


TypeName = Literal["person", "organisation", "place", "project", "topic", "unknown"]


@operation(
    "entity",
    summary="List people, places, projects and topics, or show what is known of an entity.",
    synonyms=("people", "who"),
    example="entity Meret",
    lists=lambda result: [mention.block.id for mention in result.mentions] if hasattr(result, "mentions") else None,
)
def entity(
    engine: Engine,
    name: Annotated[
        str | None,
        Arg(metavar="NAME", help="A name or an alias; default: list those named most often."),
        Takes("entity"),
    ] = None,
    *,
    kind: Annotated[TypeName | None, Option("--type", metavar="TYPE", help="List: only entities of this type.")] = None,
    min_mentions: Annotated[
        int, Option("--min-mentions", metavar="N", min=1, help="List: only what is named at least N times.")
    ] = 2,
    order: Annotated[
        Literal["relevance", "time"],
        Option("--order", metavar="ORDER", help="Of an entity: relevance, or time: the earliest first."),
    ] = "relevance",
    limit: Annotated[
        int | None,
        Option("--limit", metavar="N", min=1, help="At most N; default: 50 entities, 20 blocks of an entity."),
    ] = None,
    progress: Progress | None = None,
) -> results.EntityList | EntityKnowledge:
    """List what live blocks name, with aliases, type, mentions, and the dates of the first and last block.

    With a NAME, show the blocks that name it, each with the passage, its source and its date, and the entities beside
    it; what was superseded is marked and comes last in the order of relevance. A name that nothing is known by is
    answered with the names nearest to it.

    Names are read out of the blocks on the first call and cached for the session; markup, addresses and code name
    nothing. A type is named only where several cues agree on it.
    """
    known = engine.memory.entities
    if name is not None:
        return known.get(name, limit or 20, order, progress=progress)
    entities = known.list(limit or 50, kind, min_mentions, progress=progress)
    return results.EntityList(entities, known.count(kind, min_mentions))
