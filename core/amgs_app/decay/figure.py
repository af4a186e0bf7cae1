"""Figure of a block's decay and uses, the blocks that drop below the threshold next, and the forecast of the whole
memory.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from amgs.decay import profile_name
from amgs.text.words import plural
from amgs.types import CategoryCurves, DecayCurve, Forecast, ForecastRow
from amgs_app.decay.rows import outlook
from amgs_app.render.canvas import Canvas, Figure, Region, clean, cut, ink, width_of
from amgs_app.render.format import day, half_life, share, span
from amgs_app.render.glyphs import HeaderPart, facts_line, notice_in
from amgs_app.render.plot import Axes, PlotCurve, PlotLine, column_of, draw, write_letters
from amgs_app.terminal.themes import READABLE, Palette, contrast

if TYPE_CHECKING:
    from amgs_app.render.rows import RowList

Series = tuple[Sequence[float], Sequence[float]]
"""Hours relative to now, and the relevance at each."""

_PAST = 1.0
"""Longest past that is drawn, relative to the future."""

_MONTH = 730.5
"""Hours in a month."""

_LEAST_PLOT = 6
"""Least lines of a plot."""
_SUPPOSED = "x"
"""Letter of the curve with another decay; categories have a to h."""

MOST_CATEGORIES = 8
"""Most category curves in a single plot."""


def decay(
    canvas: Canvas,
    *,
    now: datetime,
    curve: DecayCurve | None = None,
    forecast: Forecast | None = None,
    categories: Mapping[str, Series] | None = None,
    listed: RowList[tuple[ForecastRow, float]] | None = None,
    cursor: int | None = None,
    supposed: DecayCurve | None = None,
    at_days: float | None = None,
) -> Figure:
    """Return the figure: the selected block's curve above, or left if wide, the forecast and categories below.

    categories: mean curves by category. listed: rows of the forecast that match a filter, None for all; cursor: the
    selected block. supposed: the block's curve with another decay. at_days: end of the forecast, marked in the plot.
    """
    sheet = Figure(canvas)
    if curve is None and forecast is None and not categories:
        notice_in(
            sheet,
            "Nothing fades yet",
            ("consolidate", "decay curve ID", "decay forecast --days 30"),
            "A block's relevance halves with every half-life; each use sets it back to 1.",
        )
        return sheet
    plot = _Plot(curve, categories or {}, supposed, at_days)
    if forecast is None:
        _curve(sheet, plot, now)
    elif curve is None and not categories:
        outlook(sheet, forecast, listed, cursor)
    elif sheet.width >= 116:
        left = sheet.width * 11 // 20
        _curve(sheet.part(0, 0, left), plot, now)
        outlook(sheet.part(left + 2, 0), forecast, listed, cursor)
    else:
        top = max(8, sheet.height * (9 if sheet.height >= 18 else 11) // 20)
        _curve(sheet.part(0, 0, None, top), plot, now)
        outlook(sheet.part(0, top), forecast, listed, cursor)
    return sheet


def series_of(curves: CategoryCurves, own: str = "", most: int = MOST_CATEGORIES) -> dict[str, Series]:
    """Return the curves of the largest categories, including `own`, for a plot."""
    ranked = sorted(curves.curves, key=lambda curve: curve.category != own)[:most]
    return {curve.category: (curve.hours, curve.relevance) for curve in ranked if curve.hours}


# --- the curve --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Plot:
    """Content of a plot; see `decay`."""

    curve: DecayCurve | None
    categories: Mapping[str, Series]
    supposed: DecayCurve | None
    at_days: float | None


def _curve(region: Region, plot: _Plot, now: datetime) -> None:
    palette, curve = region.palette, plot.curve
    muted, plain = ink(palette.muted), ink(palette.text)
    if curve is None or not curve.hours:
        if not plot.categories:
            notice_in(region, "No block is selected", ("block find dome",), "Choose a block to see its curve.")
            return
        heading = HeaderPart(0, (("mean relevance by category", ink(palette.accent, bold=True)),))
        facts_line(region, 0, [heading], x=1)
        _body(region.part(0, 1), plot)
        return
    block = curve.block
    here = _relevance_at(curve, 0.0)
    profile = profile_name(block.decay_lambda)
    facts = [
        HeaderPart(0, ((cut(clean(block.title), max(14, region.width - 46)), ink(palette.accent, bold=True)),)),
        HeaderPart(1, (("now ", muted), (share(here), ink(palette.text, bold=True)))),
        HeaderPart(
            3, ((profile, plain), ("" if profile == "pinned" else f" ½ {half_life(block.decay_lambda)}", muted))
        ),
    ]
    if curve.falls_below_at is not None:
        left = span((curve.falls_below_at - now).total_seconds())
        past = curve.falls_below_at <= now
        fall = f"below {curve.threshold:g} since" if past else f"drops below {curve.threshold:g} in {left}"
        when = f" {day(curve.falls_below_at)}" if past else f" ({day(curve.falls_below_at)})"
        when = when if region.width >= 72 else ""
        facts.insert(2, HeaderPart(2, ((fall, ink(palette.warn)), (when, muted))))
    facts.append(HeaderPart(4, ((plural(len(curve.reinforced_hours), "use"), muted),)))
    facts_line(region, 0, facts, x=1)
    _body(region.part(0, 1), plot)


def _relevance_at(curve: DecayCurve, hour: float) -> float:
    """Return the relevance at an hour, linearly between the nearest samples."""
    place = bisect.bisect_right(curve.hours, hour)  # a use at exactly that hour counts
    if place == 0:
        return curve.relevance[0]
    if place >= len(curve.hours):
        return curve.relevance[-1]
    (x0, x1), (y0, y1) = curve.hours[place - 1 : place + 1], curve.relevance[place - 1 : place + 1]
    return y0 + (y1 - y0) * (hour - x0) / (x1 - x0) if x1 > x0 else y1


def _body(region: Region, plot: _Plot) -> None:
    """Draw the legend, on up to three lines, and the plot; categories without room in the legend are not drawn."""
    most = 3 if region.height >= 14 else 2 if region.height >= 11 else 1
    named = list(plot.categories)[:MOST_CATEGORIES]
    lines = _legend_lines(region, plot, named)
    while len(lines) > most and named:
        named.pop()
        lines = _legend_lines(region, plot, named)
    if region.height < _LEAST_PLOT + len(lines):
        named, lines = ([], []) if plot.curve is not None else (named, lines)
    plot = replace(plot, categories={name: plot.categories[name] for name in named})
    for y, line in enumerate(lines[:most]):
        x = 1
        for sign, text, colour in line:
            x = region.put(x, y, sign, ink(colour, bold=True)) + 1
            x = region.put(x, y, text, ink(region.palette.muted)) + 2
    _draw_plot(region.part(0, min(len(lines), most)), plot)


def _draw_plot(region: Region, plot: _Plot) -> None:
    palette, curve, categories = region.palette, plot.curve, plot.categories
    spread = [series[0] for series in categories.values() if series[0]] + ([curve.hours] if curve else [])
    if not spread:
        return
    low, high = min(min(hours) for hours in spread), max(max(hours) for hours in spread)
    if curve is not None:  # what is to come needs room beside a long life
        high = max(curve.hours)
        low = max(min(curve.hours), -_PAST * high)
    axes = Axes(
        (low, max(high, low + 1)), (0.0, 1.0), _hour_ticks(low, high, region.width), _relevance_ticks(region.height)
    )
    inks = _inks(plot, palette)
    curves = [PlotCurve(*_within(categories[name], low, high), *inks[name]) for name in inks]
    lines = [PlotLine("upright", 0.0, palette.faint)] if low < 0 < high else []
    if plot.at_days is not None and 0 < plot.at_days * 24 < high:
        lines.append(PlotLine("upright", plot.at_days * 24, palette.accent))
    lettered = list(curves)
    if curve is not None:
        lines.append(PlotLine("level", curve.threshold, palette.warn))
        split = bisect.bisect_right(curve.hours, 0.0)
        past = _within((curve.hours[:split], curve.relevance[:split]), low, high)
        curves.append(PlotCurve(*past, palette.accent, "*"))
        curves.append(_future_curve(curve, high, palette.heat_high, "+"))
        if plot.supposed is not None:
            supposed = _future_curve(plot.supposed, high, palette.good, _SUPPOSED)
            curves.append(supposed)
            lettered.append(supposed)
    draw(region, [plot_curve for plot_curve in curves if len(plot_curve.xs)], lines, axes)
    write_letters(region, lettered, axes)
    bottom = region.height - 2
    if curve is not None and bottom > 3:
        for hour in curve.reinforced_hours:
            if low <= hour <= high:
                region.put(column_of(region, axes, hour), bottom, "▲", ink(palette.good, bold=True))
    if plot.at_days is not None and region.height >= 8:
        _mark(region, axes, plot.at_days)


def _within(series: Series, low: float, high: float) -> Series:
    """Return the part of a series between two hours, clipped to [0, 1]."""
    first, last = bisect.bisect_left(series[0], low), bisect.bisect_right(series[0], high)
    return series[0][first:last], [min(1.0, max(0.0, value)) for value in series[1][first:last]]


def _future_curve(curve: DecayCurve, high: float, colour: str, letter: str) -> PlotCurve:
    """Return the future part of a curve, dotted."""
    split = max(0, bisect.bisect_right(curve.hours, 0.0) - 1)
    hours, relevance = _within((curve.hours[split:], curve.relevance[split:]), -math.inf, high)
    return PlotCurve(hours[::2], relevance[::2], colour, letter, dotted=True)


def _mark(region: Region, axes: Axes, days: float) -> None:
    """Mark the end of the forecast at the upper edge of the plot."""
    label = "now" if days == 0 else f"+{days:g} d"
    x = column_of(region, axes, min(days * 24, axes.x[1]))
    x = max(6, min(x - width_of(label) // 2, region.width - width_of(label)))
    region.put(x, 0, label, ink(region.palette.accent, bold=True))


def _inks(plot: _Plot, palette: Palette) -> dict[str, tuple[str, str]]:
    """Return colour and letter of each category, by name."""
    ramp = (
        palette.part_centrality,
        palette.good,
        palette.part_reinforcement,
        palette.relation("next"),
        palette.muted,
        palette.relation("related"),
        palette.heat_low,
        palette.warn,
    )
    faint = 0.8 if plot.curve is not None else 1.0  # no fainter: their letters are read
    names = sorted(list(plot.categories)[:MOST_CATEGORIES])
    inks = {}
    for at, name in enumerate(names):
        soft = palette.fade(ramp[at], faint)
        # A colour whose faded letters could not be read stays as it is.
        colour = soft if contrast(soft, palette.background) >= READABLE else ramp[at]
        inks[name] = (colour, "abcdefgh"[at])
    return inks


def _legend_lines(region: Region, plot: _Plot, named: Sequence[str]) -> list[list[tuple[str, str, str]]]:
    """Return the legend's entries (sign, name, colour), as many per line as fit."""
    palette, curve = region.palette, plot.curve
    ascii_only = region.symbols == "ascii"
    entries: list[tuple[str, str, str]] = []
    if curve is not None:
        entries = [
            ("*" if ascii_only else "━", "so far", palette.accent),
            ("+" if ascii_only else "┄", "to come", palette.heat_high),
        ]
        if plot.supposed is not None:
            name = profile_name(plot.supposed.block.decay_lambda)
            entries.append((_SUPPOSED, f"if {name}", palette.good))
        if curve.reinforced_hours:
            entries.append(("▲", "used", palette.good))
        entries.append(("─", f"threshold {curve.threshold:g}", palette.warn))
    inks = _inks(replace(plot, categories={name: plot.categories[name] for name in named}), palette)
    entries += [(letter, clean(name), colour) for name, (colour, letter) in inks.items()]
    lines: list[list[tuple[str, str, str]]] = [[]]
    x = 1
    for entry in entries:
        wide = width_of(entry[1]) + 4
        if lines[-1] and x + wide - 2 > region.width:
            lines.append([])
            x = 1
        lines[-1].append(entry)
        x += wide
    return lines


