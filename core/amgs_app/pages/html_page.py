"""A self-contained HTML page: tables and charts, light and dark, no scripts.

All texts are escaped, and the page's policy forbids it to load anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any

from amgs_app.pages.charts import write_style
from amgs_app.render.sheet import Marked, ResultTable, to_cells
from amgs_app.terminal.printable import printable

if TYPE_CHECKING:
    from amgs_app.terminal.themes import Palette

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
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
.alarm {{ color: {light.bad}; font-weight: bold; }}
.number {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }}
svg {{ display: block; width: 100%; min-width: 30rem; max-width: 48rem; height: auto; margin: .5rem 0; }}
summary {{ cursor: pointer; color: {light.muted}; }}
{light_charts}
@media (prefers-color-scheme: dark) {{
  body {{ background: {dark.background}; color: {dark.text}; }}
  th, small, summary, .note {{ color: {dark.muted}; }}
  .alarm {{ color: {dark.bad}; }}
{dark_charts}
}}
</style>
</head>
<body>
"""
_NUMBERS = frozenset({"number", "score", "milliseconds"})


@dataclass(frozen=True, slots=True)
class HtmlSection:
    """A part of a page.

    charts: SVG; the table is then folded below them. own: columns that contain only the program's words, which stay if
    texts are removed.
    """

    heading: str
    table: ResultTable | None = None
    charts: tuple[str, ...] = ()
    own: Collection[str] = ()


def page(
    title: str, note: str, sections: Iterable[HtmlSection], palettes: tuple[Palette, Palette], *, redacted: bool = False
) -> str:
    """Return the whole page. palettes: for light and dark mode. redacted: tables contain no texts of the memory; charts
    are up to their callers.
    """
    light, dark = palettes
    charts = {"light_charts": write_style(light), "dark_charts": write_style(dark)}
    parts = [_HEAD.format(title=_text(title), light=light, dark=dark, **charts)]
    parts.append(f'<h1>{_text(title)}</h1>\n<p class="note">{_text(note)}</p>\n')
    for section in sections:
        parts.append(f"<h2>{_text(section.heading)}</h2>\n")
        table = section.table
        if table is not None and redacted:
            table = without_texts(table, section.own)
        if table is not None and table.title:
            parts.append(f"<p>{_text(table.title)}</p>\n")
        if table is not None and table.alarm:
            parts.append(f'<p class="alarm">✗ {_text(table.alarm)}</p>\n')
        parts += [f"<div>{chart}</div>\n" for chart in section.charts]
        if table is not None:
            parts.append(_table(table, folded=bool(section.charts)))
    return "".join([*parts, "</body>\n</html>\n"])


def without_texts(table: ResultTable, own: Collection[str]) -> ResultTable:
    """Return a table without the memory's texts.

    Text columns not in `own` lose all cells but numbers and times; empty columns, the title and the notes are removed.
    """

    def keep_cell(value: Any, name: str, kind: str) -> Any:
        is_safe = name in own or kind == "id" or isinstance(value, bool | int | float | datetime)
        return value if is_safe and not isinstance(value, Marked) else None

    rows = [
        tuple(keep_cell(value, c.name, c.kind) for value, c in zip(row, table.columns, strict=True))
        for row in (table.rows if table.digest is None else table.digest)
    ]
    places = [n for n in range(len(table.columns)) if any(row[n] is not None for row in rows)]
    return replace(
        table,
        title="",
        columns=tuple(table.columns[n] for n in places),
        rows=tuple(tuple(row[n] for n in places) for row in rows),
        notes=(),
        digest=None,
        alarm="",
    )


def _table(table: ResultTable, *, folded: bool) -> str:
    columns, rows = to_cells(table)
    parts = []
    if rows:
        classes = [' class="number"' if column.kind in _NUMBERS else "" for column in columns]
        heads = "".join(
            f"<th{kind}>{_text(column.name.strip('_'))}</th>" for column, kind in zip(columns, classes, strict=True)
        )
        parts.append(f"<div><table>\n<tr>{heads}</tr>\n")
        for row in rows:
            cells = "".join(f"<td{kind}>{_text(cell)}</td>" for cell, kind in zip(row, classes, strict=True))
            parts.append(f"<tr>{cells}</tr>\n")
        parts.append("</table></div>\n")
        if folded:
            parts = ["<details><summary>The figures as a table</summary>\n", *parts, "</details>\n"]
    parts += [f'<p class="note">{_text(note)}</p>\n' for note in table.notes]
    return "".join(parts)


def _text(text: str) -> str:
    return escape(printable(text), quote=True)
