"""Curves by plotext, brought into a picture's cells: its axes and its marks, the palette's colours."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.text import Text

from amgs_tui.pictures.canvas import Region
from amgs_tui.themes import rgb

# plotext draws on one figure of its module; pictures are painted from several threads.
_FIGURE = threading.Lock()


@dataclass(frozen=True, slots=True)
class Curve:
    """Points to join. letter: the sign where only ASCII can be shown. dotted: every other point is left
    out.
    """

    xs: Sequence[float]
    ys: Sequence[float]
    colour: str
    letter: str = "*"
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class Line:
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


def draw(region: Region, curves: Sequence[Curve], lines: Sequence[Line], axes: Axes) -> None:
    """Draw into the whole region; too small a region stays empty."""
    if region.width < 16 or region.height < 5:
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
    """The column of the region that shows a value of x: plotext gives the ends of the axis the outermost
    cells.
    """
    left = max(len(label) for _, label in axes.y_ticks) + 1
    wide = region.width - left
    low, high = axes.x
    return left + round((x - low) / (high - low) * (wide - 1)) if high > low else left


def row_of(region: Region, axes: Axes, y: float) -> int:
    """The row of the region that shows a value of y."""
    high = region.height - 2
    low_y, high_y = axes.y
    return round((1 - (y - low_y) / (high_y - low_y)) * (high - 1)) if high_y > low_y else 0


def _build(region: Region, curves: Sequence[Curve], lines: Sequence[Line], axes: Axes) -> str:
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