def _hour_ticks(low: float, high: float, width: int) -> list[tuple[float, str]]:
    """Return ticks at whole hours, days or months around now, as many as fit."""
    reach = max(high - low, 1.0)
    steps = (1, 3, 6, 12, 24, 48, 120, 240, 360, _MONTH, 2 * _MONTH, 3 * _MONTH, 6 * _MONTH, 12 * _MONTH, 60 * _MONTH)
    step = next((size for size in steps if reach / size <= max(2, width // 11)), steps[-1])
    ticks = []
    for place in range(math.ceil(low / step), int(high // step) + 1):
        hour = place * step
        ticks.append((float(hour), _tick(hour, step)))
    return ticks


def _tick(hour: float, step: float) -> str:
    """Return the label of a time in the unit of the step."""
    if hour == 0:
        return "now"
    unit, name = (1, "h") if step < 24 else (24, "d") if step < _MONTH else (_MONTH, "mo")
    number = round(abs(hour) / unit)
    if unit == _MONTH and step % (12 * _MONTH) == 0:
        number, name = number // 12, "y"
    return f"{'+' if hour > 0 else '−'}{number} {name}"


def _relevance_ticks(height: int) -> list[tuple[float, str]]:
    parts = 4 if height >= 11 else 2
    return [(place / parts, f"{place / parts:.2f}") for place in range(parts + 1)]
