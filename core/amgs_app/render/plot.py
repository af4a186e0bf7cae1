"""Draw curves with plotext in the palette's colours; and lines and points finer than a cell, as braille dots or slanted
characters.
"""

from __future__ import annotations

import bisect
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.style import Style
from rich.text import Text

from amgs_app.render.canvas import Region, ink
from amgs_app.terminal.themes import rgb

_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


class Strokes:
    """Collects lines and points, then draws them on a region; in a shared cell the latest colour wins.

    Coordinates are in cells: (0, 0) is the top left corner of the first cell, (x + 0.5, y + 0.5) a cell's middle.
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        self.braille = region.symbols == "braille"
        self._dots: dict[tuple[int, int], int] = {}
        self._signs: dict[tuple[int, int], str] = {}
        self._inks: dict[tuple[int, int], Style] = {}

    def line(self, x0: float, y0: float, x1: float, y1: float, style: Style, *, gap: int = 0) -> None:
        """Draw a straight line. gap: dots skipped after each (0 solid, 1 dashed, 3 dotted)."""
        if self.braille:
            for step, (px, py) in enumerate(_walk(x0 * 2, y0 * 4, x1 * 2, y1 * 4)):
                if step % (gap + 1) == 0:
                    self._dot(px, py, style)
            return
        sign = _slant(x1 - x0, y1 - y0) if gap < 3 else "·"
        for step, (x, y) in enumerate(_walk(x0, y0, x1, y1)):
            if gap < 1 or step % 2 == 0:
                self._signs[x, y] = sign
                self._inks[x, y] = style

    def point(self, x: float, y: float, style: Style) -> None:
        """Draw a dot."""
        if self.braille:
            self._dot(int(x * 2), int(y * 4), style)
        else:
            self._signs[int(x), int(y)] = "·"
            self._inks[int(x), int(y)] = style

    def _dot(self, px: int, py: int, style: Style) -> None:
        cell = (px // 2, py // 4)
        self._dots[cell] = self._dots.get(cell, 0) | _BITS[py % 4][px % 2]
        self._inks[cell] = style

    def draw(self) -> None:
        """Write everything to the region."""
        for cell, bits in self._dots.items():
            self.region.put(*cell, chr(0x2800 + bits), self._inks[cell])
        for cell, sign in self._signs.items():
            self.region.put(*cell, sign, self._inks[cell])


def _slant(dx: float, dy: float) -> str:
    """Return the character that leans like the line; a cell is twice as high as wide."""
    if abs(dy) * 2 < abs(dx) * 0.5:
        return "─"
    if abs(dx) < abs(dy) * 0.6:
        return "│"
    return "╲" if dx * dy > 0 else "╱"


def _walk(x0: float, y0: float, x1: float, y1: float) -> Iterator[tuple[int, int]]:
    """Yield the grid points of a line in order, both ends included."""
    steps = max(1, round(max(abs(x1 - x0), abs(y1 - y0))))
    for step in range(steps + 1):
        yield int(x0 + (x1 - x0) * step / steps), int(y0 + (y1 - y0) * step / steps)


LEAST_WIDTH, LEAST_HEIGHT = 16, 5
"""Cells below which nothing is drawn."""
_EVERY, _STAGGER = 30, 4
"""Columns between two letters of a curve, and between the first letters of two curves."""

# plotext draws on a single figure of its module; pictures are painted from several threads.
_FIGURE = threading.Lock()


@dataclass(frozen=True, slots=True)
class PlotCurve:
    """Points to join, with rising x. letter: identifies the curve without colour. dotted: draw every other point."""

    xs: Sequence[float]
    ys: Sequence[float]
    colour: str
    letter: str = "*"
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class PlotLine:
    """A straight line across the plot at a value of x (upright) or y (level)."""

    kind: Literal["upright", "level"]
    at: float
    colour: str


@dataclass(frozen=True, slots=True)
class Axes:
    """Range and labelled ticks of both axes."""

    x: tuple[float, float]
    y: tuple[float, float]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]


def draw(region: Region, curves: Sequence[PlotCurve], lines: Sequence[PlotLine], axes: Axes) -> None:
    """Draw curves and lines into the region; nothing if it is too small."""
    if region.width < LEAST_WIDTH or region.height < LEAST_HEIGHT:
        return
    built = _build(region, curves, lines, axes)
    for row, line in enumerate(Text.from_ansi(built).split("\n")[: region.height]):
        plain = line.plain
        region.put(0, row, plain)
        for span in line.spans:
            if isinstance(span.style, str) or not plain[span.start : span.end].strip():
                continue
            region.put(span.start, row, plain[span.start : span.end], span.style)


def column_of(region: Region, axes: Axes, x: float) -> int:
    """Return the column of the region that shows x; as in plotext, the axis ends are the outermost cells."""
    left = max(len(label) for _, label in axes.y_ticks) + 1
    wide = region.width - left
    low, high = axes.x
    return left + round((x - low) / (high - low) * (wide - 1)) if high > low else left


def row_of(region: Region, axes: Axes, y: float) -> int:
    """Return the row of the region that shows y."""
    high = region.height - 2
    low_y, high_y = axes.y
    return round((1 - (y - low_y) / (high_y - low_y)) * (high - 1)) if high_y > low_y else 0


def write_letters(region: Region, curves: Sequence[PlotCurve], axes: Axes) -> None:
    """Write each curve's letter on it at least once, about every 30 cells, so that curves can be told apart without
    colour.
    """
    if region.width < LEAST_WIDTH or region.height < LEAST_HEIGHT:
        return
    taken: set[tuple[int, int]] = set()
    for place, curve in enumerate(curves):
        if not curve.xs:
            continue
        first, last = column_of(region, axes, curve.xs[0]), column_of(region, axes, curve.xs[-1])
        stops = list(range(first + 2 + place * _STAGGER, last, _EVERY)) or [(first + last) // 2]
        for stop in stops:
            around = range(max(first, stop - _EVERY // 2), min(last, stop + _EVERY // 2) + 1)
            columns = sorted(around, key=lambda column, stop=stop: abs(column - stop))  # type: ignore[misc]
            seen = [cell for x in columns if (cell := _cell(region, curve, axes, x)) is not None]
            free = [cell for cell in seen if not _close(cell, taken)]
            if not free and stop == stops[0]:  # it lies under the others: a single letter it has nevertheless
                hidden = [(x, _row(region, curve, axes, x)) for x in columns]
                free = [cell for cell in seen + hidden if cell not in taken]
            if free:
                taken.add(free[0])
                region.put(*free[0], curve.letter, ink(curve.colour, bold=True))


def _row(region: Region, curve: PlotCurve, axes: Axes, column: int) -> int:
    """Return the row of a curve in a column."""
    if len(curve.xs) < 2:
        return row_of(region, axes, curve.ys[0])
    left, right = column_of(region, axes, axes.x[0]), region.width - 1
    x = axes.x[0] + (column - left) / max(1, right - left) * (axes.x[1] - axes.x[0])
    after = min(max(bisect.bisect_left(curve.xs, x), 1), len(curve.xs) - 1)
    (x0, x1), (y0, y1) = curve.xs[after - 1 : after + 1], curve.ys[after - 1 : after + 1]
    share = min(1.0, max(0.0, (x - x0) / (x1 - x0))) if x1 > x0 else 1.0
    return row_of(region, axes, y0 + (y1 - y0) * share)


def _cell(region: Region, curve: PlotCurve, axes: Axes, column: int) -> tuple[int, int] | None:
    """Return the cell of a column in which the curve is visible in its own colour; None if another covers it."""
    row = _row(region, curve, axes, column)
    for y in (row, row - 1, row + 1):
        if 0 <= y < region.height - 2 and region.colour_at(column, y) == curve.colour:
            return column, y
    return None


def _close(cell: tuple[int, int], taken: set[tuple[int, int]]) -> bool:
    """Return whether a letter is there or next to it."""
    x, y = cell
    return any(abs(x - a) <= 1 and abs(y - b) <= 1 for a, b in taken)


def _build(region: Region, curves: Sequence[PlotCurve], lines: Sequence[PlotLine], axes: Axes) -> str:
    """Return plotext's drawing as text with ANSI colours. Locked, since plotext has a single global figure."""
    import plotext  # late: a fifth of a second that only this picture needs

    palette = region.palette
    figure: Any = plotext
    with _FIGURE:
        figure.clf()
        figure.limit_size(False, False)
        figure.plotsize(region.width, region.height)
        figure.canvas_color("default")
        figure.axes_color("default")
        figure.ticks_color(rgb(palette.muted))
        figure.xaxes(True, False)
        figure.yaxes(True, False)
        figure.xlim(*axes.x)
        figure.ylim(*axes.y)
        figure.xticks([at for at, _ in axes.x_ticks], [label for _, label in axes.x_ticks])
        figure.yticks([at for at, _ in axes.y_ticks], [label for _, label in axes.y_ticks])
        for line in lines:
            (figure.vline if line.kind == "upright" else figure.hline)(line.at, color=rgb(line.colour))
        for curve in curves:
            marker = {"braille": "braille", "block": "hd"}.get(region.symbols, curve.letter)
            points = figure.scatter if curve.dotted else figure.plot
            points(list(curve.xs), list(curve.ys), marker=marker, color=rgb(curve.colour))
        built = str(figure.build())
        figure.clf()
    return built
