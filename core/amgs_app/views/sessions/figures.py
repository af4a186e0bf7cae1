"""A session as a picture: how full the window was, where it was compacted, what that threw away and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from amgs.text.plural import plural
from amgs_app.render.figures.canvas import Canvas, Figure, Piece, Region, clean, cut, ink, width_of
from amgs_app.render.figures.format import count
from amgs_app.render.figures.glyphs import LEVELS, HeaderPart, ListPage, facts_line
from amgs_app.views.sessions.row_fields import cells_of

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.wings.sessions.cache import CacheLine
    from amgs.wings.sessions.controls import KindRate
    from amgs.wings.sessions.findings import SessionFinding
    from amgs.wings.sessions.listing import ListedSession
    from amgs.wings.sessions.losses import Loss, LostClass
    from amgs.wings.sessions.regrets import Regret
    from amgs.wings.sessions.review import FillPoint, SessionFacts, SessionReview, TurnRow
    from amgs_app.terminal.themes import Palette

NAMES = {
    "path": "paths",
    "number": "numbers",
    "id": "ids",
    "command": "commands",
    "decision": "decisions",
    "constraint": "constraints",
    "error": "errors",
}
CAUSES = {
    "compaction": "a compaction began a new window",
    "taken back": "the user went back",
    "pause": "a pause longer than the cache lives",
    "put in": "the program put something in",
    "unknown": "nothing that the file shows",
}
_HEAD = 4
"""Rows of the head, a blank one too."""
_EXAMPLES = 4
"""Lost things that stand under their class in an overview at most."""
_NAME = 12
_NEAR = 0.8


def overview(result: SessionReview, canvas: Canvas) -> Text:
    """The whole session: the strip of the window, then each compaction with what it threw away and cost."""
    rows = overview_rows(result, canvas.palette, canvas.width, room_of(canvas))
    return page(canvas, result, rows, None).render()


def head(region: Region, result: SessionReview) -> int:
    """Who and when, what it is made of, what it cost: three lines; gives the line below them."""
    facts, palette = result.facts, region.palette
    x = region.put(1, 0, f"{facts.agent} ", ink(palette.accent, bold=True))
    region.put(
        x,
        0,
        clean(facts.title or facts.project or facts.path),
        ink(palette.text, bold=True),
        width=region.width - x,
    )
    quiet = ink(palette.muted)
    facts_line(region, 1, [HeaderPart(n, ((told, quiet),)) for n, told in enumerate(_facts(facts))], x=1)
    region.pieces(1, 2, _price(result, palette), width=region.width - 2)
    return _HEAD


def _facts(facts: SessionFacts) -> list[str]:
    told = [f"{facts.all_turns:,} turns"]
    if facts.started and facts.ended:
        told.append(f"{facts.started:%Y-%m-%d %H:%M} to {facts.ended:%H:%M}")
    told += [
        word
        for word in (
            facts.model,
            f"{facts.side:,} turns of {plural(facts.subagents, 'subagent')}" if facts.side else "",
            f"{facts.abandoned:,} turns taken back" if facts.abandoned else "",
        )
        if word
    ]
    if facts.partial:
        told.insert(0, "the end of a large file, the rest is being read")
    other = facts.records - facts.taken
    told.append(f"{facts.records:,} records, {other:,} without turns")
    return told


def _price(result: SessionReview, palette: Palette) -> list[Piece]:
    """What compactions cost and the cache, in one line of pieces."""
    quiet = ink(palette.muted)
    tokens, seconds = result.price
    if not result.losses:
        pieces: list[Piece] = [("never compacted", ink(palette.good))]
    elif tokens:
        number = sum(row.regrets for row in result.kinds if row.counted)
        pieces = [
            (f"{plural(len(result.losses), 'compaction')}: ", quiet),
            (f"{plural(number, 'span')} needed again", ink(palette.bad, bold=True)),
            (f", {tokens:,} tokens, {seconds:,.0f} s", ink(palette.bad)),
        ]
    else:
        pieces = [
            (f"{plural(len(result.losses), 'compaction')}, nothing of them needed again", ink(palette.good))
        ]
    if result.cache.requests:
        missed = result.cache.missed
        pieces.append((f"   cache {result.cache.share:.0%}", ink(palette.text)))
        if missed:
            pieces.append((f", read again {plural(len(missed), 'time')}", ink(palette.warn)))
    return pieces


def strip(region: Region, fills: Sequence[FillPoint], limit: int | None, cursor: int | None = None) -> None:
    """The window's fill over the session, a column a request or the fullest of several, compactions marked above.

    cursor: the turn that is looked at. The last line names the first and the last turn.
    """
    palette = region.palette
    if not fills or region.height < 2:
        region.put(0, 0, "The file counts no tokens.", ink(palette.muted))
        return
    top = limit or max(one.tokens for one in fills) or 1
    rows = region.height - 1
    marked: set[int] = set()
    for x, points in enumerate(_columns(fills, region.width)):
        share = min(1.0, max(one.tokens for one in points) / top)
        compacted = any(one.compaction for one in points)
        style = _colour(palette, share, compacted=compacted)
        _column(region, x, rows, share, style)
        if cursor is not None and points[0].turn <= cursor <= points[-1].turn:
            region.column(x, 0, rows, "│", ink(palette.text))
        if compacted and x not in marked:
            marked.update(range(x, x + _columns_of(fills, region.width)))
            region.put(x, 0, "▼", ink(palette.bad, bold=True))
    first, last = fills[0].turn, fills[-1].turn
    told = f"turn {first} to {last}; full at {count(top)} tokens" + ("" if limit else ", the most there were")
    region.put(0, rows, told, ink(palette.muted), width=region.width)


def _columns(fills: Sequence[FillPoint], width: int) -> list[Sequence[FillPoint]]:
    """Points by column: several in one where there are more, the same again where there are fewer."""
    number = len(fills)
    starts = [x * number // width for x in range(width + 1)]
    return [fills[start : max(start + 1, end)] for start, end in pairwise(starts)]


def _columns_of(fills: Sequence[FillPoint], width: int) -> int:
    """How many columns a point has at most."""
    return max(1, -(-width // len(fills)))


def _column(region: Region, x: int, rows: int, share: float, style: Style) -> None:
    eighths = max(1, round(share * rows * 8))
    for row in range(rows):
        here = min(8, eighths - 8 * row)
        if here <= 0:
            break
        region.put(x, rows - 1 - row, LEVELS[here - 1], style)


def _colour(palette: Palette, share: float, *, compacted: bool) -> Style:
    if compacted or share >= _NEAR:
        return ink(palette.bad if compacted else palette.warn)
    return ink(palette.accent)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A line of a view. turn: what enter reads, None for nothing. boundary, lost: of what a compaction dropped."""

    pieces: tuple[Piece, ...]
    turn: int | None = None
    boundary: int | None = None
    lost: SessionFinding | None = None


