"""What a pack was worth over time: how likely it was to be read, when it was read, how that goes on if it is not."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from amgs.text.plural import plural
from amgs.types.packs import PackCourse
from amgs_app.render.figures.canvas import Canvas, Figure, Region, clean, ink
from amgs_app.render.figures.format import days_told, share, span
from amgs_app.render.figures.plot import Axes, PlotCurve, PlotLine, column_of, draw

LEAST_HEIGHT = 7
"""Lines below which nothing is drawn."""
_DAY = 86400.0


def course(result: PackCourse, canvas: Canvas) -> Text:
    """The curve under a rule with what it ends at."""
    sheet = Figure(canvas)
    told = f"{plural(len(result.readings), 'reading')} · {share(result.here)} now"
    sheet.rule(0, clean(result.name), told, strong=True)
    draw_course(sheet.part(0, 1), result)
    return sheet.render()


def draw_course(region: Region, result: PackCourse) -> None:
    """What the curve says on a line, the curve up to now and dotted from there on, and a mark for each reading."""
    if region.height < LEAST_HEIGHT:
        return
    palette = region.palette
    words = f"how likely it is read within {days_told(result.days)}  ▲ read  ··· if not"
    region.put(1, 0, words, ink(palette.muted), width=region.width - 2)
    days = [(at - result.now).total_seconds() / _DAY for at in result.at]
    split = sum(one <= 0 for one in days)
    low, high = min(days), max(*days, min(days) + 1.0)
    axes = Axes((low, high), (0.0, 1.0), _ticks(low, high), [(0.0, "0"), (0.5, ".5"), (1.0, "1")])
    curves = [
        PlotCurve(days[:split], result.needed[:split], palette.heat_high, "*"),
        PlotCurve(days[split - 1 :], result.needed[split - 1 :], palette.heat_high, "+", dotted=True),
    ]
    body = region.part(0, 1)
    draw(body, curves, [PlotLine("upright", 0.0, palette.faint)], axes)
    for read in result.readings:
        x = column_of(body, axes, (read - result.now).total_seconds() / _DAY)
        body.put(x, body.height - 2, "▲", ink(palette.good, bold=True))


def _ticks(low: float, high: float) -> Sequence[tuple[float, str]]:
    """When it was kept, now, and the end."""
    ticks = [(0.0, "now"), (high, f"+{span(high * _DAY)}")]
    return [(low, f"kept {span(-low * _DAY)} ago"), *ticks] if -low > 0.15 * high else ticks
