"""Tables for neighbourhoods, paths, communities, counts and entities, and those drawn beside the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amgs.text.words import plural
from amgs.types import Block, Centrality, EdgeKey, LiveEdge, Neighbourhood
from amgs_app.panes.row_filter import state_of
from amgs_app.render.canvas import Region, ink
from amgs_app.render.catalogue import entry, table_of
from amgs_app.render.format import short_id
from amgs_app.render.glyphs import gauge
from amgs_app.render.passage import runs_within
from amgs_app.render.rows import RowList, Rows
from amgs_app.render.sheet import Marked, ResultTable, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.api.graph import Communities, GraphPath
    from amgs.types import EntityKnowledge, GraphStats
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.memory import EntityList, Inspection
    from amgs_app.session import Operator


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge as seen from the centre, or from its source. near, far: numbers of its ends in the figure; "" for the
    centre. rank: PageRank of the far end.
    """

    live: LiveEdge
    near: str
    way: str
    far: str
    title: str
    rank: float | None


def _draw_strength(line: Region, x: int, cells: int, row: EdgeRow) -> None:
    gauge(line, x, 0, cells, row.live.strength, ink(line.palette.relation(row.live.edge.relation_type)))


EDGES: Final = Rows[EdgeRow](
    "of~! kind! way! #! title*! weight:score? conf:score? strength:score!= rank:score~?",
    lambda row: (
        row.near,
        row.live.edge.relation_type,
        row.way,
        row.far,
        row.title,
        row.live.edge.weight,
        row.live.edge.confidence,
        row.live.strength,
        row.rank,
    ),
    bar=_draw_strength,
)
BLOCKS: Final = Rows[tuple[Block, str, str, Centrality]](
    "#! title*! hop degree:score? eigen:score?? rank:score! between:score?",
    lambda row: (row[1], row[0].title, row[2], row[3].degree, row[3].eigenvector, row[3].pagerank, row[3].betweenness),
    key=lambda row: row[0].id,
)


def list_edges(result: Neighbourhood, numbers: Mapping[str, int]) -> RowList[EdgeRow]:
    """List the edges, the centre's first, then strong before weak. numbers: of the blocks in the figure."""
    titles = {block.id: block.title for block in result.blocks}
    center = result.center.id

    def rank(live: LiveEdge) -> tuple[bool, float, str, str]:
        ends = (live.edge.source_id, live.edge.target_id)
        return center not in ends, -live.strength, *ends

    rows = []
    for live in sorted(result.edges, key=rank):
        source, target = live.edge.source_id, live.edge.target_id
        outward = center != target
        near, far = (source, target) if outward else (target, source)
        other = "" if near == center else str(numbers.get(near, "?"))
        place = result.centrality.get(far)
        title, number = titles.get(far, short_id(far)), str(numbers.get(far, ""))
        rows.append(
            EdgeRow(live, other, "▸" if outward else "◂", number, title, None if place is None else place.pagerank)
        )
    return EDGES.of("edges", rows)


def edge_table(
    region: Region,
    result: Neighbourhood,
    numbers: Mapping[str, int],
    selected: str | None,
    chosen: EdgeKey | None = None,
) -> None:
    """Draw the edges below a rule. chosen: the edge that keys act on, else the first of the selected block."""
    listed = list_edges(result, numbers)
    keys = [row.live.edge.key for row in listed.items]
    touching = (at for at, key in enumerate(keys) if selected in key[:2] and selected != result.center.id)
    listed.draw_under(region, keys.index(chosen) if chosen in keys else next(touching, None))


def centrality_table(region: Region, result: Neighbourhood, numbers: Mapping[str, int], selected: str | None) -> None:
    """Draw the blocks by PageRank, with the four measures."""
    empty = Centrality()
    places = [(block, result.centrality.get(block.id, empty)) for block in result.blocks]
    places.sort(key=lambda place: (-place[1].pagerank, place[0].id))
    rows = [
        (block, str(numbers.get(block.id, "")), str(result.distances.get(block.id, "")), central)
        for block, central in places
    ]
    listed = BLOCKS.of("centrality", rows)
    listed.draw_under(region, listed.place_of(selected))


def _draw_result(operator: Operator, result: Neighbourhood, canvas: Canvas) -> Text:
    from amgs_app.graph import figure as graph
    from amgs_app.panes.row_filter import list_neighbour_ids

    sift = operator.layout.sifts.get("graph")
    ids = list_neighbour_ids(result, sift) if sift else None
    return graph.neighbourhood(result, canvas, selected=operator.selection, now=operator.engine.clock.now(), shown=ids)


@entry(figure=_draw_result)
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
    return _draw_result(operator, result.neighbourhood, canvas)


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
