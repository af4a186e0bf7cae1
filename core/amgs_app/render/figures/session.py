"""A session as a picture: how full the window was, where it was compacted, what that threw away and cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from amgs.text.plural import plural
from amgs_app.render.figures.canvas import Canvas, Figure, Piece, Region, clean, ink
from amgs_app.render.figures.format import count
from amgs_app.render.figures.glyphs import LEVELS, HeaderPart, facts_line

if TYPE_CHECKING:
    from amgs.sessions.losses import Loss, LostClass
    from amgs.sessions.regrets import Regret
    from amgs.sessions.review import FillPoint, SessionFacts, SessionReview
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
_NAME = 12
_NEAR = 0.8


def overview(result: SessionReview, canvas: Canvas) -> Text:
    """The whole session: the strip of the window, then each compaction with what it threw away."""
    sheet = Figure(canvas)
    top = head(sheet, result)
    body = sheet.part(0, top)
    strip_rows = max(2, min(8, body.height // 3))
    strip(body.part(1, 0, body.width - 2, strip_rows + 1), result.fills, result.facts.window)
    _compactions(body.part(1, strip_rows + 2, body.width - 2), result)
    return sheet.render()


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
    return 4


def _facts(facts: SessionFacts) -> list[str]:
    told = [f"{sum(facts.turns.values()):,} turns"]
    if facts.started and facts.ended:
        told.append(f"{facts.started:%Y-%m-%d %H:%M} to {facts.ended:%H:%M}")
    told += [
        word for word in (facts.model, plural(facts.subagents, "subagent") if facts.subagents else "") if word
    ]
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
    for x, points in enumerate(_columns(fills, region.width)):
        share = min(1.0, max(one.tokens for one in points) / top)
        compacted = any(one.compaction for one in points)
        style = _colour(palette, share, compacted=compacted)
        _column(region, x, rows, share, style)
        if compacted:
            region.put(x, 0, "▼", ink(palette.bad, bold=True))
        if cursor is not None and points[0].turn <= cursor <= points[-1].turn:
            region.column(x, 0, rows, "│", ink(palette.accent))
    first, last = fills[0].turn, fills[-1].turn
    told = f"turn {first} to {last}; full at {count(top)} tokens" + ("" if limit else ", the most there were")
    region.put(0, rows, told, ink(palette.muted), width=region.width)


def _columns(fills: Sequence[FillPoint], width: int) -> list[Sequence[FillPoint]]:
    """Points by column: several in one where there are more, the same again where there are fewer."""
    number = len(fills)
    wide = min(width, max(number, min(width, number * 4)))
    return [
        fills[x * number // wide : max(x * number // wide + 1, (x + 1) * number // wide)] for x in range(wide)
    ]


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


def _compactions(region: Region, result: SessionReview) -> None:
    """Each compaction: what it kept of each class, and what of the rest was needed again."""
    palette, y = region.palette, 0
    for loss in result.losses:
        if y >= region.height - 1:
            break
        y = _loss(region, y, loss)
        counted = {row.kind for row in result.kinds if row.counted}
        own = [one for one in result.regrets if one.boundary == loss.boundary and one.kind in counted]
        for one in sorted(own, key=lambda each: -each.tokens):
            if y >= region.height:
                return
            y = regret_line(region, y, one)
        y += 1
    if not result.losses:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in result.facts.turns.items())
        region.put(0, 0, kinds, ink(palette.muted), width=region.width)


def _loss(region: Region, y: int, loss: Loss) -> int:
    palette = region.palette
    before = f"{loss.before:,}" if loss.before else "about " + f"{loss.tokens:,}"
    pieces: list[Piece] = [
        ("▼ ", ink(palette.bad, bold=True)),
        (f"turn {loss.boundary}", ink(palette.text, bold=True)),
        (
            f"  {loss.trigger or 'compacted'}, {before} tokens, {loss.opening:,} kept in its place",
            ink(palette.muted),
        ),
    ]
    region.pieces(0, y, pieces, width=region.width)
    y += 1
    if loss.sealed:
        region.put(2, y, "what its summary says can be read by the provider alone", ink(palette.warn))
        y += 1
    for one in loss.classes:
        if y >= region.height:
            break
        class_line(region, y, one)
        y += 1
    return y


def class_line(region: Region, y: int, one: LostClass) -> None:
    """`paths  ███▒▒░░  4 word for word, 20 in other words, 4 gone`."""
    palette = region.palette
    region.put(2, y, NAMES[one.kind], ink(palette.text), width=_NAME)
    wide = max(8, min(30, region.width - 62))
    shares = (one.verbatim, one.reworded, one.gone)
    styles = (ink(palette.good), ink(palette.warn), ink(palette.bad))
    x, left = 2 + _NAME, wide
    for place, (number, style, sign) in enumerate(zip(shares, styles, "█▒░", strict=True)):
        cells = left if place == 2 else min(left, round(wide * number / one.held))
        if number == 0 and place == 2:
            cells = 0
        region.fill(x, y, cells, sign, style)
        x, left = x + cells, left - cells
    told: list[Piece] = [
        (f"{one.verbatim} word for word", styles[0]),
        (f", {one.reworded} in other words", styles[1]),
        (f", {one.gone} gone", styles[2]),
    ]
    region.pieces(4 + _NAME + wide, y, told, width=region.width - 4 - _NAME - wide)


def regret_line(region: Region, y: int, one: Regret) -> int:
    """`  ↻ reopened store.py  turn 63, again 305  6,840 tok`; gives the line below it."""
    palette = region.palette
    name = one.what if one.kind in ("rerun", "repeated") else one.what.rsplit("/", 1)[-1]
    seconds = "" if one.seconds is None else f", {one.seconds:,.0f} s"
    pieces: list[Piece] = [
        ("  ↻ ", ink(palette.bad, bold=True)),
        (f"{one.kind} ", ink(palette.bad)),
        (clean(name), ink(palette.text)),
        (f"  of turn {one.before}, again at {one.after}: {one.tokens:,} tokens{seconds}", ink(palette.muted)),
    ]
    region.pieces(0, y, pieces, width=region.width)
    return y + 1
