"""Self-contained HTML pages, with tables and charts in SVG, light and dark; and those of a memory and a
diagnosis.

All texts are escaped, and a page's policy forbids it to load anything or run a script.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any

from amgs_app.render.catalogue import portable, table_of
from amgs_app.render.sheet import Marked, ResultTable, sheet, to_cells
from amgs_app.terminal.output import printable, printable_line

if TYPE_CHECKING:
    from amgs.types import Block, CategoryCurves, Frame, Reliability
    from amgs.types.diagnosis import Diagnosis
    from amgs_app.render.catalogue import Look
    from amgs_app.session import Operator
    from amgs_app.terminal.themes import Palette


SERIES = 6
"""Number of lines with a colour of their own."""
_WIDTH, _LEFT, _RIGHT, _ROW, _HEIGHT = 720, 170, 190, 24, 260
_LETTER = 7.5
"""Approximate greatest width of a letter."""
_NO_XML = str.maketrans("", "", "\ufffe\uffff")


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line: its name, points (x, y), and the label at its end."""

    name: str
    points: Sequence[tuple[float, float]]
    end: str = ""


Ticks = Sequence[tuple[float, str]]
"""Values along an axis in order, with labels."""


def write_style(palette: Palette) -> str:
    """Return the CSS rules that colour the charts."""
    colours = (
        palette.accent,
        palette.part_recency,
        palette.part_centrality,
        palette.part_confidence,
        palette.part_reinforcement,
        palette.muted,
    )
    return "\n".join(
        [
            *(f".c{number} {{ color: {colour}; }}" for number, colour in enumerate(colours)),
            f"svg text {{ font: 13px system-ui, sans-serif; fill: {palette.text}; }}",
            f"svg .muted {{ fill: {palette.muted}; }}",
            f".axis {{ stroke: {palette.faint}; }}",
            f".limit {{ stroke: {palette.bad}; stroke-dasharray: 5 4; }}",
            ".mark { fill: currentColor; }",
            ".line { stroke: currentColor; stroke-width: 2; fill: none; }",
        ]
    )


def draw_bars(title: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """Draw a bar per row: name, value, and the value as text."""
    most = max((value for _, value, _ in rows), default=0) or 1
    room = _WIDTH - _LEFT - _RIGHT
    parts = []
    for number, (name, value, written) in enumerate(rows):
        y, width = number * _ROW, room * value / most
        parts.append(_draw_text(_LEFT - 8, y + 16, _shorten(name, _LEFT - 8), "end", whole=name))
        parts.append(f'<rect class="mark c0" x="{_LEFT}" y="{y + 4}" width="{width:.1f}" height="{_ROW - 8}"/>\n')
        parts.append(_draw_text(_LEFT + width + 6, y + 16, written, kind="muted"))
    summary = "; ".join(f"{name}: {written}" for name, _, written in rows)
    return _draw(title, f"{summary}.", len(rows) * _ROW + 4, parts)


def draw_lines(
    title: str, lines: Sequence[ChartLine], *, across: Ticks, up: Ticks, limit: tuple[float, str] | None = None
) -> str:
    """Draw at most SERIES lines on a single axis, each named at its end. limit: height and name of a dashed line."""
    left = 50
    width = _WIDTH - left - _RIGHT
    (first, _), (last, _), (low, _), (top, _) = across[0], across[-1], up[0], up[-1]

    def place(x: float, y: float) -> tuple[float, float]:
        share = (min(max(y, low), top) - low) / ((top - low) or 1)
        return left + width * (x - first) / ((last - first) or 1), 10 + _HEIGHT * (1 - share)

    parts = []
    for value, name in up:
        y = place(first, value)[1]
        parts.append(_draw_rule(left, y, left + width, y, "axis"))
        parts.append(_draw_text(left - 6, y + 4, name, "end", kind="muted"))
    for number, (value, name) in enumerate(across):
        anchor = "start" if number == 0 else "end" if number == len(across) - 1 else "middle"
        parts.append(_draw_text(place(value, low)[0], _HEIGHT + 28, name, anchor, kind="muted"))
    if limit is not None:
        y = place(first, limit[0])[1]
        parts.append(_draw_rule(left, y, left + width, y, "limit"))
        parts.append(_draw_text(left + 6, y - 5, limit[1], kind="muted"))
    ends = []
    for number, line in enumerate(lines):
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line.points))
        parts.append(f'<polyline class="line c{number}" points="{way}"/>\n')
        ends.append((place(*line.points[-1])[1], f"{line.name} {line.end}".strip(), number))
    free = 10.0
    for rest, (y, name, number) in zip(range(len(ends) - 1, -1, -1), sorted(ends), strict=True):
        # Overlapping names move down, or up near the bottom.
        at = min(max(y + 4, free), _HEIGHT + 14 - 16 * rest)
        parts.append(_draw_rule(left + width + 1, y, left + width + 12, at - 4, f"line c{number}"))
        parts.append(_draw_text(left + width + 16, at, _shorten(name, _RIGHT - 16), whole=name))
        free = at + 16
    summary = "; ".join(name for _, name, _ in ends)
    return _draw(title, f"{summary}.", _HEIGHT + 36, parts)


