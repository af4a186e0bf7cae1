"""Show decay: curves, forecasts, previews and simulations in tables, and the figure of a forecast: blocks that
drop below the threshold, each category now and then, and histograms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from amgs.clock import earlier
from amgs.decay import half_life_hours, profile_name
from amgs.text.words import plural
from amgs.types import CategoryOutlook, Forecast, ForecastRow
from amgs_app.render.canvas import Region, clean, ink, width_of
from amgs_app.render.catalogue import entry
from amgs_app.render.format import count, day, format_days, share
from amgs_app.render.glyphs import HeaderPart, bar, facts_line, histogram
from amgs_app.render.rows import RowList, Rows
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.lifecycle.decay_forecast import DecayPreview
    from amgs.simulation import Simulation
    from amgs.types import CategoryCurves, DecayCurve
    from amgs_app.render.canvas import Canvas
    from amgs_app.session import Operator


FALLING: Final = Rows["tuple[ForecastRow, float]"](
    "id:id- title*! category??+ drops:day?? days:n!+ now:score= then:score uses:n links:n? useful:n~?+ content."
    " confidence:n.",
    lambda row: (
        row[0].block.id,
        row[0].block.title,
        row[0].block.category,
        row[0].falls_at,
        row[1],
        row[0].relevance_now,
        row[0].relevance_then,
        row[0].uses,
        row[0].links,
        row[0].useful,
        row[0].block.content,
        row[0].block.confidence,
    ),
    key=lambda row: row[0].block.id,
    empty=("No block drops below it in this time.",),
    pane="decay",
)
LISTING: Final = FALLING.listing


def list_falling(result: Forecast) -> RowList[tuple[ForecastRow, float]]:
    """Return the blocks that drop below the threshold, each with the days until then; used ones first."""
    rows = [(row, (row.falls_at - result.as_of).total_seconds() / 86400) for row in result.rows]
    return FALLING.of("drop below it", rows)


_POINTS_SHOWN = 16
"""Points of a decay curve in its table."""
_FALLING = 500
"""Most fading blocks in a figure."""
_BESIDE = 4
"""Category curves drawn beside a block's."""


def _fading(operator: Operator, canvas: Canvas, forecast: Forecast, **drawn: Any) -> Text:
    from amgs_app.decay.figure import decay
    from amgs_app.render.catalogue import places

    every, selected = list_falling(forecast), drawn.pop("selected")
    left = every.keep(places(operator, "decay", every.fields))
    drawn |= {"listed": left, "cursor": left.place_of(selected), "at_days": forecast.days}
    return decay(canvas, now=operator.engine.clock.now(), forecast=forecast, **drawn).render()


def _draw_curve(operator: Operator, result: DecayCurve, canvas: Canvas) -> Text:
    from amgs_app.decay.figure import series_of

    days = max(result.hours, default=0.0) / 24
    lifecycle = operator.engine.memory.lifecycle
    forecast = lifecycle.forecast(days=days, limit=_FALLING)
    beside = series_of(lifecycle.category_curves(days=days), result.block.category, _BESIDE)
    return _fading(operator, canvas, forecast, curve=result, categories=beside, selected=result.block.id)


