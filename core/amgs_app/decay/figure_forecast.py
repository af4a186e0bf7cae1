"""The memory as it will look: what drops below the threshold on the way, each category now and then, and how all of
it is spread over relevance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

from amgs.clock import earlier
from amgs.decay import profile_name
from amgs.text.plural import plural
from amgs.types import CategoryOutlook, Forecast, ForecastRow
from amgs_app.render.canvas import Piece, Region, clean, ink, width_of
from amgs_app.render.format import count, day, days_told, half_life, share, short_count, span
from amgs_app.render.glyphs import HeaderPart, ListPage, bar, facts_line, gauge, histogram

_CATEGORIES = 12
"""Categories that are listed at most."""


def outlook(region: Region, result: Forecast, selected: str | None = None, shown: Sequence[int] | None = None) -> None:
    """The forecast: its facts, the blocks that drop below the threshold, the categories, the histograms, as far as
    there is room.

    shown: places of the rows that are listed, in their order; None for all.
    """
    rows = result.rows if shown is None else [result.rows[place] for place in shown]
    _facts(region, result)
    top = 1
    if region.height >= 8:
        _meaning(region.part(0, 1, None, 1), result)
        top = 2
    if result.supposed is not None:
        _supposed(region.part(0, top, None, 1), result)
        top += 1
    free = region.height - top
    kinds = min(len(result.categories), _CATEGORIES) + 1 if result.categories else 0
    table = min(free, max(3, len(rows) + 1))
    kinds = min(kinds, max(0, free - min(table, 6)), max(0, free // 2)) if free >= 9 else 0
    kinds = kinds if kinds >= 3 else 0
    table = min(table, free - kinds)
    graph = free - kinds - table
    if graph < 4 and table >= 12 and free >= 26:
        table, graph = table - (5 - graph), 5
    graph = min(graph, 20) if graph >= 3 else 0
    if rows and table >= 2:
        _falling(region.part(0, top, None, table), result, rows, selected)
    elif not rows and free >= 2:
        words = "No row matches the filter." if result.rows else "No block drops below it in this time."
        region.put(1, top + 1, words, ink(region.palette.muted))
    if kinds:
        _categories(region.part(0, top + table, None, kinds), result)
    if graph:
        _histograms(region.part(0, region.height - graph, None, graph), result)


def _facts(region: Region, result: Forecast) -> None:
    """How many blocks drop below the threshold, by when, and how many stay above it."""
    palette = region.palette
    strong, plain = ink(palette.text, bold=True), ink(palette.text)
    falling = max(result.falling, len(result.rows))
    drop = "drops" if falling == 1 else "drop"
    facts = [
        HeaderPart(0, ((plural(falling, "block"), strong), (f" {drop} below {result.threshold:g}", plain))),
        HeaderPart(1, ((f" {'within' if region.width >= 60 else 'in'} {days_told(result.days)}", plain),)),
    ]
    if result.categories:
        above = sum(each.alive_then for each in result.categories)
        stay = "stays" if above == 1 else "stay"
        facts.append(HeaderPart(2, (("; ", plain), (count(above), strong), (f" {stay} above", plain))))
    facts_line(region, 0, facts, gap=0, x=1)


def _meaning(region: Region, result: Forecast) -> None:
    """What it means to be below the threshold: less weight, no loss."""
    muted = ink(region.palette.muted)
    facts = [
        HeaderPart(0, (("nothing is removed before prune", muted),)),
        HeaderPart(1, ((f"{count(result.already_below)} already below", muted),)),
        HeaderPart(2, ((f"until {day(earlier(result.as_of, -timedelta(days=result.days)))}", muted),)),
    ]
    facts_line(region, 0, facts, gap=3, x=1)


def _supposed(region: Region, result: Forecast) -> None:
    """What is supposed, and what it changes."""
    palette, supposed = region.palette, result.supposed
    if supposed is None:
        return
    profile = profile_name(supposed.decay_lambda)
    pace = profile if profile == "pinned" else f"{profile} ½ {half_life(supposed.decay_lambda)}"
    whom = "this block" if supposed.block_id else clean(supposed.category) if supposed.category else "everything"
    same = result.without == result.falling
    drop = "drops" if result.falling == 1 else "drop"
    told = f"{count(result.falling)} {drop}, " + ("as now" if same else f"not {count(result.without)}")
    pieces: list[Piece] = [
        ("what if  ", ink(palette.muted)),
        (f"{whom} were {pace}", ink(palette.good, bold=True)),
        (f": {told}", ink(palette.muted)),
    ]
    region.pieces(1, 0, pieces, width=region.width - 2)


def _categories(region: Region, result: Forecast) -> None:
    """Each category: how many of its blocks are over the threshold now and then, drawn on the whole of it."""
    palette = region.palette
    listed = result.categories[: region.height - 1]
    muted = ink(palette.muted)
    more = len(result.categories) - len(listed)
    region.rule(0, f"above {result.threshold:g}, by category", f"{more} more" if more else "")
    name_w = min(14, max((width_of(clean(each.category)) for each in listed), default=0))
    numbers = max((len(count(each.alive_now)) for each in listed), default=1)
    lost_w = max((len(count(each.alive_now - each.alive_then)) for each in listed), default=1) + 1
    for row, each in enumerate(listed, start=1):
        x = region.put(1, row, clean(each.category), ink(palette.text), width=name_w) + 1
        x = region.put(x, row, count(each.alive_now), muted, width=numbers, align="right")
        x = region.put(x, row, " → ", muted)
        x = region.put(x, row, count(each.alive_then), ink(palette.text, bold=True), width=numbers, align="right")
        lost = each.alive_now - each.alive_then
        told = f"−{count(lost)}" if lost > 0 else f"+{count(-lost)}" if lost else ""
        x = region.put(x + 1, row, told, ink(palette.warn), width=lost_w, align="right") + 2
        tail = f"mean {share(each.mean_now)} → {share(each.mean_then)}"
        wide = region.width - x - (width_of(tail) + 2 if region.width >= 64 else 1)
        _kept(region, x, row, wide, each)
        if region.width >= 64:
            region.put(region.width - width_of(tail) - 1, row, tail, muted)


def _kept(region: Region, x: int, row: int, wide: int, each: CategoryOutlook) -> None:
    """A bar of the whole category: what stays over the threshold, what falls, and what is under it."""
    if wide < 4 or not each.blocks:
        return
    palette = region.palette
    then, now = (round(n / each.blocks * wide) for n in (each.alive_then, each.alive_now))
    region.fill(x, row, wide, "·", ink(palette.faint))
    region.put(x, row, bar(each.alive_then / each.blocks, wide, region.symbols), ink(palette.accent))
    if now > then:
        region.fill(x + then, row, now - then, "░", ink(palette.warn))


def _falling(region: Region, result: Forecast, rows: Sequence[ForecastRow], selected: str | None) -> None:
    """The blocks that drop below the threshold, with what they were good for."""
    palette = region.palette
    muted = ink(palette.muted)
    place = next((at for at, row in enumerate(rows) if row.block.id == selected), None)
    unused = _unused_from(rows)
    page = ListPage.around(rows, region.height - 1 - bool(unused), place)
    bar_w = min(20, region.width // 8) if region.width >= 76 else 0
    date_w = 11 if region.width >= 84 else 0
    title_x = 1 + date_w + 6 + 2
    end = region.width - (bar_w + 2 if bar_w else 1)
    values_x, links_x, uses_x = end - 12, end - 19, end - 25
    title_w = uses_x - title_x - 1
    category_w = max((width_of(clean(row.block.category)) for row in page.rows), default=0) if title_w >= 36 else 0
    note = page.note
    if len(rows) < len(result.rows) or len(result.rows) < result.falling:
        note = f"{note or len(rows)} listed"
    if date_w:
        region.put(1, 0, "on", muted)
    region.put(1 + date_w, 0, "in", muted, width=6, align="right")
    region.put(region.put(title_x, 0, "block", muted) + 2, 0, note, muted, width=max(0, title_w - 7))
    for x, wide, name in ((uses_x, 5, "uses"), (links_x, 6, "links"), (values_x, 12, "now → then")):
        region.put(x, 0, name, muted, width=wide, align="right")

    def paint(line: Region, row: ForecastRow, chosen: bool) -> None:
        left = (row.falls_at - result.as_of).total_seconds()
        if date_w:
            line.put(1, 0, day(row.falls_at), muted)
        line.put(1 + date_w, 0, span(left), ink(palette.text), width=6, align="right")
        title = ink(palette.text, bold=chosen or row.useful > 0)
        line.put(title_x, 0, clean(row.block.title), title, width=title_w - category_w - bool(category_w))
        if category_w:
            line.put(title_x + title_w - category_w, 0, clean(row.block.category), muted, width=category_w)
        uses = f"{short_count(row.uses)}{'✓' if row.useful else ''}" if row.uses else "·"
        line.put(uses_x, 0, uses, ink(palette.good) if row.useful else muted, width=5, align="right")
        line.put(links_x, 0, short_count(row.links) if row.links else "·", muted, width=6, align="right")
        told = f"{share(row.relevance_now):>4} → {share(row.relevance_then):>4}"
        line.put(values_x, 0, told, muted, width=12, align="right")
        if bar_w:
            gauge(line, end + 1, 0, bar_w, row.relevance_now, ink(palette.heat_high))

    above = max(0, min(unused - page.first, len(page.rows))) if unused else len(page.rows)
    used, rest = page.parted(above)
    used.draw(region.part(0, 1), paint)
    if unused and rest.rows:
        if page.first <= unused:
            region.rule(1 + above, "never used")
            above += 1
        rest.draw(region.part(0, 1 + above), paint)


def _unused_from(rows: Sequence[ForecastRow]) -> int:
    """The place from which on the rows are of blocks that were never used, where used ones stand before them; 0 where
    the rows do not fall into these two groups.
    """
    first = next((place for place, row in enumerate(rows) if not row.uses), 0)
    return 0 if any(row.uses for row in rows[first:]) else first


def _histograms(region: Region, result: Forecast) -> None:
    """All blocks by relevance, now and at the end of the forecast, on one logarithmic scale: most blocks of an old
    memory lie near 0, and the others would not be seen beside them.
    """
    palette = region.palette
    beside = region.width >= 44 and region.height >= 4
    top = max((*result.histogram_now, *result.histogram_then, 1))
    region.rule(0, "blocks by relevance", "log scale")
    told = (
        ("now", result.histogram_now, palette.accent),
        (f"in {days_told(result.days)}", result.histogram_then, palette.heat_high),
    )
    for at, (name, counts, colour) in enumerate(told):
        if beside:
            half = region.width // 2
            _histogram(region.part(at * half, 1, half - 1), name, counts, top, colour)
        elif at + 1 < region.height:
            x = region.put(1, at + 1, name, ink(palette.muted), width=11)
            region.put(x, at + 1, _columns(counts, top, 1)[0], ink(colour))


def _columns(counts: Sequence[int], top: int, rows: int) -> list[str]:
    """Columns as high as the logarithm of their count; `top` would fill them."""
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
