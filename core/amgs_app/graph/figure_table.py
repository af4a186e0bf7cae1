"""Beside the graph: its edges as a table, and its blocks by how central they are."""

from __future__ import annotations

from collections.abc import Mapping

from amgs.types import Centrality, EdgeKey, LiveEdge, Neighbourhood
from amgs_app.render.canvas import Piece, Region, clean, ink, width_of
from amgs_app.render.format import share, short_id
from amgs_app.render.glyphs import gauge, scroll_note, window_of
from amgs_app.terminal.themes import blend


def edge_table(
    region: Region,
    result: Neighbourhood,
    letters: Mapping[str, str],
    numbers: Mapping[str, int],
    selected: str | None,
    chosen: EdgeKey | None = None,
) -> None:
    """The edges, those at the centre first, each with its strength.

    chosen: the edge that keys mean.
    """
    palette = region.palette
    titles = {block.id: clean(block.title) for block in result.blocks}
    center = result.center.id

    def rank(live: LiveEdge) -> tuple[bool, float, str, str]:
        ends = (live.edge.source_id, live.edge.target_id)
        return center not in ends, -live.strength, *ends

    edges = sorted(result.edges, key=rank)
    rows = region.height - 1
    at = next((p for p, e in enumerate(edges) if e.edge.key == chosen), None)
    if at is None:
        at = next((p for p, e in enumerate(edges) if selected in (e.edge.source_id, e.edge.target_id)), None)
    first = window_of(len(edges), rows, at if selected != center else None)
    shown = edges[first : first + rows]
    note = scroll_note(first, len(shown), len(edges))
    region.rule(0, f"edges {note}" if note else "edges")
    kind_w = max(width_of(clean(name)) for name in letters) if region.width >= 56 else 1
    numbers_w = len(str(len(numbers)))
    bar_w = 8 if region.width >= 60 else 4
    tail_w = 5 + 5 + bar_w + 6
    central = region.width >= 52 and bool(result.centrality)
    right = region.width - tail_w - (5 if central else 0)
    inner = any(center not in (live.edge.source_id, live.edge.target_id) for live in edges)
    muted = ink(palette.muted)
    heads = [("wgt", 5), ("cnf", 5), ("strength", bar_w + 6), ("rank", 5 if central else 0)]
    x = right
    for name, wide in heads:  # on the rule: the heads stay wherever the table has room for one row
        if wide:
            region.put(x, 0, f" {name}".rjust(wide), muted)
            x += wide
    for row, live in enumerate(shown, start=1):
        edge = live.edge
        outward = edge.source_id == center or (center not in (edge.source_id, edge.target_id))
        near, far = (edge.source_id, edge.target_id) if outward else (edge.target_id, edge.source_id)
        colour = palette.relation(edge.relation_type)
        kind = clean(edge.relation_type).ljust(kind_w) if kind_w > 1 else letters[edge.relation_type]
        other = "" if near == center else str(numbers.get(near, "?"))
        marked = selected in (near, far) and selected != center
        line: list[Piece] = [
            ("▸" if edge.key == chosen or (marked and chosen is None) else " ", ink(palette.accent, bold=True)),
            (f"{other} ".rjust(numbers_w + 1) if inner else "", muted),
            (f"{kind} ", ink(colour, bold=kind_w == 1)),
            ("▸ " if outward else "◂ ", muted),
            (f"{numbers.get(far, '')} ".rjust(numbers_w + 1), muted),
            (titles.get(far, short_id(far)), ink(blend(palette.muted, palette.text, min(1.0, live.strength)))),
        ]
        region.pieces(0, row, line, width=right - 1)
        x = region.put(right, row, share(edge.weight), muted, width=5, align="right")
        x = region.put(x, row, share(edge.confidence), muted, width=5, align="right")
        x = region.put(x, row, share(live.strength), ink(palette.text, bold=True), width=5, align="right") + 1
        gauge(region, x, row, bar_w, live.strength, ink(colour))
        if central:
            value = result.centrality.get(far, Centrality()).pagerank
            region.put(region.width - 5, row, share(value), muted, width=5, align="right")
        if edge.key == chosen or (marked and chosen is None):
            region.shade(row, palette.selection)


def centrality_table(region: Region, result: Neighbourhood, numbers: Mapping[str, int], selected: str | None) -> None:
    """The blocks by PageRank, with the four measures."""
    palette = region.palette
    muted = ink(palette.muted)
    region.rule(0, "centrality")
    right = region.width - 5 * 6
    for at, name in enumerate(("hop", "degr", "eigen", "rank", "betw")):
        region.put(right + at * 6, 1, name, muted, width=6, align="right")
    empty = Centrality()
    ranked = sorted(result.blocks, key=lambda block: (-result.centrality.get(block.id, empty).pagerank, block.id))
    for row, block in enumerate(ranked[: region.height - 2], start=2):
        central = result.centrality.get(block.id, empty)
        number = str(numbers.get(block.id, ""))
        region.pieces(0, row, [(f"{number:>3} ", muted), (clean(block.title), ink(palette.text))], width=right - 1)
        told = (
            str(result.distances.get(block.id, "")),
            share(central.degree),
            share(central.eigenvector),
            share(central.pagerank),
            share(central.betweenness),
        )
        for at, text in enumerate(told):
            region.put(
                right + at * 6, row, text, ink(palette.text, bold=True) if at == 3 else muted, width=6, align="right"
            )
        if block.id == selected:
            region.shade(row, palette.selection)
