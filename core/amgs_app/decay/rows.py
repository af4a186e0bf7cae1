"""How decay is shown: curves, forecasts, previews, simulations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from amgs.decay import half_life_hours, profile_name
from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.rows import RowList, Rows
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.lifecycle.decay_forecast import DecayPreview
    from amgs.simulation import Simulation
    from amgs.types import CategoryCurves, DecayCurve, Forecast, ForecastRow
    from amgs_app.render.canvas import Canvas
    from amgs_app.session.operator import Operator


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
    from amgs_app.render.drawing import places

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
        f"{result.days:g} days{of} at {result.rate:g} uses a day, {plural(result.draws, 'draw')}, seed {result.seed}"
    )
    return sheet(title, "scenario* measure 5_%:score median:score 95_%:score change:score", rows)
