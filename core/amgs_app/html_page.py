"""A page of HTML that stands alone: tables and pictures, light and dark, nothing from elsewhere and no script.

Every text is escaped, pictures are embedded as images, and a policy in the page forbids it to load anything.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any

from amgs_app.printable import printable
from amgs_app.render.sheet import Marked, ResultTable, to_cells

if TYPE_CHECKING:
    from rich.text import Text

    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.themes import Palette

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body {{ max-width: 62rem; margin: 2rem auto; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif;
  background: {light.background}; color: {light.text}; }}
table {{ border-collapse: collapse; margin: .5rem 0; }}
td, th {{ padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; overflow-wrap: break-word; }}
th {{ font-weight: normal; }}
div {{ overflow-x: auto; }}
th, small, .note {{ color: {light.muted}; }}
.number {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }}
img {{ width: 100%; height: auto; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: {dark.background}; color: {dark.text}; }}
  th, small, .note {{ color: {dark.muted}; }}
}}
</style>
</head>
<body>
"""
_NUMBERS = frozenset({"number", "score", "milliseconds"})

Figure = Callable[["Canvas"], "Text"]


@dataclass(frozen=True, slots=True)
class HtmlSection:
    """A part of a page. picture: drawn twice, for a light and for a dark page, `lines` high. own: the text columns of
    the table that hold words of the program alone; they stay where texts are left out.
    """

    heading: str
    table: ResultTable | None = None
    picture: Figure | None = None
    lines: int = 24
    own: Collection[str] = ()


def page(
    title: str,
    note: str,
    sections: Iterable[HtmlSection],
    palettes: tuple[Palette, Palette],
    *,
    redacted: bool = False,
) -> str:
    """The whole page. palettes: for a light and for a dark page. redacted: no text of the memory is in it, and no
    picture, since pictures hold titles.
    """
    light, dark = palettes
    parts = [_HEAD.format(title=_text(title), light=light, dark=dark)]
    parts.append(f'<h1>{_text(title)}</h1>\n<p class="note">{_text(note)}</p>\n')
    for one in sections:
        parts.append(f"<h2>{_text(one.heading)}</h2>\n")
        if one.picture is not None and not redacted:
            parts.append(_picture(one.heading, one.picture, one.lines, palettes))
        if one.table is not None:
            parts.append(_table(without_texts(one.table, one.own) if redacted else one.table))
    return "".join([*parts, "</body>\n</html>\n"])


def without_texts(given: ResultTable, own: Collection[str]) -> ResultTable:
    """A table without what the memory says: of the columns of text those named stay, and of the others the cells that
    hold a number or an instant; a column that is empty then goes, and so do the title and the notes.
    """

    def kept(value: Any, name: str, kind: str) -> Any:
        told = name in own or kind == "id" or isinstance(value, bool | int | float | datetime)
        return value if told and not isinstance(value, Marked) else None

    rows = [
        tuple(kept(value, c.name, c.kind) for value, c in zip(row, given.columns, strict=True))
        for row in (given.rows if given.digest is None else given.digest)
    ]
    places = [n for n in range(len(given.columns)) if any(row[n] is not None for row in rows)]
    return replace(
        given,
        title="",
        columns=tuple(given.columns[n] for n in places),
        rows=tuple(tuple(row[n] for n in places) for row in rows),
        notes=(),
        digest=None,
    )


def _table(given: ResultTable) -> str:
    columns, rows = to_cells(given)
    parts = [f"<p>{_text(given.title)}</p>\n"] if given.title else []
    if rows:
        classes = [' class="number"' if one.kind in _NUMBERS else "" for one in columns]
        heads = "".join(
            f"<th{style}>{_text(one.name.strip('_'))}</th>"
            for one, style in zip(columns, classes, strict=True)
        )
        parts.append(f"<div><table>\n<tr>{heads}</tr>\n")
        for row in rows:
            cells = "".join(
                f"<td{style}>{_text(cell)}</td>" for cell, style in zip(row, classes, strict=True)
            )
            parts.append(f"<tr>{cells}</tr>\n")
        parts.append("</table></div>\n")
    parts += [f'<p class="note">{_text(note)}</p>\n' for note in given.notes]
    return "".join(parts)


def _picture(heading: str, figure: Figure, lines: int, palettes: tuple[Palette, Palette]) -> str:
    """An image for each palette, of which the browser takes one; as images, their styles do not reach the page."""
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.snapshot import as_svg

    made = []
    for palette in palettes:
        canvas = Canvas(100, lines, palette)
        svg = as_svg(figure(canvas), canvas, heading)
        made.append("data:image/svg+xml;base64," + b64encode(svg.encode()).decode("ascii"))
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{made[1]}">'
        f'<img src="{made[0]}" alt="{_text(heading)}"></picture>\n'
    )


def _text(text: str) -> str:
    return escape(printable(text), quote=True)
