"""Charts in SVG that stand in a page of HTML: no script, nothing loaded, text as text, colours by the page's classes.

Each has a title and a description for those who do not see it. Numbers that are written come as text, as the table
beside the chart has them. Every text is escaped here.
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
"""So many lines or parts have a colour of their own."""
_WIDTH = 720
_LEFT = 170
_RIGHT = 90
_ROW = 24
_LETTER = 7.5
"""How wide a letter is at most, nearly."""
_NO_XML = str.maketrans("", "", "\ufffe\uffff")


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """A line: its name, its points (x, y), and what is written at its end."""

    name: str
    points: Sequence[tuple[float, float]]
    told: str = ""


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """Forecasts of one step: their mean, how many came true as a rate with its interval, and how many there are."""

    forecast: float
    rate: float
    low: float
    high: float
    count: int


def style(palette: Palette) -> str:
    """The rules by which a page colours its charts."""
    colours = (
        palette.accent,
        palette.part_recency,
        palette.part_centrality,
        palette.part_confidence,
        palette.part_reinforcement,
        palette.muted,
    )
    rules = [f".c{n} {{ color: {colour}; }}" for n, colour in enumerate(colours)]
    return "\n".join(
        [
            *rules,
            f"svg text {{ font: 13px system-ui, sans-serif; fill: {palette.text}; }}",
            f"svg .muted {{ fill: {palette.muted}; }}",
            f"svg .over {{ paint-order: stroke; stroke: {palette.background}; stroke-width: 4; }}",
            f".axis {{ stroke: {palette.faint}; }}",
            f".limit {{ stroke: {palette.bad}; stroke-dasharray: 5 4; }}",
            f".rest {{ fill: {palette.panel}; }}",
            ".mark { fill: currentColor; }",
            ".line { stroke: currentColor; stroke-width: 2; fill: none; }",
        ]
    )


def bars(title: str, told: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """A bar for each row: its name, its value, and the value as it is written."""
    most = max((value for _, value, _ in rows), default=0) or 1
    room = _WIDTH - _LEFT - _RIGHT
    parts = []
    for n, (name, value, written) in enumerate(rows):
        y, wide = n * _ROW, room * value / most
        parts.append(_text(_LEFT - 8, y + 16, _short(name, _LEFT - 8), "end", whole=name))
        parts.append(_rect(_LEFT, y + 4, wide, _ROW - 8, "mark c0"))
        parts.append(_text(_LEFT + wide + 6, y + 16, written, kind="muted"))
    return _svg(title, told, len(rows) * _ROW + 4, parts)


def columns(title: str, told: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """A column for each row, from left to right: its name, its value, and the value as it is written."""
    most = max((value for _, value, _ in rows), default=0) or 1
    high, step = 180, _WIDTH / max(len(rows), 1)
    every = max(1, round(max((len(name) for name, _, _ in rows), default=1) * _LETTER / step + 0.5))
    parts = [_line(0, high + 20, _WIDTH, high + 20, "axis")]
    for n, (name, value, written) in enumerate(rows):
        tall = high * value / most
        parts.append(_rect(n * step + 3, high + 20 - tall, step - 6, tall, "mark c0"))
        parts.append(_text((n + 0.5) * step, high + 14 - tall, written, "middle"))
        if n % every == 0:
            parts.append(_text(n * step + 3, high + 37, name, kind="muted"))
    return _svg(title, told, high + 46, parts)


def lines(
    title: str,
    told: str,
    series: Sequence[ChartSeries],
    *,
    across: Sequence[tuple[float, str]],
    up: Sequence[tuple[float, str]],
    limit: tuple[float, str] | None = None,
) -> str:
    """Lines over one axis. across, up: what is written along each axis, from its first value to its last. limit: a
    dashed line at this height, with its name. At most SERIES lines; each is named at its end.
    """
    left, right, high = 50, 190, 260
    (first, _), (last, _) = across[0], across[-1]
    (low, _), (top, _) = up[0], up[-1]
    wide = _WIDTH - left - right

    def x_of(value: float) -> float:
        return left + wide * (value - first) / ((last - first) or 1)

    def y_of(value: float) -> float:
        return 10 + high * (1 - (min(max(value, low), top) - low) / ((top - low) or 1))

    parts = []
    for value, name in up:
        parts.append(_line(left, y_of(value), left + wide, y_of(value), "axis"))
        parts.append(_text(left - 6, y_of(value) + 4, name, "end", kind="muted"))
    for n, (value, name) in enumerate(across):
        anchor = "start" if n == 0 else "end" if n == len(across) - 1 else "middle"
        parts.append(_text(x_of(value), high + 28, name, anchor, kind="muted"))
    ends = [(y_of(one.points[-1][1]), f"{one.name} {one.told}".strip(), n) for n, one in enumerate(series)]
    for n, one in enumerate(series):
        way = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in one.points)
        parts.append(f'<polyline class="line c{n}" points="{way}"/>\n')
    if limit is not None:
        parts.append(_line(left, y_of(limit[0]), left + wide, y_of(limit[0]), "limit"))
        parts.append(_text(left + 6, y_of(limit[0]) - 5, limit[1], kind="muted over"))
    free = 10.0
    rest = len(ends)
    for y, name, n in sorted(ends):
        # Names that would lie on each other move down, and up again where the foot is near.
        at = min(max(y + 4, free), high + 14 - 16 * (rest - 1))
        parts.append(_line(left + wide + 1, y, left + wide + 12, at - 4, f"line c{n}"))
        parts.append(_text(left + wide + 16, at, _short(name, right - 16), whole=name))
        free, rest = at + 16, rest - 1
    return _svg(title, told, high + 36, parts)


def reliability(title: str, told: str, points: Sequence[ReliabilityPoint], base: tuple[float, str]) -> str:
    """Forecasts against what came true: on the diagonal both agree. base: the rate of all, with its name. Each point
    has its interval and how many forecasts it stands for.
    """
    left, side = 60, 320
    most = max((one.count for one in points), default=1)

    def place(forecast: float, rate: float) -> tuple[float, float]:
        return left + side * forecast, 10 + side * (1 - rate)

    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = place(tick, tick)
        parts.append(_line(left, y, left + side, y, "axis"))
        parts.append(_text(left - 6, y + 4, f"{tick:g}", "end", kind="muted"))
        parts.append(_text(x, side + 28, f"{tick:g}", "middle", kind="muted"))
    parts.append(_text(left + side / 2, side + 48, "forecast", "middle"))
    parts.append(_text(left + side + 8, 14, "came true"))
    parts.append(_line(*place(0, 0), *place(1, 1), "axis"))
    parts.append(_line(*place(0, base[0]), *place(1, base[0]), "limit"))
    parts.append(_text(left + side + 8, place(1, base[0])[1] + 4, base[1]))
    for one in points:
        x, y = place(one.forecast, one.rate)
        parts.append(_line(x, place(0, one.low)[1], x, place(0, one.high)[1], "line c0"))
        size = 4 + 6 * (one.count / most) ** 0.5
        parts.append(f'<circle class="mark c0" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>\n')
        parts.append(_text(x + size + 3, y - 5, f"{one.count:,}", kind="muted over"))
    return _svg(title, told, side + 56, parts)


def filled(
    title: str, told: str, parts: Sequence[tuple[str, float, str]], whole: float, rest: str = ""
) -> str:
    """One bar that parts fill from the left, each named below with its value as it is written. rest: what the empty
    end is called.
    """
    scale = _WIDTH / max(whole, sum(value for _, value, _ in parts), 1)
    drawn = [_rect(0, 4, _WIDTH, 28, "rest")]
    x, y = 0.0, 56
    for n, (name, value, written) in enumerate(parts):
        colour = f"mark c{n % SERIES}"
        drawn.append(_rect(x, 4, value * scale, 28, colour))
        drawn.append(_rect(0, y - 11, 12, 12, colour))
        drawn.append(_text(20, y, f"{name}: {written}"))
        x, y = x + value * scale, y + 20
    if rest:
        drawn.append(_rect(0, y - 11, 12, 12, "rest"))
        drawn.append(_text(20, y, rest))
    return _svg(title, told, y + 8, drawn)


def _svg(title: str, told: str, high: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH} {high:g}">\n'
        f"<title>{_safe(title)}</title>\n<desc>{_safe(told)}</desc>\n{''.join(parts)}</svg>\n"
    )


def _text(x: float, y: float, text: str, anchor: str = "start", *, kind: str = "", whole: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    more = f"<title>{_safe(whole)}</title>" if whole and whole != text else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{_safe(text)}{more}</text>\n'


def _rect(x: float, y: float, wide: float, high: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"/>\n'


def _line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>\n'


def _short(text: str, room: float) -> str:
    most = int(room / _LETTER)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _safe(text: str) -> str:
    return escape(printable_line(text).translate(_NO_XML), quote=True)