@entry(figure=_draw_curve)
def decay_curve(result: DecayCurve) -> ResultTable:
    falls = result.falls_below_at
    note = (
        "It never drops below the threshold."
        if falls is None
        else f"Below {result.threshold:g} from {falls:%Y-%m-%d %H:%M}."
    )
    points = zip(result.hours, result.relevance, strict=True)
    table = sheet(result.block.title, "hours:n relevance:score", points, (note,))
    return replace(table, digest=table.rows[:: max(1, len(table.rows) // _POINTS_SHOWN)])


def _draw_forecast(operator: Operator, result: Forecast, canvas: Canvas) -> Text:
    return _fading(operator, canvas, result, selected=operator.selection)


@entry(figure=_draw_forecast)
def forecast(result: Forecast) -> ResultTable:
    drop = "block drops" if result.falling == 1 else "blocks drop"
    falling = f"{result.falling:,} {drop} below {result.threshold:g} within {result.days:g} days"
    title = f"{falling}; {result.already_below:,} already below; nothing is removed before prune"
    notes = [
        f"{category.category}: {category.alive_now:,} → {category.alive_then:,} of {category.blocks:,} above it, "
        f"mean {category.mean_now:.2f} → {category.mean_then:.2f}"
        for category in result.categories
    ]
    return replace(list_falling(result).table(), title=title, notes=tuple(notes))


def _draw_categories(operator: Operator, result: CategoryCurves, canvas: Canvas) -> Text:
    from amgs_app.decay.figure import series_of

    forecast = operator.engine.memory.lifecycle.forecast(days=result.days, limit=_FALLING)
    return _fading(operator, canvas, forecast, categories=series_of(result), selected=operator.selection)


@entry(figure=_draw_categories)
def category_curves(result: CategoryCurves) -> ResultTable:
    rows = [
        (curve.category, curve.blocks, hour, value)
        for curve in result.curves
        for hour, value in zip(curve.hours, curve.relevance, strict=True)
    ]
    title = f"{plural(len(result.curves), 'category', 'categories')}, {result.days:g} days back and ahead"
    table = sheet(title, "category blocks:n hours:n relevance:score", rows)
    wanted = {(curve.category, hour) for curve in result.curves for hour in (*curve.hours[:1], 0.0, *curve.hours[-1:])}
    return replace(table, digest=tuple(row for row in table.rows if (row[0], row[2]) in wanted))


def _draw_preview(operator: Operator, result: DecayPreview, canvas: Canvas) -> Text:
    block, days = result.now.block.id, max(result.now.hours, default=0.0) / 24
    forecast = operator.engine.memory.lifecycle.forecast(days=days, limit=_FALLING)
    return _fading(operator, canvas, forecast, curve=result.now, supposed=result.then, selected=block)


@entry(figure=_draw_preview)
def decay_preview(result: DecayPreview) -> ResultTable:
    rows = [
        (
            name,
            profile_name(c.block.decay_lambda),
            c.block.decay_lambda,
            half_life_hours(c.block.decay_lambda),
            r,
            c.falls_below_at,
        )
        for name, c, r in (("now", result.now, result.relevance_now), ("then", result.then, result.relevance_then))
    ]
    title = f"{result.now.block.title}: relevance at the end of the preview; nothing has changed"
    return sheet(title, "which decay lambda:score half_life_h:score relevance:score falls_below:at", rows)


@entry()
def simulation(result: Simulation) -> ResultTable:
    rows = [(r.scenario, r.measure, r.low, r.median, r.high, r.change) for r in result.rows]
    of = f" of an invented memory of {plural(result.synthetic, 'block')}" if result.synthetic else ""
    title = (
        f"{result.days:g} days{of} at {result.rate:.3g} uses a day, {plural(result.draws, 'draw')}, seed {result.seed}"
    )
    return sheet(title, "scenario* measure 5_%:score median:score 95_%:score change:score", rows)


_CATEGORIES = 12
"""Most categories listed."""


def outlook(
    region: Region,
    result: Forecast,
    listed: RowList[tuple[ForecastRow, float]] | None = None,
    cursor: int | None = None,
) -> None:
    """Draw the forecast: facts, blocks that drop below the threshold, categories, histograms, as far as they fit.

    listed: rows that match a filter; None for all.
    """
    every = list_falling(result)
    listed = every if listed is None else listed
    rows = listed.items
    _facts(region, result)
    top = 1
    if region.height >= 8:
        _meaning(region.part(0, 1, None, 1), result)
        top = 2
    free = region.height - top
    kinds = min(len(result.categories), _CATEGORIES) + 1 if result.categories else 0
    table = min(free, max(3, len(rows) + 2))
    kinds = min(kinds, max(0, free - min(table, 6)), max(0, free // 2)) if free >= 9 else 0
    kinds = kinds if kinds >= 3 else 0
    table = min(table, free - kinds)
    graph = free - kinds - table
    if graph < 4 and table >= 12 and free >= 26:
        table, graph = table - (5 - graph), 5
    graph = min(graph, 20) if graph >= 3 else 0
    if rows and table >= 2:
        more = f": {len(rows):,} of {result.falling:,} are listed" if len(rows) < result.falling else ""
        replace(listed, title=f"drop below it{more}").draw_under(region.part(0, top, None, table), cursor)
    elif not rows and free >= 2:
        words = "No row matches the filter." if result.rows else "No block drops below it in this time."
        region.put(1, top + 1, words, ink(region.palette.muted))
    if kinds:
        _categories(region.part(0, top + table, None, kinds), result)
    if graph:
        _histograms(region.part(0, region.height - graph, None, graph), result)


def _facts(region: Region, result: Forecast) -> None:
    """Draw how many blocks drop below the threshold and by when, and how many stay above."""
    palette = region.palette
    strong, plain = ink(palette.text, bold=True), ink(palette.text)
    falling = max(result.falling, len(result.rows))
    drop = "drops" if falling == 1 else "drop"
    facts = [
        HeaderPart(0, ((plural(falling, "block"), strong), (f" {drop} below {result.threshold:g}", plain))),
        HeaderPart(1, ((f" {'within' if region.width >= 60 else 'in'} {format_days(result.days)}", plain),)),
    ]
    if result.categories:
        above = sum(category.alive_then for category in result.categories)
        stay = "stays" if above == 1 else "stay"
        facts.append(HeaderPart(2, (("; ", plain), (count(above), strong), (f" {stay} above", plain))))
    facts_line(region, 0, facts, gap=0, x=1)


def _meaning(region: Region, result: Forecast) -> None:
    """Draw what being below the threshold means: less weight, but no removal."""
    muted = ink(region.palette.muted)
    facts = [
        HeaderPart(0, (("nothing is removed before prune", muted),)),
        HeaderPart(1, ((f"{count(result.already_below)} already below", muted),)),
        HeaderPart(2, ((f"until {day(earlier(result.as_of, -timedelta(days=result.days)))}", muted),)),
    ]
    facts_line(region, 0, facts, gap=3, x=1)


def _categories(region: Region, result: Forecast) -> None:
    """Draw the number of blocks above the threshold by category, now and then."""
    palette = region.palette
    listed = result.categories[: region.height - 1]
    muted = ink(palette.muted)
    more = len(result.categories) - len(listed)
    region.rule(0, f"above {result.threshold:g}, by category", f"{more} more" if more else "")
    name_w = min(14, max((width_of(clean(category.category)) for category in listed), default=0))
    numbers = max((len(count(category.alive_now)) for category in listed), default=1)
    lost_w = max((len(count(category.alive_now - category.alive_then)) for category in listed), default=1) + 1
    for row, category in enumerate(listed, start=1):
        x = region.put(1, row, clean(category.category), ink(palette.text), width=name_w) + 1
        x = region.put(x, row, count(category.alive_now), muted, width=numbers, align="right")
        x = region.put(x, row, " → ", muted)
        x = region.put(x, row, count(category.alive_then), ink(palette.text, bold=True), width=numbers, align="right")
        lost = category.alive_now - category.alive_then
        change = f"−{count(lost)}" if lost > 0 else f"+{count(-lost)}" if lost else ""
        x = region.put(x + 1, row, change, ink(palette.warn), width=lost_w, align="right") + 2
        tail = f"mean {share(category.mean_now)} → {share(category.mean_then)}"
        wide = region.width - x - (width_of(tail) + 2 if region.width >= 64 else 1)
        _draw_category_bar(region, x, row, wide, category)
        if region.width >= 64:
            region.put(region.width - width_of(tail) - 1, row, tail, muted)


def _draw_category_bar(region: Region, x: int, row: int, wide: int, category: CategoryOutlook) -> None:
    """Draw a bar of a category: blocks that stay above the threshold, drop below it, and are below."""
    if wide < 4 or not category.blocks:
        return
    palette = region.palette
    then, now = (round(n / category.blocks * wide) for n in (category.alive_then, category.alive_now))
    region.fill(x, row, wide, "·", ink(palette.faint))
    region.put(x, row, bar(category.alive_then / category.blocks, wide, region.symbols), ink(palette.accent))
    if now > then:
        region.fill(x + then, row, now - then, "░", ink(palette.warn))


def _histograms(region: Region, result: Forecast) -> None:
    """Draw histograms of relevance now and at the end of the forecast, on a single logarithmic scale, since most blocks
    of an old memory are near 0.
    """
    palette = region.palette
    beside = region.width >= 44 and region.height >= 4
    top = max((*result.histogram_now, *result.histogram_then, 1))
    region.rule(0, "blocks by relevance", "log scale")
    histograms = (
        ("now", result.histogram_now, palette.accent),
        (f"in {format_days(result.days)}", result.histogram_then, palette.heat_high),
    )
    for at, (name, counts, colour) in enumerate(histograms):
        if beside:
            half = region.width // 2
            _histogram(region.part(at * half, 1, half - 1), name, counts, top, colour)
        elif at + 1 < region.height:
            x = region.put(1, at + 1, name, ink(palette.muted), width=11)
            region.put(x, at + 1, _columns(counts, top, 1)[0], ink(colour))


def _columns(counts: Sequence[int], top: int, rows: int) -> list[str]:
    """Return columns as high as the logarithm of their count; `top` fills the height."""
    return [line[:-1] for line in histogram([math.log1p(number) for number in (*counts, top)], rows)]


def _histogram(region: Region, name: str, counts: Sequence[int], top: int, colour: str) -> None:
    muted = ink(region.palette.muted)
    rows = region.height - 1
    wide = max(1, (region.width - 2) // max(1, len(counts)))
    lines = _columns(counts, top, rows)
    for row, line in enumerate(lines):
        for place, sign in enumerate(line):
            region.fill(1 + place * wide, row, max(1, wide - (1 if wide > 2 else 0)), sign, ink(colour))
    for place, number in enumerate(counts if wide > len(str(top)) else ()):
        height = next((row for row, line in enumerate(lines) if line[place] != " "), rows)
        if number and height > 0:
            region.put(1 + place * wide, height - 1, str(number), muted, width=wide - 1, align="centre")
    region.put(1, rows, "0", muted)
    region.put(wide * len(counts) - 1, rows, "1", muted)
    region.put(3, rows, name, ink(colour, bold=True), width=max(0, wide * len(counts) - 5), align="centre")
