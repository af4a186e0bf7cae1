"""Figure of the calibration: forecasts against outcomes, the Brier score and its components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from amgs.text.words import plural
from amgs.types import ForecastCase, Reliability, ReliabilityBin
from amgs_app.render.canvas import Canvas, Figure, Region, clean, ink, width_of
from amgs_app.render.format import count, day, optional, share
from amgs_app.render.glyphs import LEVELS, HeaderPart, dot_for, facts_line, notice_in, sparkline
from amgs_app.render.plot import Strokes

if TYPE_CHECKING:
    from amgs_app.render.rows import RowList

TARGET = 0.15
"""Mean Brier score required by the specification (AMGS, success metrics)."""


ENOUGH = 20
"""Verdicts from which diagram and Brier score are meaningful; with fewer, open forecasts are shown first."""


def calibration(
    result: Reliability | None,
    canvas: Canvas,
    listed: RowList[ForecastCase] | None = None,
    cursor: int | None = None,
    *,
    chosen: int | None = None,
    of: str = "",
    every: int | None = None,
    queue: bool | None = None,
) -> Figure:
    """Return the reliability diagram, the components of the Brier score over time, and the forecasts; with few verdicts
    the queue of open forecasts.

    listed: forecasts of the chosen bin, else the latest. cursor: position in them. chosen: a bin, from 0. of: name of
    the group shown. every: number of forecasts if a filter hides some. queue: show only the list; None: if there are
    too few verdicts.
    """
    sheet, cases = Figure(canvas), listed.items if listed is not None else ()
    if result is None or (result.outcomes == 0 and not cases and every is None):
        notice_in(
            sheet,
            f"No forecast of {of} yet" if of else "No forecast yet",
            ("2  ask a question: each block in the frame is a forecast",),
            "Each block in a frame is a forecast: its score is the probability that it will prove useful. "
            "Your verdict, u useful or x useless, is the outcome.",
        )
        return sheet
    _head(sheet, result, of)
    body = sheet.part(0, 1)
    below = replace(listed, title=_title(result, cases, chosen, every)) if listed is not None else None
    if is_queue(result, chosen, queue):
        if below is not None:
            below.draw_under(body.part(0, _hint(body, result)), cursor)
        return sheet
    bins = result.bins
    if body.height >= SENTENCE_FROM and (words := what_came_true(bins)):
        body.put(1, 0, words, ink(sheet.palette.text), width=body.width - 2)
        body = body.part(0, 1)
    if body.width >= 74 and body.height >= 9:
        left = min(body.width * 11 // 20, body.height * 3 + 8)
        draw_diagram(body.part(0, 0, left), bins, chosen)
        side = body.part(left + 2, 0)
    else:
        top = body.height if body.height < 14 else max(9, body.height * 3 // 5)
        draw_diagram(body.part(0, 0, None, top), bins, chosen)
        side = body.part(0, top)
    if side.height >= 3:
        y = _components(side, result) if side.height >= (10 if chosen is None else 14) else 0
        if below is not None:
            below.draw_under(side.part(0, y), cursor)
    return sheet


def is_queue(result: Reliability, chosen: int | None, queue: bool | None) -> bool:
    """Return whether only the list of forecasts is shown."""
    few = result.outcomes < ENOUGH and chosen is None
    return result.outcomes == 0 or (few if queue is None else queue)


SENTENCE_FROM = 13
"""Least height in lines for a sentence above the diagram."""
_CLOSE = 0.02
"""A mean that is off by at most this counts as right."""


def what_came_true(bins: Sequence[ReliabilityBin]) -> str:
    """Describe the diagram in a sentence; "" without verdicts."""
    judged = sum(bucket.count for bucket in bins)
    if not judged:
        return ""
    mean_forecast = sum(bucket.count * bucket.mean_predicted for bucket in bins) / judged
    came = sum(bucket.count * bucket.rate for bucket in bins) / judged
    off = mean_forecast - came
    judgement = "right on average" if abs(off) <= _CLOSE else "too sure" if off > 0 else "too careful"
    return f"The forecasts said {share(mean_forecast)} on average, and {share(came)} came true: {judgement}."


def _hint(region: Region, result: Reliability) -> int:
    """Draw what to do with the queue; return the number of lines."""
    if result.outcomes >= ENOUGH or region.height < 8:
        return 0
    wanted = plural(ENOUGH - result.outcomes, "more verdict")
    words = f"Useful for its question?  u yes · x no · p reads it · {wanted} for the diagram"
    region.put(1, 0, words, ink(region.palette.muted), width=region.width - 2)
    return 1


def _title(result: Reliability, cases: Sequence[ForecastCase], chosen: int | None, every: int | None) -> str:
    """Return the title of the list of forecasts."""
    waiting = sum(case.outcome.actual is None for case in cases)
    shown = f"{count(len(cases))} of {count(every)} " if every is not None else ""
    if chosen is not None and chosen < len(result.bins):
        bucket = result.bins[chosen]
        return f"{shown}forecast {share(bucket.low)} to {share(bucket.high)}: {share(bucket.rate)} came true"
    return f"{shown}latest forecasts" + (f", {waiting} open" if waiting else "")


def _head(sheet: Figure, result: Reliability, of: str) -> None:
    palette = sheet.palette
    muted, plain = ink(palette.muted), ink(palette.text)
    brier = result.brier
    fine = brier is not None and brier < TARGET
    if result.outcomes < ENOUGH:
        colour, note = palette.text, f"from {plural(result.outcomes, 'verdict')} ({ENOUGH} needed)"
    else:
        colour = palette.good if fine else palette.warn
        note = f"{'below' if fine else 'above'} the goal of {share(TARGET)}"
    score = (("Brier ", muted), (optional(brier, 3), ink(colour, bold=True)))
    facts_line(
        sheet,
        0,
        [
            HeaderPart(0, score if brier is not None else (("no verdict yet", plain),)),
            *([HeaderPart(2, ((note, muted),))] if brier is not None else []),
            *([HeaderPart(0, ((f"only {clean(of)}", ink(palette.accent, bold=True)),))] if of else []),
            HeaderPart(
                1, ((count(result.outcomes), plain), (f" of {plural(result.forecasts, 'forecast')} judged", muted))
            ),
        ],
        x=1,
    )


# --- the diagram ------------------------------------------------------------------------------------------


def draw_diagram(region: Region, bins: Sequence[ReliabilityBin], chosen: int | None = None) -> None:
    """Draw forecasts to the right and observed rates upwards; on the dotted diagonal a forecast of .7 comes true 7
    times in 10.

    chosen: bin whose count is marked.
    """
    palette = region.palette
    faint, muted = ink(palette.faint), ink(palette.muted)
    filled = [bucket for bucket in bins if bucket.count]
    if region.width < 24 or region.height < 6:
        return
    counts = 2 if region.height >= 11 else 1
    plot = region.part(5, 0, region.width - 6, region.height - 2 - counts)
    wide, high = plot.width - 1, plot.height - 1
    for part in range(5 if plot.height >= 9 else 3):
        value = part / (4 if plot.height >= 9 else 2)
        y = round((1 - value) * high)
        region.put(0, y, share(value), muted, width=4, align="right")
        region.put(4, y, "┤", faint)
        x = round(value * wide)
        region.put(5 + x - (3 if value == 1 else 1 if x else 0), plot.height + 1, share(value) if value else "0", muted)
    for row in range(plot.height):
        if region.sheet.signs[region.y + row][region.x + 4] == " ":
            region.put(4, row, "│", faint)
    region.put(4, plot.height, "└", faint)
    region.fill(5, plot.height, plot.width, "─", faint)
    strokes = Strokes(plot)
    strokes.line(0.2, plot.height - 0.3, plot.width - 0.3, 0.2, faint, gap=3)
    strokes.draw()
    plot.put(1, 0, "observed", muted)
    label = "forecast"
    region.put(5 + plot.width // 4 - 1, plot.height + 1, "", faint)
    most = max((bucket.count for bucket in filled), default=1)
    for bucket in filled:
        x = min(wide, round(bucket.mean_predicted * wide))
        low, top = (round((1 - value) * high) for value in (bucket.rate_low, bucket.rate_high))
        sure = bucket.rate_low <= bucket.mean_predicted <= bucket.rate_high
        above = bucket.rate > bucket.mean_predicted
        colour = palette.good if sure else palette.heat_high if above else palette.heat_low
        for y in range(top, low + 1):
            plot.put(x, y, "│", ink(palette.fade(colour, 0.5)))
        sign = (dot_for(bucket.count, most) if sure else "▲" if above else "▼") or "·"
        plot.put(x, round((1 - bucket.rate) * high), sign, ink(colour, bold=True))
        y = plot.height + 2
        marked = chosen is not None and bucket is bins[chosen]
        count_label = f"▸{bucket.count}" if marked else str(bucket.count)
        paint = ink(palette.on(palette.accent), on=palette.accent, bold=True) if marked else ink(palette.text)
        start = x - len(str(bucket.count)) // 2 - marked
        region.put(5 + max(0, min(start, plot.width - len(count_label))), y, count_label, paint)
        if counts == 2:
            level = LEVELS[min(7, int(bucket.count / most * 7.99))]
            region.put(5 + x - (1 if x else 0), y + 1, level * (3 if 0 < x < wide else 2), ink(palette.accent))
    region.put(0, plot.height + 2, "n", muted, width=4, align="right")
    if plot.width >= 40:
        plot.put(plot.width - len(label), high, label, muted)


# --- beside it --------------------------------------------------------------------------------------------


def _components(region: Region, result: Reliability) -> int:
    """Draw the Murphy decomposition as a sum, each component over time; return the number of lines."""
    palette = region.palette
    muted, plain = ink(palette.muted), ink(palette.text, bold=True)
    course = result.course
    since = f"since {day(course[0].at)}" if len(course) > 1 and region.width >= 50 else ""
    region.rule(0, "its parts over time" if len(course) > 1 else "what it is made of", since)
    rows: tuple[tuple[str, str, float | None, str, str], ...] = (
        ("+ reliability", "reliability", result.reliability, "distance from the diagonal", palette.warn),
        ("− resolution", "resolution", result.resolution, "how well forecasts discriminate", palette.good),
        ("+ uncertainty", "uncertainty", result.uncertainty, "irreducible", palette.muted),
        ("+ within bins", "within_bin", result.within_bin, "binning error", palette.muted),
        ("= Brier", "brier", result.brier, "0 is perfect; always saying .5 gives .25", palette.accent),
    )
    top = max((abs(value) for _, _, value, _, _ in rows if value is not None), default=1.0) or 1.0
    for row, (name, field, value, meaning, colour) in enumerate(rows, start=1):
        region.put(1, row, name, ink(palette.text) if row == 5 else muted)
        x = region.put(15, row, optional(value, 3), plain, width=6, align="right") + 1
        cells = min(8, region.width - x - 1)
        length = round(abs(value or 0.0) / top * cells)
        region.put(x, row, ("-" if region.symbols == "ascii" else "▬") * length, ink(colour))
        x += cells + 1
        if len(course) > 1 and region.width - x >= 12:
            x = _trend(region, x, row, [getattr(point, field) for point in course], colour)
        if region.width - x - 1 >= len(meaning):
            region.put(x + 1, row, meaning, ink(palette.muted))
    return 6


def _trend(region: Region, x: int, y: int, values: Sequence[float], colour: str) -> int:
    """Draw a line over time with its minimum and maximum; return the x after it."""
    low, high = min(values), max(values)
    bounds = f" {share(low, 3)}–{share(high, 3)}"
    room = min(24, region.width - x - width_of(bounds) - 1)
    shown = [values[round(at * (len(values) - 1) / max(1, room - 1))] for at in range(min(room, len(values)))]
    x = region.put(x, y, sparkline(shown, len(shown)), ink(colour))
    return region.put(x, y, bounds, ink(region.palette.muted))
