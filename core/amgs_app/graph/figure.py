"""Draw the neighbourhood of a block: linked blocks in rings, edges by type and strength. Faded edges are dotted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from rich.text import Text

from amgs.decay import relevance_at
from amgs.text.words import plural
from amgs.types import Block, EdgeKey, GraphStats, LiveEdge, Neighbourhood
from amgs_app.graph.figure_layout import PlacedNode, Spot, parents, place, short_labels
from amgs_app.graph.rows import centrality_table, edge_table
from amgs_app.render.canvas import Canvas, Figure, Region, clean, cut, ink, width_of
from amgs_app.render.format import count, share
from amgs_app.render.glyphs import HeaderPart, bar, facts_line, notice, wrap
from amgs_app.render.plot import Strokes
from amgs_app.terminal.themes import blend

STRONG, FADING = 0.3, 0.1
"""Edge strengths from which a line is solid, and below which it is dotted."""
CROWDED = 2
"""Edges per block from which only the most important edges are drawn."""
MOST_RINGS = 3
LISTED_BELOW = 60
MOST_DRAWN = 7
"""Most neighbours drawn in a region narrower than LISTED_BELOW; more are only listed, since their lines would cross."""
_DOTS = {1: "●", 2: "○", 3: "·"}


def neighbourhood(
    result: Neighbourhood | None,
    canvas: Canvas,
    *,
    selected: str | None = None,
    now: datetime | None = None,
    shown: Sequence[str] | None = None,
    edge: EdgeKey | None = None,
) -> Text:
    """Draw the blocks around the centre in rings, and the edges as a table.

    selected: id of the highlighted block. now: fades blocks by their relevance. shown: ids of visible neighbours,
    numbered in this order; None for all, near before far, then strong before weak. edge: the edge that keys act on.
    """
    if result is None:
        return notice(
            canvas,
            "No block is selected",
            ("block find dome", "graph neighbours ID --hops 2"),
            "Choose a block to see what it is linked to.",
        )
    sheet = Figure(canvas)
    _head(sheet, result, selected)
    every = len(result.edges)
    if shown is not None:
        result = _restrict(result, shown)
    letters = relation_letters(result.edges)
    y = 1
    if result.edges and sheet.height >= SENTENCE_FROM:
        sheet.put(1, y, describe_strongest(result), ink(sheet.palette.text), width=sheet.width - 2)
        y += 1
    if result.edges and sheet.height >= 12:
        _legend(sheet, y, result.edges, letters)
        y += 1
    body = sheet.part(0, y)
    if not result.edges:
        lines = (
            ("It has no edges yet.", "Consolidation links a block to what it mentions, resembles and follows.")
            if not every
            else ("No neighbour matches the filter.", "F changes the filter; a blank filter clears it.")
        )
        parts = [part for line in lines for part in wrap(line, max(8, body.width - 2), 3)]
        for row, line in enumerate(parts, start=body.height // 2 + 2):
            body.put(0, row, line, ink(sheet.palette.muted), width=body.width, align="centre")
        _rings(body, result, letters, {}, selected, now)
        return sheet.render()
    ids = [block.id for block in _rank_blocks(result)][1:] if shown is None else shown
    numbers = {block_id: at for at, block_id in enumerate(ids, start=1)}
    drawing, table = _split(body, result)
    if drawing is not None:
        _rings(drawing, result, letters, numbers, selected, now)
    if table is not None:
        spare = table.height - len(result.edges) - 2
        below = min(spare, len(result.blocks) + 2) if result.centrality and spare >= 6 else 0
        upper = table.part(0, 0, None, table.height - below)
        edge_table(upper, result, numbers, selected, edge)
        if below:
            centrality_table(table.part(0, table.height - below), result, numbers, selected)
    return sheet.render()


SENTENCE_FROM = 14
"""Lines from which a sentence above the figure describes it."""


def describe_strongest(result: Neighbourhood) -> str:
    """Return a sentence about the centre's edges and the strongest of them."""
    titles = {block.id: clean(block.title) for block in result.blocks}
    center = result.center.id
    own = [live for live in result.edges if center in live.edge.key[:2]]
    if not own:
        return "No edge of this block is among those shown."
    best = max(own, key=lambda live: (live.strength, live.edge.key))
    far = best.edge.target_id if best.edge.source_id == center else best.edge.source_id
    clause = f"{plural(len(own), 'edge')} {'touches' if len(own) == 1 else 'touch'} this block"
    kind = clean(best.edge.relation_type)
    return f"{clause}; the strongest, {kind} {share(best.strength)}, joins it to “{titles.get(far, far[:8])}”."


