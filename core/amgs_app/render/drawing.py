"""Draw a result with what its pane knows: the filter, the selection, titles of other blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.types import Edge
    from amgs_app.panes.layout import Pane
    from amgs_app.panes.row_filter import Row
    from amgs_app.render.canvas import Canvas
    from amgs_app.render.rows import RowList
    from amgs_app.session.operator import Operator


def places(operator: Operator, pane: Pane, rows: Sequence[Row]) -> Sequence[int] | None:
    """Return the indexes of the rows that pass the pane's filter, in its order; None without filter or order."""
    from amgs_app.panes.row_fields import visible_rows

    sift = operator.layout.sifts.get(pane)
    return visible_rows(pane, rows, sift) if sift else None


def draw_list(operator: Operator, listed: RowList[Any], canvas: Canvas) -> Text:
    """Draw a list as its pane does: filtered, with the selected row in full."""
    kept_rows = places(operator, listed.kind.pane, listed.fields)
    left = listed.keep(kept_rows)
    return left.draw(canvas, left.place_of(operator.selection), filtered=kept_rows is not None).render()


def titles_of_edges(operator: Operator, edges: Iterable[Edge]) -> dict[str, str]:
    """Return the titles of the blocks at both ends of edges, by id."""
    return operator.engine.memory.titles({end for edge in edges for end in (edge.source_id, edge.target_id)})


def draw_table(operator: Operator, result: Any, canvas: Canvas) -> Text:
    """Draw as many lines of a result's table as fit, and how many are left."""
    del operator
    from amgs_app.render.canvas import Figure, ink
    from amgs_app.render.catalogue import table_of
    from amgs_app.render.sheet import to_lines

    sheet = Figure(canvas)
    lines = to_lines(table_of(result), canvas.width)
    for y, line in enumerate(lines[: canvas.height]):
        sheet.put(0, y, line.plain, ink(sheet.palette.text, bold=y == 0), width=sheet.width)
    hidden = len(lines) - sheet.height
    if hidden > 0:
        sheet.fill(0, sheet.height - 1, sheet.width, " ")
        sheet.put(0, sheet.height - 1, f"… {hidden + 1:,} more", ink(sheet.palette.muted), width=sheet.width)
    return sheet.render()
