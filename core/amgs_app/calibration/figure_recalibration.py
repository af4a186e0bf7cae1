"""A recalibration before it happens: whether its curve helps, and which confidences of edges it would move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from amgs.calibration.results import CalibrationPlan, EdgeChange
from amgs.text.plural import plural
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, ink
from amgs_app.render.format import share, short_id
from amgs_app.render.glyphs import HeaderPart, ListPage, facts_line


def plan(result: CalibrationPlan, canvas: Canvas, *, cursor: int = 0, operation: int | None = None) -> Text:
    """The curve with the Brier score before and after, then every confidence that moves.

    operation: the journal entry that applied it; None while it is a preview.
    """
    return _plan(result, canvas, cursor, operation).render()


def rows_of_plan(result: CalibrationPlan, canvas: Canvas, *, cursor: int = 0) -> Mapping[int, int]:
    """Which row of the plan each line of the picture shows."""
    return _plan(result, canvas, cursor, None).rows


def _plan(result: CalibrationPlan, canvas: Canvas, cursor: int, operation: int | None) -> Figure:
    sheet = Figure(canvas)
    palette = sheet.palette
    done = operation is not None
    facts_line(
        sheet,
        0,
        [
            HeaderPart(
                0, ((f"{result.method} on {plural(result.outcomes, 'outcome')}", ink(palette.accent, bold=True)),)
            ),
            HeaderPart(1, ((plural(len(result.edges), "edge"), ink(palette.text)),)),
        ],
        x=1,
    )
    _curve(sheet.part(0, 1, None, 2), result)
    title = f"applied as operation {operation}" if done else "preview: nothing has changed yet"
    _changes(sheet.part(0, 3), result.edges, cursor, title)
    return sheet


def _curve(region: Region, result: CalibrationPlan) -> None:
    palette = region.palette
    one = result.forecast
    region.rule(0, "from score to forecast", "Brier before → after, on outcomes it was not fitted on")
    colour = palette.good if one.used else palette.muted
    line: list[Piece] = [
        ("✓ " if one.used else "· ", ink(colour, bold=True)),
        (f"{share(one.before, 3)} → {share(one.after, 3)}", ink(colour, bold=True)),
        ("  used" if one.used else "  not used: it does not help", ink(palette.muted)),
        ("; how sure the categories are stays", ink(palette.muted)),
    ]
    region.pieces(1, 1, line, width=region.width - 2)


def _changes(region: Region, changes: Sequence[EdgeChange], cursor: int, title: str) -> None:
    if region.height < 2:
        return
    page = ListPage.around(changes, region.height - 1, cursor)
    region.rule(0, title, page.note)
    if not changes:
        region.put(1, 1, "No confidence of an edge would move.", ink(region.palette.muted), width=region.width - 2)
    page.draw(region.part(0, 1), _change)


def _change(line: Region, one: EdgeChange, chosen: bool) -> None:
    """What would move, from what to what; where there is room, on a line from 0 to 1."""
    del chosen
    palette = line.palette
    muted = ink(palette.muted)
    before = one.edge.confidence
    cells = min(24, max(0, line.width - 60))
    tail_w = 14 + (cells + 2 if cells else 0)
    x = line.put(2, 0, clean(one.edge.relation_type), muted, width=14) + 1
    line.put(x, 0, clean(_edge(one)), ink(palette.text), width=line.width - x - tail_w - 1)
    rises = one.after > before
    colour = ink(palette.heat_high if rises else palette.heat_low, bold=True)
    x = line.put(line.width - tail_w, 0, f"{share(before)} → ", muted, width=8, align="right")
    x = line.put(x, 0, f"{share(one.after)} {'▲' if rises else '▼'}", colour) + 1
    if cells:
        _move(line.part(x, 0, cells, 1), before, one.after)


def _move(region: Region, before: float, after: float) -> None:
    """From 0 to 1: where a confidence stands and where it would."""
    palette = region.palette
    region.fill(0, 0, region.width, "·", ink(palette.faint))
    last = region.width - 1
    a, b = round(before * last), round(after * last)
    region.fill(min(a, b), 0, abs(a - b), "─", ink(palette.muted))
    region.put(a, 0, "○", ink(palette.muted))
    region.put(b, 0, "●", ink(palette.accent, bold=True))


def _edge(one: EdgeChange) -> str:
    ends = f"{short_id(one.edge.source_id)} → {short_id(one.edge.target_id)}"
    return f"{ends}: {one.hits:g} of {plural(one.count, 'verdict')} useful"
