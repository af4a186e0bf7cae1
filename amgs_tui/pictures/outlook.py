"""The memory as it will look: what falls under the threshold on the way, each category now and then, and how all of
it is spread over relevance.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from amgs.decay import profile_name
from amgs.model import CategoryOutlook, Forecast, ForecastRow
from amgs_tui.pictures.canvas import Piece, Region, clean, ink, width_of
from amgs_tui.pictures.marks import Fact, bar, facts_line, histogram, scroll_note, window_of
from amgs_tui.pictures.words import count, day, half_life, plural, share, span

_CATEGORIES = 12
"""Categories that are listed at most."""


def outlook(
    region: Region,
    result: Forecast,
    selected: str | None = None,
    offset: int = 0,
    shown: Sequence[int] | None = None,
) -> None:
    """The forecast: its facts, the falling blocks, the categories, the histograms, as far as there is room.

    shown: places of the rows that are listed, in their order; None for all.
    """
    rows = result.rows if shown is None else [result.rows[place] for place in shown]
    _facts(region, result)
    top = 1
    if result.supposed is not None:
        _supposed(region, result)
        top = 2
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
    if rows:
        _falling(region.part(0, top, None, table), result, rows, selected, offset)
    elif free >= 2:
        words = "No row passes the filter." if result.rows else "Nothing is forgotten in that time."
        region.put(1, top + 1, words, ink(region.palette.muted))
    if kinds:
        _categories(region.part(0, top + table, None, kinds), result)
    if graph:
        _histograms(region.part(0, region.height - graph, None, graph), result)


def _facts(region: Region, result: Forecast) -> None:
    palette = region.palette
    muted, plain = ink(palette.muted), ink(palette.text)
    falling = max(result.falling, len(result.rows))
    until = result.as_of + timedelta(days=result.days)
    alive = sum(each.alive_then for each in result.categories)
    many = ink(palette.warn if falling else palette.good, bold=True)
    below = f" will fall below {share(result.threshold)}" if region.width >= 70 else " will fall"
    facts = [
        Fact(0, ((plural(falling, "block"), many), (below, plain))),
        Fact(1, ((f"in {result.days:g} d", plain),)),
        Fact(4, ((f"until {day(until)}", muted),)),
        Fact(3, ((f"{count(result.already_below)} below already", muted),)),
    ]
    if result.categories:
        facts.insert(2, Fact(2, ((count(alive), plain), (" still over it", muted))))
    facts_line(region, 0, facts, x=1)


def _supposed(region: Region, result: Forecast) -> None:
    """What is supposed, and what it changes."""
    palette, supposed = region.palette, result.supposed
    if supposed is None:
        return
    profile = profile_name(supposed.decay_lambda)
    pace = profile if profile == "pinned" else f"{profile} ½ {half_life(supposed.decay_lambda)}"
    whom = (
        "this block" if supposed.block_id else clean(supposed.category) if supposed.category else "everything"
    )
    same = result.without == result.falling
    told = f"{count(result.falling)} fall, " + ("as it is" if same else f"not {count(result.without)}")
    pieces: list[Piece] = [
        ("what if  ", ink(palette.muted)),
        (f"{whom} were {pace}", ink(palette.good, bold=True)),
        (f": {told}", ink(palette.muted)),
    ]
    region.pieces(1, 1, pieces, width=region.width - 2)


def _categories(region: Region, result: Forecast) -> None:
    """Each category: how many of its blocks are over the threshold now and then, drawn on the whole of it."""
    palette = region.palette
    listed = result.categories[: region.height - 1]
    muted, head = ink(palette.muted), ink(palette.faint)
    more = len(result.categories) - len(listed)
    region.rule(0, f"over {share(result.threshold)} by category", f"{more} more" if more else "")
    name_w = min(14, max((width_of(clean(each.category)) for each in listed), default=0))
    numbers = max((len(count(each.alive_now)) for each in listed), default=1)
    lost_w = max((len(count(each.alive_now - each.alive_then)) for each in listed), default=1) + 1
    for row, each in enumerate(listed, start=1):
        x = region.put(1, row, clean(each.category), ink(palette.text), width=name_w) + 1
        x = region.put(x, row, count(each.alive_now), muted, width=numbers, align="right")
        x = region.put(x, row, " → ", head)
        x = region.put(
            x, row, count(each.alive_then), ink(palette.text, bold=True), width=numbers, align="right"
        )
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


def _falling(
    region: Region, result: Forecast, rows: Sequence[ForecastRow], selected: str | None, offset: int
) -> None:
    palette = region.palette
    muted, head = ink(palette.muted), ink(palette.faint)
    place = next((at for at, row in enumerate(rows) if row.block.id == selected), None)
    first = window_of(len(rows), region.height - 1, place, offset)
    shown = rows[first : first + region.height - 1]
    bar_w = min(20, region.width // 8) if region.width >= 58 else 0
    tail = bar_w + 14 if bar_w else 12
    title_w = region.width - 19 - tail
    category_w = (
        max((width_of(clean(row.block.category)) for row in shown), default=0) if title_w >= 40 else 0
    )
    region.put(1, 0, "falls", head)
    region.put(13, 0, "in", head, width=4, align="right")
    region.put(19, 0, "block", head)
    note = scroll_note(first, len(shown), len(rows))
    if len(rows) < len(result.rows) or len(result.rows) < result.falling:
        note = f"{note or len(rows)} listed"
    region.put(26, 0, note, head)
    region.put(region.width - tail + 1, 0, "now → then", head)
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
                region.width - tail,
                at,
                f"{share(row.relevance_now):>4} → {share(row.relevance_then):>4}",
                muted,
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
