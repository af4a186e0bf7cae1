"""How packs hang together: one of them in the middle, and to each linked one a line for each family of relations."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rich.text import Text

from amgs.text.plural import plural
from amgs.types.pack_families import FAMILIES, PackGraph, RelationFamily
from amgs_app.render.figures.braille_canvas import Strokes
from amgs_app.render.figures.canvas import Canvas, Figure, Piece, Region, clean, cut, ink, width_of
from amgs_app.render.figures.empty_state import notice
from amgs_app.render.figures.format import count
from amgs_app.render.figures.glyphs import apportion
from amgs_app.render.figures.graph_layout import PlacedNode, Spot, parents, place
from amgs_app.terminal.themes import Palette

LETTERS: Final[Mapping[RelationFamily, str]] = MappingProxyType(
    {"semantic": "S", "temporal": "T", "causal": "C", "entity": "E"}
)
_COLOURS: Final[Mapping[RelationFamily, str]] = MappingProxyType(
    {
        "semantic": "part_similarity",
        "temporal": "part_recency",
        "causal": "part_reinforcement",
        "entity": "part_centrality",
    }
)
_FARTHEST = 2
_ROOM = 20
"""Cells of a name at most."""

Links = dict[tuple[str, str], dict[RelationFamily, int]]


def family_colour(family: RelationFamily, palette: Palette) -> str:
    """The colour of a family of relations."""
    return str(getattr(palette, _COLOURS[family]))


def graph(result: PackGraph, canvas: Canvas) -> Text:
    """All packs around the one with most relations."""
    sheet = Figure(canvas)
    if not result.packs:
        return notice(
            canvas, "No pack yet", ("pack keep NAME “a question”",), "Packs are linked by their members."
        )
    draw_graph(sheet, result, _most_linked(result))
    return sheet.render()


def draw_graph(region: Region, result: PackGraph, center: str) -> None:
    """The packs around one of them, and below them its links as bars, as far as there is room."""
    if region.height < 2:
        return
    palette = region.palette
    links = _links(result)
    near = sorted(
        ((sum(found.values()), other, found) for other, found in _of(links, center).items()),
        key=lambda one: (-one[0], one[1]),
    )
    region.rule(0, clean(f"{center}: {plural(len(near), 'pack')} linked"), "by family", strong=True)
    _legend(region, 1, result)
    if not near:
        region.put(1, 3, "No relation links its members to those of another pack.", ink(palette.muted))
        return
    table = min(len(near), max(1, (region.height - 2) // 4)) if region.height >= 9 else 0
    drawing = region.part(0, 2, None, region.height - 2 - table)
    drawn = _rings(drawing, links, center)
    most = near[0][0]
    for y, (total, other, found) in enumerate(near[:table], start=region.height - table):
        x = region.put(1, y, clean(other), ink(palette.text), width=_ROOM) + 1
        x = region.put(x, y, count(total), ink(palette.text, bold=True), width=6, align="right") + 2
        cells = max(1, round(total / most * (region.width - x - 1)))
        counts = [found.get(family, 0) for family in FAMILIES]
        pieces: list[Piece] = [
            (
                (LETTERS[family] if region.symbols == "ascii" else "█") * wide,
                ink(family_colour(family, palette)),
            )
            for family, wide in zip(FAMILIES, apportion(counts, cells), strict=True)
        ]
        region.pieces(x, y, pieces)
    alone = len(result.packs) - 1 - drawn
    if alone > 0 and drawing.height > 3:
        told = f"{count(alone)} not linked within {_FARTHEST} steps"
        drawing.put(1, drawing.height - 1, told, ink(palette.muted))


def _links(result: PackGraph) -> Links:
    found: Links = {}
    for one in result.links:
        found.setdefault((one.a, one.b), {})[one.family] = one.count
    return found


def _of(links: Links, name: str) -> dict[str, dict[RelationFamily, int]]:
    """What links a pack to each other one."""
    return {(b if a == name else a): found for (a, b), found in links.items() if name in (a, b)}


def _most_linked(result: PackGraph) -> str:
    totals = {one.name: 0 for one in result.packs}
    for link in result.links:
        for name in (link.a, link.b):
            totals[name] = totals.get(name, 0) + link.count
    return min(totals, key=lambda name: (-totals[name], name))


def _legend(region: Region, y: int, result: PackGraph) -> None:
    palette = region.palette
    pieces: list[Piece] = []
    for family in FAMILIES:
        number = sum(one.count for one in result.links if one.family == family)
        pieces.append((LETTERS[family], ink(family_colour(family, palette), bold=True)))
        pieces.append((f" {family} {count(number)}  ", ink(palette.muted)))
    region.pieces(1, y, pieces, width=region.width - 2)


def _rings(region: Region, links: Links, center: str) -> int:
    """The packs within two steps of the centre, with their lines; gives how many others are drawn."""
    palette = region.palette
    weighted = [(a, b, float(sum(found.values()))) for (a, b), found in sorted(links.items())]
    distances = {center: 0}
    waiting = deque([center])
    while waiting:
        here = waiting.popleft()
        for other in sorted(_of(links, here)):
            if other not in distances and distances[here] < _FARTHEST:
                distances[other] = distances[here] + 1
                waiting.append(other)
    best = {name: max(w for a, b, w in weighted if name in (a, b)) for name in distances if name != center}
    order = sorted(best, key=lambda name: (distances[name], -best[name], name))
    room = min(_ROOM, max(6, region.width // 5))
    labels = {name: cut(clean(name), room) for name in distances}
    up = parents(distances, weighted)
    nodes = [PlacedNode(n, distances[n], up.get(n, center), width_of(labels[n])) for n in order]
    title = f" {cut(clean(center), max(8, region.width // 3))} "
    shown = nodes[: max(6, region.height * 7 // 5)]
    spots, (cx, cy) = place(shown, region.width, region.height, width_of(title))
    middle = Spot(int(cx), int(cy), int(cx), int(cx) + 1)
    _lines(region, links, {**spots, center: middle}, center)
    for name, spot in spots.items():
        colour = palette.text if distances[name] == 1 else palette.muted
        x = spot.start + 1 if spot.start == spot.x else spot.start - 1
        region.put(x, spot.y, f" {labels[name]} ", ink(colour))
        region.put(spot.x, spot.y, "●" if distances[name] == 1 else "○", ink(colour, bold=True))
    region.put(
        int(cx) - width_of(title) // 2, int(cy), title, ink(palette.on(palette.accent), on=palette.accent)
    )
    return len(spots)


def _lines(region: Region, links: Links, spots: Mapping[str, Spot], center: str) -> None:
    """A line for each family between two packs, side by side, those at the centre on top with their counts."""
    palette = region.palette
    strokes = Strokes(region)
    marks: list[tuple[int, int, str, str]] = []
    for (a, b), found in sorted(links.items(), key=lambda one: (center in one[0], one[0])):
        here, there = spots.get(a), spots.get(b)
        if here is None or there is None:
            continue
        if a != center and b == center:
            here, there = there, here
        steep = abs(there.y - here.y) * 2 > abs(there.x - here.x)
        families = [family for family in FAMILIES if found.get(family)]
        for place_, family in enumerate(families):
            off = (place_ - (len(families) - 1) / 2) * 0.5
            dx, dy = (off * 1.5, 0.0) if steep else (0.0, off)
            colour = family_colour(family, palette)
            inked = ink(colour if center in (a, b) else palette.fade(colour, 0.35))
            strokes.line(
                here.x + 0.5 + dx,
                here.y + 0.5 + dy,
                there.x + 0.5 + dx,
                there.y + 0.5 + dy,
                inked,
                gap=0 if center in (a, b) else 3,
            )
            if center in (a, b):
                share = (place_ + 2) / (len(families) + 3)
                x = round(here.x + (there.x - here.x) * share + dx)
                y = round(here.y + (there.y - here.y) * share + dy)
                marks.append((x, y, f"{LETTERS[family]}{found[family]}", colour))
    strokes.draw()
    for x, y, told, colour in marks:
        region.put(max(0, x - len(told) // 2), y, told, ink(colour, bold=True))
