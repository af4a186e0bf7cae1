"""Tables for neighbourhoods, paths, communities, counts and entities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.panes.row_fields import state_of
from amgs_app.render.catalogue import entry, table_of
from amgs_app.render.passage import runs_within
from amgs_app.render.sheet import Marked, ResultTable, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.api.graph import Communities, GraphPath
    from amgs.types import EntityKnowledge, GraphStats, Neighbourhood
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.memory import EntityList, Inspection
    from amgs_app.session.operator import Operator


def _drawn(operator: Operator, result: Neighbourhood, canvas: Canvas) -> Text:
    from amgs_app.graph import figure as graph
    from amgs_app.panes.row_fields import list_neighbour_ids

    sift = operator.layout.sifts.get("graph")
    ids = list_neighbour_ids(result, sift) if sift else None
    return graph.neighbourhood(result, canvas, selected=operator.selection, now=operator.engine.clock.now(), shown=ids)


@entry(figure=_drawn)
def neighbourhood(result: Neighbourhood) -> ResultTable:
    titles = {block.id: block.title for block in result.blocks} | {result.center.id: result.center.title}
    rows = [
        (
            titles.get(e.edge.source_id, e.edge.source_id),
            e.edge.relation_type,
            titles.get(e.edge.target_id, e.edge.target_id),
            e.strength,
        )
        for e in sorted(result.edges, key=lambda live: -live.strength)
    ]
    title = f"{result.center.title}: {plural(len(result.blocks), 'block')} within {result.hops}"
    return sheet(title, "from* relation to* strength:score", rows)


def _draw_inspection(operator: Operator, result: Inspection, canvas: Canvas) -> Text:
    return _drawn(operator, result.neighbourhood, canvas)


@entry(figure=_draw_inspection)
def inspection(result: Inspection) -> ResultTable:
    table = table_of(result.neighbourhood)
    c = result.centrality
    note = (
        f"degree {c.degree:.3f}, eigenvector {c.eigenvector:.3f}, PageRank {c.pagerank:.3f}, "
        f"betweenness {c.betweenness:.3f}"
    )
    return ResultTable(table.title, table.columns, table.rows, (note,))


def _draw_stats(operator: Operator, result: GraphStats, canvas: Canvas) -> Text:
    from amgs_app.graph import figure as graph

    del operator
    return graph.stats(result, canvas)


@entry(figure=_draw_stats)
def graph_stats(result: GraphStats) -> ResultTable:
    counts = f"{plural(result.nodes, 'node')}, {plural(result.edges, 'edge')}, {plural(result.components, 'component')}"
    title = f"{counts}, density {result.density:.4f}"
    return sheet(title, "relation* edges:n", sorted(result.by_relation.items(), key=lambda pair: (-pair[1], pair[0])))


@entry()
def graph_path(result: GraphPath) -> ResultTable:
    rows = []
    for before, live, after in zip(result.blocks, result.edges, result.blocks[1:], strict=False):
        arrow = "▸" if live.edge.source_id == before.id else "◂"
        rows.append((before.title, f"{live.edge.relation_type} {arrow}", after.title, live.strength))
    if result.start.id == result.goal.id:
        note = "Both ends are the same block."
    elif not rows:
        note = "No path connects them."
    else:
        note = f"Product of strengths: {result.strength:.3f}."
    steps = f"{len(rows)} step{'' if len(rows) == 1 else 's'}"
    title = f"{result.start.title} to {result.goal.title}: {steps}"
    return sheet(title, "from* by to* strength:score", rows, (note,))


@entry()
def communities(result: Communities) -> ResultTable:
    rows = [
        (
            part.number,
            part.size,
            part.inside,
            ", ".join(f"{name} {count}" for name, count in part.categories),
            "; ".join(block.title for block in part.centre),
        )
        for part in result.found
    ]
    title = f"{plural(result.total, 'community', 'communities')}, modularity {result.modularity:.2f}"
    notes = () if rows else ("There are no edges yet: `consolidate` makes them.",)
    return sheet(title, "#:n blocks:n inside:score categories* centre*", rows, notes)


_MOST_ALIASES = 5


@entry()
def entity_list(result: EntityList) -> ResultTable:
    rows = [
        (e.name, e.type, e.mentions, e.blocks, e.first, e.last, ", ".join(e.aliases[:_MOST_ALIASES]), e.because)
        for e in result.entities
    ]
    hidden = result.total - len(rows)
    notes = (f"{hidden:,} more" if hidden else "", "" if rows else "No block names anything so often.")
    columns = "name* type mentions:n blocks:n first:day last:day aliases* because*?"
    return sheet(plural(result.total, "entity", "entities"), columns, rows, notes)


@entry()
def entity_knowledge(result: EntityKnowledge) -> ResultTable:
    known = result.entity
    rows = [
        (
            n,
            mention.block.id,
            mention.block.title,
            " ".join(str(mention.block.meta.get("source") or "").split()),
            mention.block.created_at,
            state_of(mention.block),
            mention.count,
            Marked(runs_within(mention.block.content, mention.passage)),
        )
        for n, mention in enumerate(result.mentions, 1)
    ]
    type_ = f"{known.type} ({known.because})" if known.because else known.type
    also = ", ".join(known.aliases[:_MOST_ALIASES])
    beside = ", ".join(f"{entity.name} ({entity.shared})" for entity in result.related)
    hidden = known.blocks - len(rows)
    notes = (
        f"type: {type_}",
        f"also written: {also}" if also else "",
        f"named beside it, with in how many blocks: {beside}" if beside else "",
        f"{plural(hidden, 'more block')}" if hidden else "",
    )
    counts = f"{plural(known.mentions, 'mention')} in {plural(known.blocks, 'block')}"
    title = f"{known.name}: {counts}, {known.first:%Y-%m-%d} to {known.last:%Y-%m-%d}"
    return sheet(title, "#:n id:id title* source* date:day state~ times:n passage/", rows, notes)