def _draw(title: str, summary: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH} {height:g}">\n'
        f"<title>{_escape(title)}</title>\n<desc>{_escape(summary)}</desc>\n{''.join(parts)}</svg>\n"
    )


def _draw_text(x: float, y: float, text: str, anchor: str = "start", *, kind: str = "", whole: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    more = f"<title>{_escape(whole)}</title>" if whole and whole != text else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{_escape(text)}{more}</text>\n'


def _draw_rule(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>\n'


def _shorten(text: str, room: float) -> str:
    most = int(room / _LETTER)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _escape(text: str) -> str:
    return escape(printable_line(text).translate(_NO_XML), quote=True)


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


SHOWN = "It holds titles and texts of this memory: read it before you attach it to anything."
REDACTED = "Texts of this memory are left out; ids, numbers and dates are not."
_GONE, _KINDS = 20, 14
_GOAL = 0.15
"""Brier score to stay below."""


def of_memory(
    operator: Operator,
    look: Look,
    used: Sequence[tuple[Block, int]],
    palettes: tuple[Palette, Palette],
    *,
    redacted: bool,
) -> str:
    """Return the page of a memory. look: result of `status`. used: its most used blocks, with their numbers of uses.

    Charts with names of categories or frames are left out if texts are.
    """
    status, reliability = portable(look("status")), look("calibration")
    frame, gone = look("frame last").frame, table_of(look("decay forecast"))
    overview = table_of(status)
    overview = replace(overview, rows=tuple(row for row in overview.rows if row[1] != ""))
    kinds = sorted(status.store.categories.items(), key=lambda kind: (-kind[1], kind[0]))
    kind_bars = draw_bars("Blocks by category", [(name, n, f"{n:,}") for name, n in kinds[:_KINDS]])
    health = [(line.side, line.standing, line.told, line.verb) for line in status.health.lines]
    used_rows = [(block.id, block.title, block.category, times) for block, times in used]
    sections = [
        HtmlSection("Overview", overview, own=("what",)),
        HtmlSection("Blocks by category", sheet("", "category blocks:n", kinds), () if redacted else (kind_bars,)),
        HtmlSection("Health", sheet("", "area status detail* command*", health), own=("area", "status", "command")),
        HtmlSection("Calibration", table_of(reliability), draw_calibration(reliability), own=("forecast", "95 %")),
        _list_decay(operator.engine.memory.lifecycle.category_curves(days=30.0), redacted=redacted),
        *([] if frame is None else [_list_fill(frame, redacted=redacted)]),
        HtmlSection("Most used", sheet("", "id:id title* category uses:n", used_rows)),
        HtmlSection("What drops below the threshold", replace(gone, rows=gone.rows[:_GONE])),
    ]
    return page(
        # A file name may come from the memory, and an address may end in a password.
        "A memory" if redacted else operator.engine.store_name.partition("?")[0],
        _write_note(f"{status.store.now:%Y-%m-%d %H:%M}", redacted=redacted),
        sections,
        palettes,
        redacted=redacted,
    )


def of_diagnosis(result: Diagnosis, palettes: tuple[Palette, Palette], *, redacted: bool) -> str:
    """Return the page of a diagnosed answer."""
    asked = sheet("", "what value*", [("cause", result.cause)])
    sections = (
        HtmlSection("Cause", asked, own=("what", "value")),
        HtmlSection("Evidence", table_of(result), own=("_", "step")),
    )
    note = _write_note("", redacted=redacted)
    return page("Why an answer missed a fact", note, sections, palettes, redacted=redacted)


def draw_calibration(result: Reliability) -> tuple[str, ...]:
    """Draw forecasts against outcomes, and the Brier score over time; nothing without verdicts."""
    judged = [step for step in result.bins if step.count]
    if result.brier is None or not judged:
        return ()
    tenths = [(n / 4, f"{n / 4:g}") for n in range(5)]
    true = ChartLine("came true", [(step.mean_predicted, step.rate) for step in judged])
    charts = [
        draw_lines(
            "Forecasts against what came true",
            [true, ChartLine("as forecast", [(0, 0), (1, 1)])],
            across=tenths,
            up=tenths,
        )
    ]
    course = result.course
    if len(course) > 1:
        top = max(0.3, *(point.brier for point in course))
        brier = ChartLine("Brier", [(n, point.brier) for n, point in enumerate(course)], f"{course[-1].brier:.3f}")
        charts.append(
            draw_lines(
                "Brier score through time",
                [brier],
                across=[(0, f"{course[0].at:%Y-%m-%d}"), (len(course) - 1, f"{course[-1].at:%Y-%m-%d}")],
                up=[(0, "0"), (top, f"{top:.2f}")],
                limit=(_GOAL, f"goal: below {_GOAL:g}"),
            )
        )
    return tuple(charts)


def _list_decay(result: CategoryCurves, *, redacted: bool) -> HtmlSection:
    """List how the mean relevance of each category falls without any use."""
    days = f"{result.days:g}"
    rows = [(curve.category, curve.blocks, curve.relevance[-1]) for curve in result.curves]
    table = sheet(f"Mean relevance {days} days ahead", f"category blocks:n in_{days}_days:score", rows)
    if not rows or redacted:
        return HtmlSection("Decay", table)
    highest = sorted(result.curves, key=lambda curve: -max(curve.relevance))[:SERIES]
    top = max(max(curve.relevance) for curve in highest)
    hours = result.days * 24
    chart = draw_lines(
        "Mean relevance by category",
        [
            ChartLine(
                curve.category, list(zip(curve.hours, curve.relevance, strict=True)), f"{curve.relevance[-1]:.3f}"
            )
            for curve in highest
        ],
        across=[(-hours, f"{days} days ago"), (0, "now"), (hours, f"in {days} days")],
        up=[(0, "0"), (top / 2, f"{top / 2:.2f}"), (top, f"{top:.2f}")],
        limit=(result.threshold, f"threshold {result.threshold:g}"),
    )
    return HtmlSection("Decay", table, (chart,))


def _list_fill(frame: Frame, *, redacted: bool) -> HtmlSection:
    """List the tokens of the last frame by source."""
    parts = [(part.child, part.used) for part in frame.ledger] or [(frame.name, frame.tokens)]
    parts += [("free", max(frame.budget - sum(used for _, used in parts), 0))]
    rows = [(name, used, f"{used / frame.budget:.1%}") for name, used in parts]
    chart = draw_bars("What filled the last frame", [(name, n, f"{n:,} tokens") for name, n in parts])
    table = sheet(f"{frame.name}: {frame.tokens:,} of {frame.budget:,} tokens", "from tokens:n share_of_budget", rows)
    return HtmlSection("The last frame's budget", table, () if redacted else (chart,), own=("share of budget",))


def _write_note(at: str, *, redacted: bool) -> str:
    return ". ".join(part for part in (at, REDACTED if redacted else SHOWN) if part)