def page(
    canvas: Canvas,
    result: SessionReview,
    rows: Sequence[SessionRow],
    cursor: int | None,
    at: int | None = None,
) -> Figure:
    """The head, the strip, and the rows of a view. at: the turn that the strip marks."""
    sheet = Figure(canvas)
    body = sheet.part(0, head(sheet, result))
    tall = _strip_height(canvas)
    strip(body.part(1, 0, body.width - 2, tall + 1), result.fills, result.facts.window, at)
    region = body.part(0, tall + 2)
    ListPage.around(rows, region.height, cursor).draw(region, _paint)
    return sheet


def _strip_height(canvas: Canvas) -> int:
    """Rows of the strip: a third of what is below the head, so that a list has the rest."""
    return max(2, min(14, (canvas.height - _HEAD) // 3))


def room_of(canvas: Canvas) -> int:
    """Rows that a page has below its strip."""
    return max(0, canvas.height - _HEAD - _strip_height(canvas) - 2)


def listed(canvas: Canvas, rows: Sequence[SessionRow], cursor: int | None, note: str) -> Figure:
    """The sessions that lie here, below what they are. The first row is the heads of the columns."""
    sheet = Figure(canvas)
    sheet.put(1, 0, note, ink(sheet.palette.muted), width=sheet.width - 1)
    if rows:
        _paint(sheet.part(0, 1, None, 1), rows[0], False)
    ListPage.around(rows[1:], sheet.height - 2, cursor).draw(sheet.part(0, 2), _paint)
    return sheet


def _paint(line: Region, row: SessionRow, chosen: bool) -> None:
    del chosen
    line.pieces(2, 0, row.pieces, width=line.width - 2)


# --- the rows of each view -----------------------------------------------------------------------------------


_HEADS = ("when", "id", "project", "program", "took", "turns", "tokens", "▼", "errors", "again", "what")
_LEFT = ("id", "project", "program", "what")
_MOST = {"project": 24, "program": 12}
_ORDER = ("when", "id", "what", "project", "program", "took", "turns", "tokens", "▼", "errors", "again")
"""The columns as they stand beside each other; the whole of a row is what it was about."""


def list_rows(
    sessions: Sequence[ListedSession], now: datetime, palette: Palette, width: int
) -> list[SessionRow]:
    """The heads of the columns, then the sessions, one a line. Where it is narrow, what a session was about and its
    project are cut, and the program is left out; never an id or a number.
    """
    cells = [_HEADS, *cells_of(sessions, now)]
    shown = [name for name in _ORDER if name != "program" or width >= 110]
    place = {name: n for n, name in enumerate(_HEADS)}
    wide = {name: max(width_of(row[place[name]]) for row in cells) for name in shown}
    for name, most in _MOST.items():
        wide[name] = min(wide.get(name, 0), most if width >= 100 else most // 2)
    gap = "  " if width >= 100 else " "
    others = sum(wide[name] for name in shown if name != "what") + len(gap) * (len(shown) - 1) + 2
    wide["project"] -= min(max(0, wide["project"] - 6), max(0, others + 12 - width))
    others = sum(wide[name] for name in shown if name != "what") + len(gap) * (len(shown) - 1) + 2
    wide["what"] = max(12, width - others)
    colours = {
        "when": palette.muted,
        "program": palette.muted,
        "id": palette.muted,
        "project": palette.accent,
    }
    colours |= {"▼": palette.bad, "errors": palette.warn, "again": palette.bad}
    rows = []
    for row in cells:
        pieces: list[Piece] = []
        for name in shown:
            told = cut(clean(row[place[name]]), wide[name])
            blank = " " * (wide[name] - width_of(told))
            colour = palette.muted if row is _HEADS else colours.get(name, palette.text)
            pieces.append(((told + blank if name in _LEFT else blank + told) + gap, ink(colour)))
        rows.append(SessionRow(tuple(pieces)))
    return rows


def overview_rows(result: SessionReview, palette: Palette, width: int, room: int = 0) -> list[SessionRow]:
    """Each compaction: what it kept of each class, and what of the rest was needed again. room: rows that there are;
    where some are left, examples of what is gone stand under their class.
    """
    counted = {row.kind for row in result.kinds if row.counted}
    needed = [one for one in result.regrets if one.kind in counted]
    classes = sum(len(loss.classes) for loss in result.losses)
    left = room - len(result.losses) - classes - len(needed)
    each = max(0, min(_EXAMPLES, left // classes)) if classes else 0
    rows: list[SessionRow] = []
    for loss in result.losses:
        rows.append(SessionRow(_loss_pieces(loss, palette), loss.boundary, loss.boundary))
        for one in loss.classes:
            first = one.lost[0] if one.lost else None
            rows.append(SessionRow(_class_pieces(one, palette, width), None, loss.boundary, first))
            rows += [_lost_row(lost, loss.boundary, palette) for lost in one.lost[:each]]
        own = [again for again in needed if again.boundary == loss.boundary]
        rows += regret_rows(sorted(own, key=lambda again: -again.tokens), palette)
    if not rows:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in result.facts.turns.items())
        rows.append(SessionRow(((f"It was never compacted: {kinds}.", ink(palette.muted)),)))
    return rows


def _lost_row(lost: SessionFinding, boundary: int, palette: Palette) -> SessionRow:
    """Something that is gone, with the turn that said it last."""
    pieces: tuple[Piece, ...] = (
        (f"    turn {lost.turn:<5} ", ink(palette.muted)),
        (clean(lost.text), ink(palette.text)),
    )
    return SessionRow(pieces, lost.turn, boundary, lost)


def lost_rows(losses: Sequence[Loss], palette: Palette, width: int) -> list[SessionRow]:
    """What each compaction dropped and the window does not hold, by class."""
    rows: list[SessionRow] = []
    for loss in losses:
        rows.append(SessionRow(_loss_pieces(loss, palette), loss.boundary, loss.boundary))
        for one in loss.classes:
            rows.append(SessionRow(_class_pieces(one, palette, width), None, loss.boundary))
            rows += [_lost_row(lost, loss.boundary, palette) for lost in one.lost]
    return rows


def turn_rows(turns: Sequence[TurnRow], palette: Palette) -> list[SessionRow]:
    """Turns, one a line."""
    colours = {
        "said": palette.text,
        "summary": palette.warn,
        "boundary": palette.bad,
        "thinking": palette.faint,
        "injected": palette.muted,
    }
    rows = []
    for one in turns:
        who = one.role if one.kind == "said" else one.kind
        colour = palette.bad if one.failed else colours.get(one.kind, palette.text)
        accent = palette.accent if one.kind == "said" and one.role == "user" else palette.muted
        pieces: tuple[Piece, ...] = (
            (f"{one.number:>5} ", ink(palette.muted)),
            (f"{who:<9.9} ", ink(accent, bold=one.kind == "boundary")),
            (f"{count(one.tokens):>6} ", ink(palette.faint)),
            (clean(one.what), ink(colour, dim=one.abandoned)),
        )
        rows.append(SessionRow(pieces, one.number))
    return rows


def regret_rows(
    regrets: Sequence[Regret], palette: Palette, kinds: Sequence[KindRate] | None = None
) -> list[SessionRow]:
    """What was needed again, one a line. kinds: marks those that are not counted."""
    counted = {row.kind for row in kinds if row.counted} if kinds is not None else None
    note: Piece = (", not counted", ink(palette.faint))
    rows = []
    for one in regrets:
        more = (note,) if counted is not None and one.kind not in counted else ()
        rows.append(SessionRow((*_regret_pieces(one, palette), *more), one.after, one.boundary))
    return rows


def cache_rows(cache: CacheLine, palette: Palette) -> list[SessionRow]:
    """The requests whose prefix was read again, one a line."""
    rows = []
    for one in cache.missed:
        pause = "" if one.seconds is None else f" after {one.seconds:,.0f} s"
        pieces: tuple[Piece, ...] = (
            (f"turn {one.turn:<5} ", ink(palette.muted)),
            (f"{one.lost:,} tokens read again", ink(palette.warn)),
            (f"{pause}: {CAUSES[one.cause]}", ink(palette.text)),
            ("" if one.span is None else f" (turn {one.span})", ink(palette.muted)),
        )
        rows.append(SessionRow(pieces, one.span or one.turn))
    return rows or [SessionRow((("No prefix was read again.", ink(palette.muted)),))]


def _loss_pieces(loss: Loss, palette: Palette) -> tuple[Piece, ...]:
    before = f"{loss.before:,}" if loss.before else f"about {loss.tokens:,}"
    sealed = "; its summary can be read by the provider alone" if loss.sealed else ""
    return (
        ("▼ ", ink(palette.bad, bold=True)),
        (f"turn {loss.boundary}", ink(palette.text, bold=True)),
        (
            f"  {loss.trigger or 'compacted'}, {before} tokens, {loss.opening:,} in their place{sealed}",
            ink(palette.muted),
        ),
    )


def _class_pieces(one: LostClass, palette: Palette, width: int) -> tuple[Piece, ...]:
    """`paths  ███▒▒░░  4 word for word, 20 in other words, 4 gone`."""
    wide = max(8, min(60, width - 66))
    shares = (one.verbatim, one.reworded, one.gone)
    styles = (ink(palette.good), ink(palette.warn), ink(palette.bad))
    cells = [round(wide * number / one.held) for number in shares[:2]]
    cells.append(max(0, wide - sum(cells)) if one.gone else 0)
    bars: list[Piece] = [(sign * n, style) for sign, n, style in zip("█▒░", cells, styles, strict=True)]
    return (
        (f"  {NAMES[one.kind]:<{_NAME}}", ink(palette.text)),
        *bars,
        (" " * max(2, wide - sum(cells) + 2), None),
        (f"{one.verbatim} word for word", styles[0]),
        (f", {one.reworded} in other words", styles[1]),
        (f", {one.gone} gone", styles[2]),
    )


def _regret_pieces(one: Regret, palette: Palette) -> tuple[Piece, ...]:
    """`↻ reopened store.py  of turn 63, again at 305: 6,840 tokens, 3 s`."""
    name = one.what if one.kind in ("rerun", "repeated", "searched") else one.what.rsplit("/", 1)[-1]
    seconds = "" if one.seconds is None else f", {one.seconds:,.0f} s"
    return (
        ("  ↻ ", ink(palette.bad, bold=True)),
        (f"{one.kind} ", ink(palette.bad)),
        (clean(name), ink(palette.text)),
        (f"  of turn {one.before}, again at {one.after}: {one.tokens:,} tokens{seconds}", ink(palette.muted)),
    )