def stats(result: GraphStats, canvas: Canvas) -> Text:
    """Draw the counts of the whole graph, and edges by relation."""
    sheet = Figure(canvas)
    palette = sheet.palette
    plain, muted = ink(palette.text, bold=True), ink(palette.muted)
    facts_line(
        sheet,
        0,
        [
            HeaderPart(0, ((count(result.nodes), plain), (" blocks", muted))),
            HeaderPart(1, ((count(result.edges), plain), (" edges", muted))),
            HeaderPart(2, ((plural(result.components, "island"), muted),)),
            HeaderPart(3, (("density ", muted), (f"{result.density:.4f}", plain))),
        ],
        x=1,
    )
    ranked = sorted(result.by_relation.items(), key=lambda pair: (-pair[1], pair[0]))
    most = max((number for _, number in ranked), default=1)
    name_w = max((width_of(clean(name)) for name, _ in ranked), default=0)
    for row, (name, number) in enumerate(ranked[: sheet.height - 2], start=2):
        colour = ink(palette.relation(name))
        x = sheet.put(1, row, clean(name), colour, width=min(name_w, 24)) + 1
        x = sheet.put(x, row, count(number), ink(palette.text), width=8, align="right") + 1
        sheet.put(x, row, bar(number / most, sheet.width - x - 1, sheet.symbols), colour)
    if (row := 3 + len(ranked)) < sheet.height:
        hint = "Find a block with /: its neighbourhood is drawn here."
        sheet.put(1, row, hint, muted, width=sheet.width - 2)
    return sheet.render()


def relation_letters(edges: Sequence[LiveEdge]) -> dict[str, str]:
    """Return a letter for each relation, the first of its name that is free; independent of the order of edges."""
    letters: dict[str, str] = {}
    for name in sorted({live.edge.relation_type for live in edges}):
        options = [sign for sign in name.lower() if sign.isascii() and sign.isalpha()] + list("0123456789")
        letters[name] = next((sign for sign in options if sign not in letters.values()), "?")
    return letters


