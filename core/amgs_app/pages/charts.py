"""Bar and line charts in SVG for an HTML page, without scripts or external files, coloured by the page's classes.

Each chart has a title and a description for screen readers, and writes numbers as in the table beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from amgs_app.terminal.printable import printable_line

if TYPE_CHECKING:
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
    """Draw at most SERIES lines on one axis, each named at its end. limit: height and name of a dashed line."""
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
