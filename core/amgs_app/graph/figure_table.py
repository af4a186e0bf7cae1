"""Tables beside the graph: edges, and blocks by centrality."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from amgs.types import Block, Centrality, EdgeKey, LiveEdge, Neighbourhood
from amgs_app.render.canvas import Region, ink
from amgs_app.render.format import short_id
from amgs_app.render.glyphs import gauge
from amgs_app.render.rows import RowList, Rows


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
