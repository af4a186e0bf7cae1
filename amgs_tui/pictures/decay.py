"""How a block fades and was refreshed, what falls under the threshold next, and how the whole memory ages."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from rich.text import Text

from amgs.decay import profile_name
from amgs.model import DecayCurve, Forecast
from amgs_tui.pictures.canvas import Canvas, Region, Sheet, clean, cut, ink, width_of
from amgs_tui.pictures.marks import Fact, bar, facts_line, histogram, scroll_note, window_of
from amgs_tui.pictures.notice import notice, notice_in
from amgs_tui.pictures.plot import Axes, Curve, Line, column_of, draw
from amgs_tui.pictures.words import count, day, half_life, plural, share, span

Series = tuple[Sequence[float], Sequence[float]]
"""Hours relative to now, and the relevance at each."""


def decay(
    canvas: Canvas,
    *,
    now: datetime,
    curve: DecayCurve | None = None,
    forecast: Forecast | None = None,
    categories: Mapping[str, Series] | None = None,
    selected: str | None = None,
    offset: int = 0,
) -> Text:
    """The chosen block's curve above, the forecast and the histogram below (beside it when wide).

    categories: mean curves by category. selected, offset: in the forecast's table.
    """
    if curve is None and forecast is None:
        return notice(
            canvas,
            "Nothing fades yet",
            ("consolidate", "decay curve ID", "decay forecast --days 30"),
            "A block's relevance halves at the pace of its profile; each use sets it back to 1.",
        )
    sheet = Sheet(canvas)
    if forecast is None:
        _curve(sheet, curve, categories or {}, now)
    elif curve is None and not categories:
        _forecast(sheet, forecast, selected, offset)
    elif sheet.width >= 116:
        left = sheet.width * 11 // 20
        _curve(sheet.part(0, 0, left), curve, categories or {}, now)
        _forecast(sheet.part(left + 2, 0), forecast, selected, offset)
    else:
        top = max(8, sheet.height * 11 // 20)
        _curve(sheet.part(0, 0, None, top), curve, categories or {}, now)
        _forecast(sheet.part(0, top), forecast, selected, offset)
    return sheet.render()


def forecast(
    result: Forecast | None, canvas: Canvas, *, selected: str | None = None, offset: int = 0
) -> Text:
    """What falls under the threshold within the days asked, soonest first, and the histogram now and then."""
    if result is None:
        return notice(
            canvas,
            "No forecast yet",
            ("decay forecast --days 30",),
            "It names what will be forgotten, and when.",
        )
    sheet = Sheet(canvas)
    _forecast(sheet, result, selected, offset)
    return sheet.render()


# --- the curve --------------------------------------------------------------------------------------------


def _curve(region: Region, curve: DecayCurve | None, categories: Mapping[str, Series], now: datetime) -> None:
    palette = region.palette
    muted, plain = ink(palette.muted), ink(palette.text)
    if curve is None or not curve.hours:
        if not categories:
            notice_in(region, "No block is selected", ("block find dome",), "Choose one to see its curve.")
            return
        facts_line(
            region, 0, [Fact(0, (("mean relevance by category", ink(palette.accent, bold=True)),))], x=1
        )
        _plot(region.part(0, 1), None, categories)
        return
    block = curve.block
    here = _at(curve, 0.0)
    profile = profile_name(block.decay_lambda)
    facts = [
        Fact(0, ((cut(clean(block.title), max(12, region.width * 2 // 5)), ink(palette.accent, bold=True)),)),
        Fact(1, (("now ", muted), (share(here), ink(palette.text, bold=True)))),
        Fact(
            3,
            ((profile, plain), ("" if profile == "pinned" else f" ½ {half_life(block.decay_lambda)}", muted)),
        ),
    ]
    if curve.falls_below_at is not None:
        left = span((curve.falls_below_at - now).total_seconds())
        when = f" {day(curve.falls_below_at)}"
        past = curve.falls_below_at <= now
        facts.insert(
            2,
            Fact(
                2,
                (
                    (
                        f"below {share(curve.threshold)}" + (when if past else f" in {left}"),
                        ink(palette.warn),
                    ),
                    ("" if past else when, muted),
                ),
            ),
        )
    facts.append(Fact(4, ((plural(len(curve.reinforced_hours), "reinforcement"), muted),)))
    facts_line(region, 0, facts, x=1)
    _plot(region.part(0, 1), curve, categories)


def _at(curve: DecayCurve, hour: float) -> float:
    """Relevance at an hour, straight between the two nearest samples."""
    place = bisect.bisect_left(curve.hours, hour)
    if place == 0:
        return curve.relevance[0]
    if place >= len(curve.hours):
        return curve.relevance[-1]
    (x0, x1), (y0, y1) = curve.hours[place - 1 : place + 1], curve.relevance[place - 1 : place + 1]
    return y0 + (y1 - y0) * (hour - x0) / (x1 - x0) if x1 > x0 else y1


def _plot(region: Region, curve: DecayCurve | None, categories: Mapping[str, Series]) -> None:
    palette = region.palette
    spread = [series[0] for series in categories.values() if series[0]] + ([curve.hours] if curve else [])
    low, high = min(min(hours) for hours in spread), max(max(hours) for hours in spread)
    axes = Axes(
        (low, max(high, low + 1)),
        (0.0, 1.0),
        _hour_ticks(low, high, region.width),
        _relevance_ticks(region.height),
    )
    colours = (
        palette.part_centrality,
        palette.good,
        palette.part_reinforcement,
        palette.relation("next"),
        palette.muted,
    )
    names = sorted(categories)
    curves = [
        Curve(*categories[name], palette.fade(colours[at % len(colours)], 0.6), letter="abcdefgh"[at % 8])
        for at, name in enumerate(names)
    ]
    lines = [Line("upright", 0.0, palette.faint)] if low < 0 < high else []
    if curve is not None:
        lines.append(Line("level", curve.threshold, palette.warn))
        split = bisect.bisect_right(curve.hours, 0.0)
        curves.append(Curve(curve.hours[:split], curve.relevance[:split], palette.accent, "*"))
        ahead = slice(max(0, split - 1), None, 2)
        curves.append(Curve(curve.hours[ahead], curve.relevance[ahead], palette.heat_high, "+", dotted=True))
    draw(region, [one for one in curves if len(one.xs)], lines, axes)
    bottom = region.height - 2
    if curve is not None and bottom > 3:
        for hour in curve.reinforced_hours:
            if low <= hour <= high:
                region.put(column_of(region, axes, hour), bottom, "▲", ink(palette.good, bold=True))
    _plot_legend(
        region,
        curve,
        [(name, colours[at % len(colours)], "abcdefgh"[at % 8]) for at, name in enumerate(names)],
    )


def _plot_legend(region: Region, curve: DecayCurve | None, names: Sequence[tuple[str, str, str]]) -> None:
    """In the free upper right corner: what each line is."""
    palette = region.palette
    ascii_only = region.symbols == "ascii"
    rows: list[tuple[str, str, str]] = []
    if curve is not None:
        rows = [
            ("*" if ascii_only else "━", "so far", palette.accent),
            ("+" if ascii_only else "┄", "to come", palette.heat_high),
        ]
        if curve.reinforced_hours:
            rows.append(("▲", "reinforced", palette.good))
        rows.append(("─", f"threshold {share(curve.threshold)}", palette.warn))
    rows += [(letter if ascii_only else "━", clean(name), colour) for name, colour, letter in names]
    wide = max((width_of(text) for _, text, _ in rows), default=0) + 4
    if region.height < 10 or region.width < 3 * wide:
        return
    for row, (sign, text, colour) in enumerate(rows[: region.height // 2]):
        x = region.width - wide
        region.put(x, row, " " * wide)
        region.put(x + 1, row, sign, ink(colour, bold=True))
        region.put(x + 3, row, text, ink(palette.muted))


def _hour_ticks(low: float, high: float, width: int) -> list[tuple[float, str]]:
    """Whole days (or hours, weeks, months) around now, as many as can be read."""
    reach = max(high - low, 1.0)
    steps = (1, 3, 6, 12, 24, 48, 120, 240, 360, 730, 1461, 2922, 8766, 17532, 87660)
    step = next((size for size in steps if reach / size <= max(2, width // 11)), steps[-1])
    first = math.ceil(low / step)
    ticks = []
    for place in range(first, int(high // step) + 1):
        hour = place * step
        label = "now" if hour == 0 else ("+" if hour > 0 else "") + span(hour * 3600)
        ticks.append((float(hour), label))
    return ticks


def _relevance_ticks(height: int) -> list[tuple[float, str]]:
    parts = 4 if height >= 11 else 2
    return [(place / parts, f"{place / parts:.2f}") for place in range(parts + 1)]


# --- the forecast -----------------------------------------------------------------------------------------


def _forecast(region: Region, result: Forecast, selected: str | None, offset: int) -> None:
    palette = region.palette
    muted, plain = ink(palette.muted), ink(palette.text)
    until = result.as_of + timedelta(days=result.days)
    facts_line(
        region,
        0,
        [
            Fact(
                0,
                (
                    (
                        plural(len(result.rows), "block"),
                        ink(palette.warn if result.rows else palette.good, bold=True),
                    ),
                    (
                        f" will fall below {share(result.threshold)}" if region.width >= 70 else " will fall",
                        plain,
                    ),
                ),
            ),
            Fact(1, ((f"in {result.days:g} d", plain),)),
            Fact(3, ((f"until {day(until)}", muted),)),
            Fact(2, ((f"{count(result.already_below)} below already", muted),)),
        ],
        x=1,
    )
    rows = region.height - 1
    bins = len(result.histogram_now)
    graph = 0
    if bins and rows >= 7:
        graph = min(20, max(rows - len(result.rows) - 1, rows // 4, 3), max(3, rows * 2 // 3))
    table = min(rows - graph, max(len(result.rows) + 1, 3))
    if result.rows:
        _falling(region.part(0, 1, None, table), result, selected, offset)
    elif rows - graph >= 2:
        region.put(1, 2, "Nothing is forgotten in that time.", muted)
    if graph:
        _histograms(region.part(0, 1 + table, None, graph), result)


def _falling(region: Region, result: Forecast, selected: str | None, offset: int) -> None:
    palette = region.palette
    muted, head = ink(palette.muted), ink(palette.faint)
    place = next((at for at, row in enumerate(result.rows) if row.block.id == selected), None)
    first = window_of(len(result.rows), region.height - 1, place, offset)
    shown = result.rows[first : first + region.height - 1]
    bar_w = min(20, region.width // 8) if region.width >= 58 else 0
    tail = bar_w + 13 if bar_w else 11
    title_w = region.width - 19 - tail
    category_w = (
        max((width_of(clean(row.block.category)) for row in shown), default=0) if title_w >= 40 else 0
    )
    region.put(1, 0, "falls", head)
    region.put(13, 0, "in", head, width=4, align="right")
    region.put(19, 0, "block", head)
    note = scroll_note(first, len(shown), len(result.rows))
    region.put(26, 0, note, head)
    region.put(region.width - tail, 0, "now → then", head)
    for at, row in enumerate(shown, start=1):
        chosen = row.block.id == selected
        left = (row.falls_at - result.as_of).total_seconds()
        near = left < 3 * 86400
        region.put(0, at, "▸" if chosen else " ", ink(palette.accent, bold=True))
        region.put(1, at, day(row.falls_at), ink(palette.warn) if near else muted)
        region.put(12, at, span(left), ink(palette.warn if near else palette.text), width=5, align="right")
        region.put(
            19, at, clean(row.block.title), ink(palette.text, bold=chosen), width=title_w - category_w - 2
        )
        if category_w:
            region.put(19 + title_w - category_w - 1, at, clean(row.block.category), muted, width=category_w)
        x = (
            region.put(
                region.width - tail, at, f"{share(row.relevance_now)} → {share(row.relevance_then)}", muted
            )
            + 2
        )
        region.fill(x, at, bar_w, "·", head)
        region.put(x, at, bar(row.relevance_now, bar_w, region.symbols), ink(palette.heat_high))
        if chosen:
            region.shade(at, palette.selection)


def _histograms(region: Region, result: Forecast) -> None:
    """All blocks by relevance, now and at the end of the forecast, on one scale."""
    palette = region.palette
    beside = region.width >= 44 and region.height >= 4
    top = max((*result.histogram_now, *result.histogram_then, 1))
    region.rule(0, "blocks by relevance", f"tallest {count(top)}")
    told = (
        ("now", result.histogram_now, palette.accent),
        (f"in {result.days:g} d", result.histogram_then, palette.heat_high),
    )
    for at, (name, counts, colour) in enumerate(told):
        if beside:
            half = region.width // 2
            _histogram(region.part(at * half, 1, half - 1), name, counts, top, colour)
        elif at + 1 < region.height:
            x = region.put(1, at + 1, name, ink(palette.muted), width=8)
            region.put(x, at + 1, "".join(_levels(counts, top)), ink(colour))


def _levels(counts: Sequence[int], top: int) -> list[str]:
    return list(histogram([*counts, top], 1)[0][:-1])


def _histogram(region: Region, name: str, counts: Sequence[int], top: int, colour: str) -> None:
    palette = region.palette
    rows = region.height - 1
    wide = max(1, (region.width - 2) // max(1, len(counts)))
    lines = histogram([*counts, top], rows)
    for row, line in enumerate(lines):
        for place, sign in enumerate(line[:-1]):
            region.fill(1 + place * wide, row, max(1, wide - (1 if wide > 2 else 0)), sign, ink(colour))
    for place, number in enumerate(counts if wide > len(str(top)) else ()):
        told = str(number)
        height = next((row for row, line in enumerate(lines) if line[place] != " "), rows)
        if number and height > 0:
            region.put(1 + place * wide, height - 1, told, ink(palette.muted), width=wide - 1, align="centre")
    left, right = "0", "1"
    region.put(1, rows, left, ink(palette.faint))
    region.put(wide * len(counts) - 1, rows, right, ink(palette.faint))
    region.put(3, rows, name, ink(colour, bold=True), width=max(0, wide * len(counts) - 5), align="centre")
