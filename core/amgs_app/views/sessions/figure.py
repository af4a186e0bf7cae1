"""Draw a session: as a figure with the fill of the window, compactions, and what they dropped and cost; and as a
self-contained HTML page, for an issue or a colleague.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rich.style import Style
from rich.text import Text

from amgs.text.words import plural
from amgs_app.pages.html_page import ChartLine, HtmlSection, draw_lines, page
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, ink
from amgs_app.render.catalogue import table_of
from amgs_app.render.format import count, short_count, span
from amgs_app.render.glyphs import LEVELS, HeaderPart, facts_line, window_of
from amgs_app.views.sessions.lists import CLASSES, PageRow, rows_of
from amgs_app.views.sessions.results import SessionCache, SessionLosses, SessionRegrets

if TYPE_CHECKING:
    from amgs.wings.sessions.findings import SessionFinding
    from amgs.wings.sessions.losses import Loss, LostClass
    from amgs.wings.sessions.review import FillPoint, SessionFacts, SessionReview
    from amgs_app.render.rows import RowList
    from amgs_app.terminal.themes import Palette


TABS = ("overview", "turns", "window", "lost", "regret", "cache", "rules", "outlook")
"""Views of a session in its head."""
_HEAD = 4
"""Rows of the head, including the tabs."""
_GAP = 2
"""Cells between two tabs."""
_NAME = 12
_NEAR = 0.8


def overview(result: SessionReview, canvas: Canvas) -> Text:
    """Return the whole session: the strip of the window, then its first page."""
    return draw_session(canvas, result, None).render()


def head(region: Region, result: SessionReview, view: str) -> int:
    """Draw who and when, contents, problems, and the tabs; return the line below them."""
    facts, palette = result.facts, region.palette
    x = region.put(1, 0, f"{facts.agent} ", ink(palette.accent, bold=True))
    region.put(
        x, 0, clean(facts.title or facts.project or facts.path), ink(palette.text, bold=True), width=region.width - x
    )
    quiet = ink(palette.muted)
    parts = [*_facts(facts), *_describe_use(result)]
    facts_line(region, 1, [HeaderPart(n, ((part, quiet),)) for n, part in enumerate(parts)], x=1)
    wrong = " · ".join(result.wrong)
    line = f"✗ {wrong}" if wrong else "✓ nothing went wrong, as far as rules can tell"
    region.put(1, 2, clean(line), ink(palette.bad if wrong else palette.good, bold=bool(wrong)), width=region.width - 2)
    for name, (x, _) in tab_places().items():
        chosen = name == view
        region.put(x, 3, name, ink(palette.accent if chosen else palette.muted, bold=chosen))
        if chosen:
            region.shade(3, palette.selection, x=x - 1, width=len(name) + 2)
    return _HEAD


def tab_places() -> dict[str, tuple[int, int]]:
    """Return the first cell and the end of each tab in its line."""
    places, x = {}, 2
    for name in TABS:
        places[name] = (x, x + len(name))
        x += len(name) + _GAP
    return places


def tab_at(x: int, y: int) -> str | None:
    """Return the tab at a position of the figure; None if there is none."""
    return next((name for name, (start, end) in tab_places().items() if start <= x < end), None) if y == 3 else None


def _facts(facts: SessionFacts) -> list[str]:
    parts = []
    if facts.started and facts.ended:
        parts.append(
            f"{facts.started.astimezone():%Y-%m-%d %H:%M}, {span((facts.ended - facts.started).total_seconds())}"
        )
    parts += [facts.project.rstrip("/").rpartition("/")[2]] if facts.project else []
    parts.append(plural(facts.all_turns, "turn"))
    parts += [
        word
        for word in (
            facts.model,
            f"{plural(facts.side, 'turn')} of {plural(facts.subagents, 'subagent')}" if facts.side else "",
            f"{plural(facts.abandoned, 'turn')} taken back" if facts.abandoned else "",
        )
        if word
    ]
    if facts.partial:
        parts.insert(0, "the end of a large file, the rest is being read")
    return parts


def _describe_use(result: SessionReview) -> list[str]:
    """Return compactions, requests, cache use and cost in a few words each."""
    used = result.used
    parts = [plural(len(result.losses), "compaction") if result.losses else "never compacted"]
    if used.requests:
        parts.append(plural(used.requests, "request"))
        parts.append(f"cache {result.cache.share:.0%}")
        parts += [f"$ {used.cost:,.2f}"] if used.unpriced < used.requests else []
    return parts


def strip(region: Region, fills: Sequence[FillPoint], limit: int | None, cursor: int | None = None) -> None:
    """Draw the fill of the window over the session: a column per request, or the fullest of several, with compactions
    marked above.

    With at most one request, a line describes it. cursor: selected turn. The last line names the first and last turn.
    """
    palette = region.palette
    caption = _describe_strip(fills, limit)
    if len(fills) < 2:
        region.put(0, 0, caption, ink(palette.muted), width=region.width)
        return
    top = limit or max(fill.tokens for fill in fills) or 1
    rows = region.height - 1
    marked: set[int] = set()
    for x, points in enumerate(_columns(fills, region.width)):
        share = min(1.0, max(point.tokens for point in points) / top)
        compacted = any(point.compaction for point in points)
        style = _colour(palette, share, compacted=compacted)
        _column(region, x, rows, share, style)
        if cursor is not None and points[0].turn <= cursor <= points[-1].turn:
            region.column(x, 0, rows, "│", ink(palette.text))
        if compacted and x not in marked:
            marked.update(range(x, x + _columns_of(fills, region.width)))
            region.put(x, 0, "▼", ink(palette.bad, bold=True))
    region.put(0, rows, caption, ink(palette.muted), width=region.width)


def _describe_strip(fills: Sequence[FillPoint], limit: int | None) -> str:
    """Return the turns of a strip and what its full height means; for a single request, its tokens."""
    if not fills:
        return "The file counts no tokens."
    if len(fills) == 1:
        return f"turn {fills[0].turn}: {count(fills[0].tokens)}{f' of {count(limit)}' if limit else ''} tokens"
    top = (
        f"{count(limit)} tokens"
        if limit
        else f"{count(max(fill.tokens for fill in fills))} tokens, the most there were"
    )
    return f"turn {fills[0].turn} to {fills[-1].turn}; full at {top}"


def _columns(fills: Sequence[FillPoint], width: int) -> list[Sequence[FillPoint]]:
    """Return the points of each column: several if there are more points than columns, repeated if there are fewer."""
    number = len(fills)
    starts = [x * number // width for x in range(width + 1)]
    return [fills[start : max(start + 1, end)] for start, end in pairwise(starts)]


def _columns_of(fills: Sequence[FillPoint], width: int) -> int:
    """Return the most columns that a point takes."""
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
    """A line of the first page. turn: opened by enter, None for none. boundary, lost: what a compaction dropped."""

    pieces: tuple[Piece, ...]
    turn: int | None = None
    boundary: int | None = None
    lost: SessionFinding | None = None


def draw_session(
    canvas: Canvas,
    result: SessionReview,
    cursor: int | None,
    at: int | None = None,
    view: str = TABS[0],
    listed: RowList[Any] | None = None,
) -> Figure:
    """Return the head, the strip, and the list of a view, or the first page without a session. at: turn marked in the
    strip.
    """
    sheet = Figure(canvas)
    body = sheet.part(0, head(sheet, result, view))
    tall = _strip_height(canvas) if len(result.fills) > 1 else 0
    strip(body.part(1, 0, body.width - 2, tall + 1), result.fills, result.facts.window, at)
    region = body.part(0, tall + 2)
    if listed is not None:
        listed.draw_in(region, cursor)
        return sheet
    rows = overview_rows(result, canvas.palette, canvas.width)
    first = window_of(len(rows), region.height, cursor)
    for y, row in enumerate(rows[first : first + region.height]):
        region.lists(y, first + y)
        region.pieces(2, y, row.pieces, width=region.width - 2)
        if first + y == cursor:
            region.put(0, y, "▸", ink(sheet.palette.accent, bold=True))
            region.shade(y, sheet.palette.selection)
    return sheet


def _strip_height(canvas: Canvas) -> int:
    """Return the rows of the strip: a quarter of what is below the head."""
    return max(2, min(12, (canvas.height - _HEAD) // 4))


# --- the first page ------------------------------------------------------------------------------------------


def overview_rows(result: SessionReview, palette: Palette, width: int) -> list[SessionRow]:
    """Return the first page by parts, with the losses of each class below each compaction."""
    losses = {loss.boundary: loss for loss in result.losses}
    rows: list[SessionRow] = []
    part = ""
    for row in rows_of(result):
        if row.part != part:
            part = row.part
            rows.append(SessionRow(((part, ink(palette.accent, bold=True)),)))
        if row.part == "compactions" and row.turn in losses:
            loss = losses[row.turn]
            rows.append(SessionRow(_loss_pieces(loss, palette), loss.boundary, loss.boundary))
            rows += [
                SessionRow(
                    _class_pieces(loss_class, palette, width),
                    None,
                    loss.boundary,
                    loss_class.lost[0] if loss_class.lost else None,
                )
                for loss_class in loss.classes
            ]
        else:
            rows.append(SessionRow(_page_pieces(row, palette), row.turn))
    return rows


def _page_pieces(row: PageRow, palette: Palette) -> tuple[Piece, ...]:
    """`  result          1,204 tok     12 × of Read`."""
    tokens = "" if row.tokens is None else f"{short_count(row.tokens)} tok"
    size = tokens or ("" if row.seconds is None else span(row.seconds))
    times = "" if row.times is None else f"{row.times:,} ×"
    turn = "" if row.turn is None else f"{row.turn:,}"
    colour = palette.bad if row.alarm else palette.text
    return (
        (f"  {row.kind:<13.13} ", ink(palette.bad if row.alarm else palette.muted)),
        (f"{turn:>6} {times:>7} {size:>10}  " if turn or times or size else "", ink(palette.muted)),
        (clean(row.what), ink(colour)),
    )


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


def _class_pieces(loss_class: LostClass, palette: Palette, width: int) -> tuple[Piece, ...]:
    """`paths  ███▒▒░░  4 word for word, 20 in other words, 4 gone`."""
    wide = max(8, min(60, width - 66))
    shares = (loss_class.verbatim, loss_class.reworded, loss_class.gone)
    styles = (ink(palette.good), ink(palette.warn), ink(palette.bad))
    cells = [round(wide * number / loss_class.held) for number in shares[:2]]
    cells.append(max(0, wide - sum(cells)) if loss_class.gone else 0)
    bars: list[Piece] = [(sign * n, style) for sign, n, style in zip("█▒░", cells, styles, strict=True)]
    return (
        (f"  {CLASSES[loss_class.kind]:<{_NAME}}", ink(palette.text)),
        *bars,
        (" " * max(2, wide - sum(cells) + 2), None),
        (f"{loss_class.verbatim} word for word", styles[0]),
        (f", {loss_class.reworded} in other words", styles[1]),
        (f", {loss_class.gone} gone", styles[2]),
    )


_NOTE = "Made from the session's own file by rules, without a model."
_OPEN = "It holds words and paths of the session; --redact leaves them out."
_CLOSED = "Words and paths of the session are left out."


def of_session(result: SessionReview, palettes: tuple[Palette, Palette], *, redacted: bool) -> str:
    """Return the page of a session: the window, losses, what was needed again, and the cache."""
    facts = result.facts
    title = f"A session of {facts.agent}" if redacted else f"{facts.agent}: {facts.title or facts.project}"
    sections = [
        HtmlSection("The session", replace(table_of(result), digest=None), own=("part", "kind")),
        *(HtmlSection("The window", charts=(chart,)) for chart in _window(result)),
        HtmlSection("Lost", table_of(SessionLosses(facts, result.losses)), own=("class",)),
        HtmlSection("Needed again", table_of(SessionRegrets(facts, result.regrets, result.kinds)), own=("kind",)),
        HtmlSection("The cache", table_of(SessionCache(facts, result.cache)), own=("because",)),
    ]
    return page(title, f"{_NOTE} {_CLOSED if redacted else _OPEN}", sections, palettes, redacted=redacted)


def _window(result: SessionReview) -> tuple[str, ...]:
    """Return a chart of the window's fill; none if the file reports no tokens."""
    fills = result.fills
    if len(fills) < 2:
        return ()
    top = float(result.facts.window or max(fill.tokens for fill in fills) or 1)
    first, last = fills[0].turn, fills[-1].turn
    points = tuple((float(fill.turn), float(fill.tokens)) for fill in fills)
    chart = draw_lines(
        "The window",
        [ChartLine("tokens", points, f"{fills[-1].tokens:,}")],
        across=[(float(first), f"turn {first}"), (float(last), f"turn {last}")],
        up=[(0.0, "0"), (top / 2, f"{top / 2:,.0f}"), (top, f"{top:,.0f}")],
        limit=(0.8 * top, "80 %"),
    )
    return (chart,)
