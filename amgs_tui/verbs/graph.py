"""The graph: `graph neighbours`, `graph inspect`, `graph stats`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amgs_tui.verbs.arguments import Reference
from amgs_tui.verbs.registry import verb
from amgs_tui.verbs.results import Inspection

if TYPE_CHECKING:
    from amgs.model import GraphStats, Neighbourhood
    from amgs_tui.session import Session

Hops = Annotated[int, typer.Option("--hops", metavar="N", min=1, max=4, help="How far to walk.")]
Nodes = Annotated[
    int, typer.Option("--limit", metavar="N", min=1, help="At most this many blocks, the strongest first.")
]


@verb("graph neighbours", summary="Show what lies around a block.", pane="graph")
def neighbours(
    session: Session, block: Reference = None, *, hops: Hops = 1, limit: Nodes = 60
) -> Neighbourhood:
    """Show the blocks within --hops of a block and the edges among them, with type and strength now."""
    found = session.memory.neighbourhood(session.block(block).id, hops, limit)
    session.listed = tuple(each.id for each in found.blocks)
    return found


@verb("graph inspect", summary="Show a node, its neighbours and its place in the graph.", pane="graph")
def inspect(session: Session, block: Reference = None, *, hops: Hops = 1, limit: Nodes = 60) -> Inspection:
    """Show a node with its neighbourhood and its degree, eigenvector, PageRank and betweenness centrality."""
    chosen = session.block(block).id
    found = session.memory.neighbourhood(chosen, hops, limit)
    session.listed = tuple(each.id for each in found.blocks)
    return Inspection(found, session.memory.centrality(chosen))


@verb("graph stats", summary="Count nodes, edges, components and relations.", pane="graph")
def stats(session: Session) -> GraphStats:
    """Count nodes, edges and connected components, the density, and edges by relation."""
    return session.memory.graph_stats()
