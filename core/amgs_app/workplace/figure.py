"""Draw the overview: the eight stations from inbox to feedback, the next step, health, and the journal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amgs.text.words import plural
from amgs.types import Frame, Health, HealthLine, JournalEntry, StoreStatus
from amgs.types.health import NamespaceSize, Standing
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, cut_middle, ink, width_of
from amgs_app.render.format import ago, count, optional, share
from amgs_app.render.glyphs import HeaderPart, apportion, bar, facts_line, gauge, notice_in
from amgs_app.render.level_map import draw_map, plan_rows
from amgs_app.terminal.themes import Palette
from amgs_app.workplace.rows import PANE_OF, detail_height, draw_detail, topology_lines
from amgs_focus.views import FocusView

if TYPE_CHECKING:
    from amgs_app.render.rows import RowList

BY_WORDS = "until then raw blocks are found by words only"


@dataclass(frozen=True, slots=True)
class _Station:
    """A box of the loop: name, number, a line below, and another line or a gauge. quiet: nothing is there yet."""

    name: str
    number: str
    line: str
    more: str = ""
    full: float | None = None
    quiet: bool = False


def overview(
    status: StoreStatus | None,
    canvas: Canvas,
    *,
    journal: RowList[JournalEntry] | None = None,
    frame: Frame | None = None,
    focus: FocusView | None = None,
    health: Health | None = None,
    cursor: int | None = None,
    namespaces: Sequence[NamespaceSize] = (),
    station: int | None = None,
) -> Figure:
    """Draw the loop with live counts, the next step, the namespace, the health of each area, and the journal.

    frame, focus: the session's last. cursor: selected journal entry. namespaces: of the database. station: index of the
    selected station.
    """
    sheet = Figure(canvas)
    if status is None:
        notice_in(sheet, "No store is open", ("amgs --store PATH", "amgs --corpus DIR"), "A memory is a file.")
        return sheet
    stations = _stations(status, frame, focus)
    at, verb, reason = _next(status, frame, focus)
    tall = _tall(sheet.height)
    high = 2 * tall + 1
    _loop(sheet.part(0, 0, None, high), stations, at, tall, station)
    y = high
    if y < sheet.height:
        palette = sheet.palette
        advice: list[Piece] = [
            ("next  ", ink(palette.muted)),
            (verb, ink(palette.accent, bold=True)),
            (f"  {reason}", ink(palette.muted)),
        ]
        sheet.pieces(1, y, advice, width=sheet.width - 2)
        y += 1
    store = topology_lines(status, namespaces)
    if store:
        y += _store(sheet.part(0, y), status, namespaces, store)
    rest = sheet.part(0, y)
    if rest.height < 3:
        if health is not None:
            _compact(rest, health)
        return sheet
    if focus is not None and focus.entries and rest.height >= 18:
        rows = plan_rows(focus, min(rest.height - 9, 24))
        live = rest.part(0, rest.height - rows.total - 1)
        live.rule(0, f"working context “{clean(focus.question)}”")
        draw_map(live.part(0, 1), focus, rows)
        rest = rest.part(0, 0, None, rest.height - rows.total - 1)
    if rest.width >= 76:
        left = rest.width // 2 - 1 if rest.width >= 100 else rest.width * 11 // 20
        _sides(rest.part(0, 0, left), status, health)
        below = rest.part(left + 2, 0)
    elif rest.height >= 9:
        half = min(rest.height // 2 + 1, 8)
        _sides(rest.part(0, 0, None, half), status, health)
        below = rest.part(0, half)
    elif rest.height >= 5 and health is not None:
        _compact(rest.part(0, 0, None, rest.height - 3), health)
        below = rest.part(0, rest.height - 3)
    else:
        below = rest
    if journal is not None:
        journal.draw_under(below, cursor)
    return sheet


def _store(
    region: Region, status: StoreStatus, namespaces: Sequence[NamespaceSize], lines: Sequence[HealthLine]
) -> int:
    """Draw the lines about the store, and its namespaces if there is room; return the number of lines used."""
    _health_lines(region.part(0, 0, None, min(region.height, len(lines))), lines)
    y = min(len(lines), region.height)
    more = detail_height(status, namespaces, region.height - y - 14)
    if more:
        draw_detail(region.part(0, y, None, more), status, namespaces)
    return y + more


def _stations(status: StoreStatus, frame: Frame | None, focus: FocusView | None) -> tuple[_Station, ...]:
    """Return the eight stations in the order of the flow."""
    raw, consolidated_count = status.blocks.get("raw", 0), status.blocks.get("consolidated", 0)
    waited = "waiting" if raw else "empty"
    last = status.last_consolidation
    frame_station = _Station("frame", "–", "none yet", quiet=True)
    if frame is not None:
        frame_station = _Station(
            "frame", f"{count(frame.tokens)} tok", clean(frame.name), full=frame.tokens / max(1, frame.budget)
        )
    life = _Station("lifetime", "–", "not opened", quiet=True)
    window = _Station("window", "–", "not opened", quiet=True)
    decode = _Station("decode", "–", "no step yet", quiet=True)
    if focus is not None:
        levels = "no trained gists" if focus.untrained else f"levels 0–{focus.levels}"
        life = _Station("lifetime", f"{count(focus.lifetime)} tok", levels, clean(focus.model))
        entries = plural(len(focus.entries), "entry", "entries")
        window = _Station("window", f"{focus.used}/{focus.window}", entries, full=focus.budget_utilization)
        due = f"refocus in {focus.next_refocus_in}" if focus.next_refocus_in else "refocus due"
        progress = "finished" if focus.finished else due
        decode = _Station(
            "decode", f"step {count(focus.step)}", progress, plural(focus.refocuses, "refocus", "refocuses")
        )
    ran = "never" if last is None else ago(last, status.now)
    edges = plural(status.edges, "edge")
    known = f"{count(status.outcomes)} judged"
    return (
        _Station("inbox", f"{count(raw)} raw", waited, quiet=not raw),
        _Station("consolidate", ran, "last run", plural(consolidated_count, "block"), quiet=last is None),
        _Station(
            "memory",
            plural(consolidated_count, "block"),
            edges,
            full=status.mean_relevance if consolidated_count else None,
            quiet=not consolidated_count,
        ),
        frame_station,
        life,
        window,
        decode,
        _Station("feedback", f"Brier {optional(status.brier)}", known, "goal: below .15", quiet=not status.outcomes),
    )


def _next(status: StoreStatus, frame: Frame | None, focus: FocusView | None) -> tuple[int, str, str]:
    """Return the station where something is due, the command for it, and the reason."""
    raw, consolidated_count = status.blocks.get("raw", 0), status.blocks.get("consolidated", 0)
    steps: tuple[tuple[bool, int, str, str], ...] = (
        (not raw and not consolidated_count, 0, "ingest --batch DIR", "the memory is empty"),
        (raw > 0 and (not consolidated_count or raw >= 50), 1, "consolidate", BY_WORDS),
        (frame is None, 3, "frame assemble SESSION --query “…”", "ask the memory something"),
        (focus is None, 4, "frame open", "make the frame the model's lifetime context"),
        (focus is not None and not focus.finished, 6, "focus step 32", "decode and watch what is expanded"),
        (status.outcomes == 0, 7, "feedback useful ID", "tell the memory what helped"),
        (raw > 0, 1, "consolidate", BY_WORDS),
    )
    for due, at, verb, reason in steps:
        if due:
            return at, verb, reason
    return 3, "frame assemble SESSION --query “…”", "ask the next question"


def next_step(status: StoreStatus, frame: Frame | None, focus: FocusView | None) -> str:
    """Return the beginning of the command that the figure suggests next, for the operator to complete."""
    return re.sub(r"(“…”|DIR|ID)$", "", _next(status, frame, focus)[1])


# --- the loop ---------------------------------------------------------------------------------------------


def pane_at(
    x: int, y: int, canvas: Canvas, status: StoreStatus, frame: Frame | None = None, focus: FocusView | None = None
) -> str | None:
    """Return the pane of the station drawn in a cell; None outside the stations."""
    tall = _tall(canvas.height)
    stations = _stations(status, frame, focus)
    columns = _columns(stations, canvas.width)
    for place, station in enumerate(stations):
        left, wide = columns[_column(place)]
        top = 0 if place < 4 else tall + 1
        if left <= x < left + wide and top <= y < top + tall:
            return PANE_OF[station.name]
    return None


def _tall(height: int) -> int:
    """Return the lines of a station in a figure of this height."""
    return 5 if height >= 20 else 4


def _column(place: int) -> int:
    """Return the column of a station: four to the right, then four back to the left below."""
    return place if place < 4 else 7 - place


def _columns(stations: Sequence[_Station], width: int) -> list[tuple[int, int]]:
    """Return the left edge and width of the four columns.

    If space is short, gaps shrink first, then blanks around names; then names take precedence over numbers.
    """
    names, loose, tight = [0] * 4, [0] * 4, [0] * 4
    for place, station in enumerate(stations):
        column = _column(place)
        inside = max(map(width_of, (station.number, station.line))) + 2
        names[column] = max(names[column], width_of(station.name) + 2)
        tight[column] = max(tight[column], names[column], inside)
        loose[column] = max(loose[column], width_of(station.name) + 6, inside + 2, width_of(station.more) + 4)
    for gap, wide in ((3, loose), (2, loose), (2, tight), (1, tight), (1, names), (1, [1] * 4)):
        room = width - 3 * gap - sum(wide)
        if room >= 0:
            break
    parts = [1] * 4 if wide is not names else [want - own for want, own in zip(tight, names, strict=True)]
    wide = [own + more for own, more in zip(wide, apportion(parts, max(0, room)), strict=True)]
    return [(sum(wide[:column]) + column * gap, wide[column]) for column in range(4)]


def _loop(region: Region, stations: Sequence[_Station], at: int, tall: int, chosen: int | None = None) -> None:
    """Draw the stations with arrows between them, and the arrow from feedback up to memory."""
    palette = region.palette
    columns = _columns(stations, region.width)
    flow = ink(palette.muted)
    for place, station in enumerate(stations):
        column = _column(place)
        (x, wide), y = columns[column], 0 if place < 4 else tall + 1
        _box(region.part(x, y, wide, tall), station, due=place == at, chosen=place == chosen)
        middle = y + tall // 2
        if place in (0, 1, 2):
            space = columns[column + 1][0] - x - wide
            region.put(x + wide, middle, "─" * (space - 1) + "▶", flow)
        if place in (4, 5, 6):
            before, its = columns[column - 1]
            region.put(before + its, middle, "◀" + "─" * (x - before - its - 1), flow)
    centers = [left + wide // 2 for left, wide in columns]
    region.put(centers[3], tall, "▼", flow)
    region.put(centers[0], tall, "╭", flow)
    region.fill(centers[0] + 1, tall, centers[2] - centers[0] - 1, "─", flow)
    region.put(centers[2], tall, "▲", flow)
    label = " reinforcement, outcomes " if region.width >= 72 else " reinforces "
    region.put((centers[0] + centers[2] - width_of(label)) // 2, tall, label, ink(palette.muted, italic=True))


def _box(region: Region, station: _Station, *, due: bool, chosen: bool = False) -> None:
    """Draw a station."""
    palette = region.palette
    line = ink(palette.accent if due else palette.faint, bold=due)
    last = region.height - 1
    region.put(0, 0, "╭" + "─" * (region.width - 2) + "╮", line)
    for y in range(1, last):
        region.put(0, y, "│", line)
        region.put(region.width - 1, y, "│", line)
    region.put(0, last, "╰" + "─" * (region.width - 2) + "╯", line)
    widest = max(map(width_of, (station.name, station.number, station.line)))
    edge = 2 if region.width >= widest + 4 else 1
    room = region.width - 2 * edge
    name = f" {station.name} " if width_of(station.name) + 2 + 2 * edge <= region.width else station.name
    region.put(edge, 0, name, ink(palette.accent if due else palette.muted, bold=due), width=room)
    number = ink(palette.muted) if station.quiet else ink(palette.text, bold=True)
    region.put(edge, 1, station.number, number, width=room)
    region.put(edge, 2, station.line, ink(palette.muted), width=room)
    if last >= 4 and station.full is not None:
        gauge(region, edge, 3, room, station.full, ink(palette.accent))
    elif last >= 4 and width_of(station.more) <= room:
        region.put(edge, 3, station.more, ink(palette.muted))
    if chosen:
        region.put(0, 1, "▸", ink(palette.accent, bold=True))
        for y in range(1, last):
            region.shade(y, palette.selection, x=1, width=region.width - 2)


# --- below ------------------------------------------------------------------------------------------------


SIGNS: Mapping[Standing, str] = {"well": "✓", "watch": "◆", "act": "✗", "unknown": "·"}


def _colour(standing: Standing, palette: Palette) -> str:
    return {"well": palette.good, "watch": palette.warn, "act": palette.bad, "unknown": palette.muted}[standing]


def _sides(region: Region, status: StoreStatus, health: Health | None) -> None:
    """Draw the health lines, and below them the categories if there is room."""
    if health is None:
        _categories(region, status)
        return
    troubles = sum(line.standing == "act" for line in health.lines)
    need = "needs" if troubles == 1 else "need"
    summary = f"{plural(troubles, 'area')} {need} attention" if troubles else "nothing is urgent"
    region.rule(0, "health", summary)
    lines = health.lines
    if len(lines) >= region.height:
        lines = _urgent_first(lines)
    _health_lines(region.part(0, 1, None, min(len(lines), region.height - 1)), lines)
    below = region.part(0, len(health.lines) + 1)
    if below.height >= 3:
        _categories(below, status)


def _urgent_first(lines: Sequence[HealthLine]) -> tuple[HealthLine, ...]:
    """Return the lines with those that need action first."""
    order: Mapping[Standing, int] = {"act": 0, "watch": 1, "unknown": 2, "well": 3}
    return tuple(sorted(lines, key=lambda line: order[line.standing]))


def _health_lines(region: Region, lines: Sequence[HealthLine]) -> None:
    """Draw a line per area, as many as fit."""
    palette = region.palette
    name_w = max(width_of(line.side) for line in lines)
    for row, line in enumerate(lines[: region.height]):
        colour = _colour(line.standing, palette)
        region.put(1, row, SIGNS[line.standing], ink(colour, bold=True))
        region.put(3, row, line.side, ink(palette.text), width=name_w)
        verb = line.verb if line.standing in ("act", "watch") and region.width >= 80 else ""
        x, end = 5 + name_w, region.width - 1 - (width_of(verb) + 2 if verb else 0)
        quiet = line.standing in ("well", "unknown")
        region.put(x, row, line.told, ink(palette.muted if quiet else palette.text), width=end - x)
        region.put(end + 2, row, verb, ink(palette.accent))


def _compact(region: Region, health: Health) -> None:
    """Draw the areas in two columns, urgent ones first."""
    palette = region.palette
    ranked = _urgent_first(health.lines)
    wide = region.width // 2
    for place, line in enumerate(ranked[: 2 * region.height]):
        part = region.part((place % 2) * wide, place // 2, wide - 1, 1)
        part.put(1, 0, SIGNS[line.standing], ink(_colour(line.standing, palette), bold=True))
        x = part.put(3, 0, line.side, ink(palette.text)) + 1
        part.put(x, 0, line.told, ink(palette.muted), width=part.width - x)


def _categories(region: Region, status: StoreStatus) -> None:
    """Draw the store's facts and the number of blocks by category."""
    palette = region.palette
    muted, plain = ink(palette.muted), ink(palette.text)
    region.rule(0, "memory", f"schema {status.schema_version}, change {status.change_counter}")
    region.put(1, 1, cut_middle(clean(status.path), region.width - 2), muted)
    facts_line(
        region,
        2,
        [
            HeaderPart(0, (("relevance ", muted), (share(status.mean_relevance), plain))),
            HeaderPart(1, ((plural(status.frames, "frame"), plain),)),
            HeaderPart(2, ((f"{status.blocks.get('archived', 0)} archived", muted),)),
            HeaderPart(3, ((f"{status.blocks.get('pruned', 0)} pruned", muted),)),
        ],
        x=1,
    )
    ranked = sorted(status.categories.items(), key=lambda category: (-category[1], category[0]))[
        : max(0, region.height - 3)
    ]
    most = max((number for _, number in ranked), default=1)
    name_w = min(16, max((width_of(clean(name)) for name, _ in ranked), default=0))
    for row, (name, number) in enumerate(ranked, start=3):
        x = region.put(1, row, clean(name), plain, width=name_w) + 1
        x = region.put(x, row, count(number), ink(palette.text, bold=True), width=6, align="right") + 1
        region.put(x, row, bar(number / most, region.width - x - 1, region.symbols), ink(palette.accent))