def _head(sheet: Figure, result: Neighbourhood, selected: str | None) -> None:
    """Draw the line with the centre's title, counts and centrality."""
    palette = sheet.palette
    plain, muted = ink(palette.text), ink(palette.muted)
    shown = next((block for block in result.blocks if block.id == selected), result.center)
    facts = [
        HeaderPart(0, ((cut(clean(result.center.title), max(12, sheet.width // 3)), ink(palette.accent, bold=True)),)),
        HeaderPart(
            1,
            (
                (plural(max(0, len(result.blocks) - 1), "neighbour"), plain),
                (f" in {plural(result.hops, 'hop')}", muted),
            ),
        ),
        HeaderPart(2, ((plural(len(result.edges), "edge"), plain),)),
    ]
    central = result.centrality.get(shown.id)
    if central is not None:
        prefix = "" if shown.id == result.center.id else f"{cut(clean(shown.title), 16)}: "
        facts.append(
            HeaderPart(
                3,
                (
                    (f"{prefix}degree ", muted),
                    (share(central.degree), plain),
                    (" pagerank ", muted),
                    (share(central.pagerank), plain),
                ),
            )
        )
        facts.append(
            HeaderPart(
                4,
                (
                    ("eigen ", muted),
                    (share(central.eigenvector), plain),
                    (" between ", muted),
                    (share(central.betweenness), plain),
                ),
            )
        )
    facts_line(sheet, 0, facts, x=1)


def _legend(sheet: Figure, y: int, edges: Sequence[LiveEdge], letters: Mapping[str, str]) -> None:
    """Draw the letters of the relations and the meaning of line styles."""
    palette = sheet.palette
    pieces: list[HeaderPart] = []
    for at, (name, letter) in enumerate(sorted(letters.items())):
        number = sum(live.edge.relation_type == name for live in edges)
        colour = palette.relation(name)
        pieces.append(
            HeaderPart(at, ((letter, ink(colour, bold=True)), (f" {clean(name)} {number}", ink(palette.muted))))
        )
    lines = "━ firm  ╌ fading  · faint" if sheet.symbols != "ascii" else "- firm  - - fading  . faint"
    pieces.append(HeaderPart(99, ((lines, ink(palette.muted)),)))
    facts_line(sheet, y, pieces, gap=2, x=1)


def _split(body: Region, result: Neighbourhood) -> tuple[Region | None, Region | None]:
    """Return the regions of drawing and table: beside each other if wide, else below; the table alone if narrow and
    crowded.
    """
    edges = len(result.edges)
    if body.width < LISTED_BELOW and len(result.blocks) > MOST_DRAWN + 1:
        return None, body
    if body.width >= 100:
        table = min(72, max(44, body.width * 9 // 20))
        return body.part(0, 0, body.width - table - 1), body.part(body.width - table, 0)
    if body.height >= 12:
        table = min(edges + 1, max(3, body.height * 2 // 5))
        return body.part(0, 0, None, body.height - table), body.part(0, body.height - table)
    return body, None


def _strengths(result: Neighbourhood) -> dict[str, float]:
    """Return the strength of the strongest edge at each block."""
    best: dict[str, float] = {}
    for live in result.edges:
        for end in (live.edge.source_id, live.edge.target_id):
            best[end] = max(best.get(end, 0.0), live.strength)
    return best


def _restrict(result: Neighbourhood, ids: Sequence[str]) -> Neighbourhood:
    """Return the neighbourhood with only these neighbours and the edges among them and the centre."""
    block_ids = {result.center.id, *ids}
    return replace(
        result,
        blocks=tuple(block for block in result.blocks if block.id in block_ids),
        edges=tuple(
            live for live in result.edges if live.edge.source_id in block_ids and live.edge.target_id in block_ids
        ),
    )


def _rank_blocks(result: Neighbourhood) -> list[Block]:
    """Return the centre, then the others by distance and strongest edge."""
    best = _strengths(result)
    return sorted(
        result.blocks, key=lambda block: (result.distances.get(block.id, 9), -best.get(block.id, 0.0), block.id)
    )


def _rings(
    region: Region,
    result: Neighbourhood,
    letters: Mapping[str, str],
    numbers: Mapping[str, int],
    selected: str | None,
    now: datetime | None,
) -> None:
    """Draw the blocks on rings around the centre, with edges and labels."""
    palette = region.palette
    ranked = _rank_blocks(result)
    up = parents(result.distances, [(e.edge.source_id, e.edge.target_id, e.strength) for e in result.edges])
    rings = max([result.distances.get(block.id, 1) for block in ranked[1:]], default=1)
    room = min(26, max(6, region.width // (4 if rings == 1 else 5)))
    digits = len(str(len(ranked)))
    short = short_labels({block.id: clean(block.title) for block in ranked}, max(4, room - digits - 1))
    labels = {block.id: f"{numbers.get(block.id, '')} {short[block.id]}".strip() for block in ranked}
    center = cut(clean(result.center.title), min(30, max(8, region.width // 3)))
    nodes = [
        PlacedNode(
            block.id,
            max(1, result.distances.get(block.id, 1)),
            up.get(block.id, result.center.id),
            width_of(labels[block.id]),
        )
        for block in ranked
        if block.id != result.center.id
    ]
    # More than this many labels would cover each other's lines; the rest is in the table.
    most = max(6, region.height * 7 // 5 if rings < MOST_RINGS else region.height)
    drawn = _choose_edges(result, up, selected)
    noted = len(drawn) < len(result.edges) or most < len(nodes)  # the last line says what the table has besides
    high = region.height - noted if region.height > 3 else region.height
    spots, (cx, cy) = place(nodes[:most], region.width, high, width_of(center) + 4)
    middle = Spot(int(cx), int(cy), int(cx), int(cx) + 1)
    _lines(region, drawn, {**spots, result.center.id: middle}, letters)
    for block in ranked:
        spot = spots.get(block.id)
        if spot is None:
            continue
        fresh = 1.0 if now is None else relevance_at(block.decay_lambda, block.last_reinforced_at, now)
        chosen = block.id == selected
        colour = palette.accent if chosen else blend(palette.muted, palette.text, fresh)
        dot = "◆" if block.is_self_component else _DOTS[min(3, max(1, result.distances.get(block.id, 1)))]
        outward = spot.start == spot.x
        # A blank on either side keeps the lines off the words.
        label = f"{'▸' if chosen else ' '}{labels[block.id]} "
        x = spot.start + 1 if outward else spot.start - 1
        region.put(x, spot.y, label, ink(colour, bold=chosen or fresh > 0.5))
        region.put(spot.x, spot.y, dot, ink(colour, bold=True))
        if chosen:
            region.shade(spot.y, palette.selection, x=spot.start, width=spot.end - spot.start)
    title = f" ◉ {center} "
    x = int(cx) - width_of(title) // 2
    chosen = selected in (None, result.center.id)
    region.put(x, int(cy), title, ink(palette.on(palette.accent), on=palette.accent, bold=chosen))
    if region.palette.monochrome or region.symbols == "ascii":
        region.put(x, int(cy), "[")
        region.put(x + width_of(title) - 1, int(cy), "]")
    left = [(len(nodes) - len(spots), "block"), (len(result.edges) - len(drawn), "edge")]
    if any(number for number, _ in left):
        more = ", ".join(f"+{plural(number, name)}" for number, name in left if number)
        region.put(0, region.height - 1, f"{more} in the table", ink(palette.muted), width=region.width, align="right")


def _choose_edges(result: Neighbourhood, up: Mapping[str, str], selected: str | None) -> list[LiveEdge]:
    """Return the edges to draw: all up to CROWDED for a block; else those of the centre and the selected block, and
    for each other block the strongest edge to its neighbour towards the centre (`up`, by id).
    """
    if len(result.edges) <= CROWDED * len(result.blocks):
        return list(result.edges)
    edges: list[LiveEdge] = []
    inwards: dict[str, LiveEdge] = {}
    for live in result.edges:
        ends = {live.edge.source_id, live.edge.target_id}
        if result.center.id in ends or selected in ends:
            edges.append(live)
            continue
        for end in ends:
            known = inwards.get(end)
            if up.get(end) in ends and (known is None or known.strength < live.strength):
                inwards[end] = live
    return edges + list({id(live): live for live in inwards.values()}.values())


def _lines(region: Region, edges: Sequence[LiveEdge], spots: Mapping[str, Spot], letters: Mapping[str, str]) -> None:
    """Draw edges as lines, weak ones first, with the relation's letter in the middle."""
    palette = region.palette
    strokes = Strokes(region)
    marks: list[tuple[int, int, str, str]] = []
    for live in sorted(
        edges, key=lambda live_edge: (live_edge.strength, live_edge.edge.source_id, live_edge.edge.target_id)
    ):
        a, b = spots.get(live.edge.source_id), spots.get(live.edge.target_id)
        if a is None or b is None:
            continue
        colour = palette.relation(live.edge.relation_type)
        gap = 0 if live.strength >= STRONG else 1 if live.strength >= FADING else 3
        faded = palette.fade(colour, 0.25 + min(1.0, live.strength * 1.5) * 0.75)
        strokes.line(a.x + 0.5, a.y + 0.5, b.x + 0.5, b.y + 0.5, ink(faded), gap=gap)
        marks.append(((a.x + b.x) // 2, (a.y + b.y) // 2, letters[live.edge.relation_type], colour))
    strokes.draw()
    for x, y, letter, colour in marks:
        region.put(x, y, letter, ink(colour, bold=True))
