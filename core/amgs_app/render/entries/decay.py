"""How relevance fades, and what would become of the memory: curves, forecasts, previews, futures drawn by chance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amgs.decay import half_life_hours, profile_name
from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.lifecycle.decay_forecast import DecayPreview
    from amgs.simulation.draws import Spread
    from amgs.simulation.enhance import EnhancementForecast
    from amgs.simulation.evolve import Evolution
    from amgs.simulation.insert import Insertion
    from amgs.simulation.prune import PruningFutures
    from amgs.simulation.stability import Stability
    from amgs.types import CategoryCurves, DecayCurve, Forecast
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.session.operator import Operator


_POINTS_SHOWN = 16
"""Points of a decay curve that its table shows."""
_FALLING = 500
"""Blocks that fade which a figure lists at most."""
_BESIDE = 4
"""Curves of categories beside that of a block."""


def _fading(operator: Operator, canvas: Canvas, forecast: Forecast, **drawn: Any) -> Text:
    from amgs_app.panes.row_fields import of_falling
    from amgs_app.render.drawing import places
    from amgs_app.render.figures.decay import decay

    rows = places(operator, "decay", of_falling(forecast))
    return decay(canvas, now=operator.engine.clock.now(), forecast=forecast, shown=rows, at_days=forecast.days, **drawn)


def _drawn_curve(operator: Operator, result: DecayCurve, canvas: Canvas) -> Text:
    from amgs_app.render.figures.decay import series_of

    days = max(result.hours, default=0.0) / 24
    lifecycle = operator.engine.memory.lifecycle
    forecast = lifecycle.forecast(days=days, limit=_FALLING)
    beside = series_of(lifecycle.category_curves(days=days), result.block.category, _BESIDE)
    return _fading(operator, canvas, forecast, curve=result, categories=beside, selected=result.block.id)


@entry(figure=_drawn_curve)
def decay_curve(result: DecayCurve) -> ResultTable:
    falls = result.falls_below_at
    note = (
        "It never drops below the threshold."
        if falls is None
        else f"Below {result.threshold:g} from {falls:%Y-%m-%d %H:%M}."
    )
    points = zip(result.hours, result.relevance, strict=True)
    made = sheet(result.block.title, "hours:n relevance:score", points, (note,))
    return replace(made, digest=made.rows[:: max(1, len(made.rows) // _POINTS_SHOWN)])


def _drawn_forecast(operator: Operator, result: Forecast, canvas: Canvas) -> Text:
    return _fading(operator, canvas, result, selected=operator.selection)


@entry(figure=_drawn_forecast)
def forecast(result: Forecast) -> ResultTable:
    rows = [
        (row.block.id, row.block.title, row.falls_at, row.relevance_now, row.relevance_then, row.uses, row.links)
        for row in result.rows
    ]
    drop = "block drops" if result.falling == 1 else "blocks drop"
    falling = f"{result.falling:,} {drop} below {result.threshold:g} within {result.days:g} days"
    if result.supposed is not None:
        falling += f" as previewed ({result.without:,} as it is)"
    title = f"{falling}; {result.already_below:,} already below; nothing is removed before prune"
    notes = [
        f"{each.category}: {each.alive_now:,} → {each.alive_then:,} of {each.blocks:,} above it, "
        f"mean {each.mean_now:.2f} → {each.mean_then:.2f}"
        for each in result.categories
    ]
    return sheet(title, "id:id title* drops:at now:score then:score uses:n links:n", rows, notes)


def _drawn_categories(operator: Operator, result: CategoryCurves, canvas: Canvas) -> Text:
    from amgs_app.render.figures.decay import series_of

    forecast = operator.engine.memory.lifecycle.forecast(days=result.days, limit=_FALLING)
    return _fading(operator, canvas, forecast, categories=series_of(result), selected=operator.selection)


@entry(figure=_drawn_categories)
def category_curves(result: CategoryCurves) -> ResultTable:
    rows = [
        (each.category, each.blocks, hour, value)
        for each in result.curves
        for hour, value in zip(each.hours, each.relevance, strict=True)
    ]
    title = f"{plural(len(result.curves), 'category', 'categories')}, {result.days:g} days back and ahead"
    made = sheet(title, "category blocks:n hours:n relevance:score", rows)
    wanted = {(each.category, hour) for each in result.curves for hour in (*each.hours[:1], 0.0, *each.hours[-1:])}
    return replace(made, digest=tuple(row for row in made.rows if (row[0], row[2]) in wanted))


def _drawn_preview(operator: Operator, result: DecayPreview, canvas: Canvas) -> Text:
    from amgs.types import Supposed

    block, days = result.now.block.id, max(result.now.hours, default=0.0) / 24
    supposed = Supposed(result.decay_lambda, block_id=block)
    forecast = operator.engine.memory.lifecycle.forecast(days=days, supposed=supposed, limit=_FALLING)
    return _fading(operator, canvas, forecast, curve=result.now, supposed=result.then, selected=block)


@entry(figure=_drawn_preview)
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


_WAYS = {3: "all four", 2: "faded + 2", 1: "faded + 1", 0: "faded"}


def _spread(value: Spread | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value.mean:.{digits}f} ({value.low:.{digits}f}–{value.high:.{digits}f})"


def _count(value: Spread) -> str:
    return f"{value.mean:,.0f} ({value.low:,.0f}–{value.high:,.0f})"


@entry()
def enhancement_forecast(result: EnhancementForecast) -> ResultTable:
    one, two = result.without, result.with_change
    rows: list[tuple[str, Any, Any]] = [
        ("edges", one.edges, two.edges),
        ("mean strength", _spread(one.strength, 3), _spread(two.strength, 3)),
        ("total strength", _spread(one.total_strength), _spread(two.total_strength)),
        ("components", _count(one.components), _count(two.components)),
        ("top 20 that stay", _spread(one.top_stays), _spread(two.top_stays)),
    ]
    moved = [f"{m.title}: centrality {m.before:.3f} → {m.after:.3f} ({m.likely:.0%} of draws)" for m in result.moved]
    title = f"After {result.days:g} days, {result.draws} draws, seed {result.seed} (mean, 5 to 95 %)"
    shift = f"Mean shift of centrality {_spread(result.shift, 4)}"
    return sheet(title, "what without* with*", rows, (shift, *moved))


@entry()
def pruning_futures(result: PruningFutures) -> ResultTable:
    asked = result.recall_now is not None
    rows = [
        (
            "*" if way.best else "",
            _WAYS[way.others],
            way.threshold,
            _count(way.pruned),
            _count(way.missed),
            _spread(way.kept),
            _count(way.edges),
            *((_spread(way.recall),) if asked else ()),
        )
        for way in result.ways
    ]
    title = (
        f"Pruning every {result.cycle:g} days for {result.days:g}, {result.draws} draws, seed {result.seed} "
        "(mean, 5 to 95 %)"
    )
    notes = [
        f"{plural(result.blocks, 'block')}, {result.rate:g} accesses a day: {_count(result.accesses)}",
        "way: which of the four signs must be low; *: no other strategy prunes more and misses less",
    ]
    if asked:
        notes.append(f"recall@10 of {result.questions} questions before any pruning: {result.recall_now:.3f}")
    columns = "best way relevance:score pruned missed kept edges" + (" recall" if asked else "")
    return sheet(title, columns, rows, notes)


@entry()
def evolution(result: Evolution) -> ResultTable:
    rows = [
        (
            round(at.day, 2),
            _count(at.blocks),
            _spread(at.relevance),
            _count(at.edges),
            _count(at.components),
            _count(at.accesses),
        )
        for at in result.checkpoints
    ]
    title = (
        f"{result.days:g} days at {result.rate:g} accesses a day, {result.draws} draws, seed {result.seed} "
        "(mean, 5 to 95 %)"
    )
    notes = [
        f"{plural(result.sure, 'block')} certainly above {result.threshold:g}, {result.lost:,} certainly below it",
        f"Of today's 20 most central blocks stay {_spread(result.top_stays)}",
        *(f"open: {each.title} ({each.block_id[:12]}) stays in {each.survives:.0%}" for each in result.open),
    ]
    return sheet(title, "day:score blocks relevance edges components accesses", rows, notes)


@entry()
def insertion(result: Insertion) -> ResultTable:
    rows = [
        (
            each.other_id,
            each.title,
            f"{each.relation} {'→' if each.outgoing else '←'}",
            each.holds,
            _spread(each.strength),
            each.reach,
            each.worth,
        )
        for each in result.links
    ]
    title = f"{result.title}: after {result.days:g} days, {result.draws} draws, seed {result.seed}"
    notes = [
        f"{'Already stored' if result.known else 'Would be added'} as {result.category}; "
        f"{_count(result.holding)} of its {len(rows)} links hold; it stands alone in {result.alone:.0%}",
        f"Centrality with all of them {_spread(result.centrality)}",
    ]
    return sheet(title, "id:id block* relation holds:score strength reach:n worth:score", rows, notes)


@entry()
def stability(result: Stability) -> ResultTable:
    rows = [
        (
            "today" if not each.days else f"{each.days:g} days × {each.pace:g}",
            _spread(each.rank),
            _spread(each.top_stays),
            _spread(each.edges),
            _count(each.components),
            _spread(each.largest),
        )
        for each in result.scenarios
    ]
    title = (
        f"Noise {result.noise:g}, {result.loss:.0%} of edges lost, {result.draws} draws, seed {result.seed} "
        "(mean, 5 to 95 %)"
    )
    notes = [f"{result.components_now:,} components today, without noise"]
    for each in result.least:
        told = ", ".join(f"{share:.0%}" for share in each.stays)
        notes.append(f"{each.title} ({each.block_id[:12]}) stays among the 20 most central in {told}")
    return sheet(title, "when rank_corr top_20 edges components largest", rows, notes)
