"""Draw the live working context: a map of the lifetime, the text that the model reads, explanations, and the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from amgs.text.words import plural
from amgs_app.focus.figure_window import draw_answer, draw_window, list_memory, number_blocks
from amgs_app.focus.rows import WHY, list_decisions
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, ink, width_of
from amgs_app.render.format import UNTRAINED, WARNING, count, milliseconds, nothing_alike, share, unheld
from amgs_app.render.glyphs import HeaderPart, facts_line, gauge_pieces, notice_in, wrap
from amgs_app.render.level_map import MapRows, draw_map, plan_rows
from amgs_focus.views import EntryExplanation, FocusView

if TYPE_CHECKING:
    from amgs_focus.dependence import AnswerDependence

Side = Literal["window", "memory"]
BOTH_FROM, THREE_FROM = 100, 160
"""Columns from which memory and window stand side by side, and the explanation beside them."""
_STRIP_FROM = 16
"""Lines from which the map gets its axis and legend."""
_EMPTY = (
    "No working context yet",
    ("frame assemble SESSION --query “…”", "frame open", "focus step 32"),
    "A frame becomes the lifetime of the frozen model. "
    "While it decodes, what matters is read word for word and the rest as gists.",
)


def focus(
    view: FocusView | None,
    canvas: Canvas,
    *,
    selected: int | None = None,
    why: EntryExplanation | None = None,
    zoom: float = 1.0,
    offset: int = 0,
    side: Side = "window",
    depends: AnswerDependence | None = None,
    numbers: bool = False,
) -> Figure:
    """Draw the working context.

    selected: index into view.entries. why: explanation of that entry. zoom, offset: of the map. side: what is shown if
    there is no room for both memory and window. depends: which block each word of the answer depends on. numbers: show
    the whole map and the last refocus instead of the texts.
    """
    sheet = Figure(canvas)
    if view is None or not view.entries:
        notice_in(sheet, *_EMPTY)
        return sheet
    place = start_of(view) if selected is None else selected
    _draw_head(sheet, view)
    if numbers:
        _draw_numbers(sheet, view)
    else:
        sheet.put(1, 1, describe_reading(view, sheet.width - 2), ink(sheet.palette.text), width=sheet.width - 2)
    top = 2
    for warning in _warnings(view):
        for line in wrap(warning, max(8, sheet.width - 2), 2 if sheet.height >= 20 else 1):
            sheet.put(1, top, line, ink(sheet.palette.warn))
            top += 1
    tall = sheet.height >= _STRIP_FROM
    rows = MapRows(1, 0, tall, 0, 0, 0, 0, tall)
    if numbers:
        rows = plan_rows(view, max(1, (sheet.height - top) * 3 // 5))
    draw_map(sheet.part(0, top), view, rows, zoom=zoom, offset=offset, selected=place)
    body = sheet.part(0, top + rows.total)
    height, wide = body.height, sheet.width
    lower = height * 3 // 5 if height >= 12 else 0

    def draw_memory(region: Region) -> None:
        memory, start = list_memory(view), view.entries[place].start
        memory.draw_under(region, next((n for n, text in enumerate(memory.items) if text.end > start), None))

    def draw_why(region: Region) -> None:
        if why is not None:
            WHY.of("", (why,)).draw_detail(region, why)

    def draw_reading(region: Region) -> None:
        lit = number_blocks(depends)
        needed = 3 + len(wrap(view.text, max(8, region.width - 3), height)) + 2 * (depends is not None)
        below = 0 if height < 6 else min(needed, height // 3)
        draw_window(region.part(0, 0, None, height - below), view, place, lit)
        if below:
            draw_answer(region.part(0, height - below), view, depends)

    if numbers:
        draw_why(body.part(0, 0, wide // 2))
        list_decisions(view).draw_under(body.part(wide // 2 + 1, 0))
        return sheet
    left = wide if wide < BOTH_FROM else wide * (27 if wide >= THREE_FROM else 40) // 100
    if side == "memory" or left < wide:
        high = 0 if wide >= THREE_FROM else lower
        draw_memory(body.part(0, 0, left, height - high))
        draw_why(body.part(0, height - high, left))
    if left < wide or side == "window":
        right = wide * 3 // 10 if wide >= THREE_FROM else 0
        draw_reading(body.part(left + 1 if left < wide else 0, 0, wide - left - right - 2 if right else None))
        draw_why(body.part(wide - right, 0))
    return sheet


def first_token(view: FocusView) -> int | None:
    """Return the first token of the best block that the question's search found; None if there is none."""
    return view.found[0] * view.block_size if view.found else None


def start_of(view: FocusView) -> int:
    """Return the index of the entry to select first."""
    return entry_holding(view, first_token(view))


def entry_holding(view: FocusView | None, token: int | None) -> int:
    """Return the index of the entry that holds a lifetime token; the last entry for None or a token that none holds."""
    entries = view.entries if view is not None else ()
    last = max(0, len(entries) - 1)
    if token is None:
        return last
    return next((place for place, entry in enumerate(entries) if entry.start <= token < entry.end), last)


def describe_reading(view: FocusView, width: int) -> str:
    """Return a sentence about what the model reads as tokens and as gists, at most `width` cells wide."""
    whole = sum(entry.end - entry.start for entry in view.entries if entry.level == 0)
    rest = sum(entry.end - entry.start for entry in view.entries if entry.level)
    gists = plural(sum(entry.level > 0 for entry in view.entries), "gist")
    read = f"The model reads {count(whole)} of {plural(whole + rest, 'token')} word for word"
    sentences = [
        f"{read}; of the other {count(rest)} only {gists}: one vector for {view.block_size} tokens or more.",
        f"{read}, the other {count(rest)} as {gists}.",
        f"Word for word: {count(whole)} of {plural(whole + rest, 'token')}, the rest as {gists}.",
    ]
    if not rest:
        sentences = [f"{read}."]
    return next((sentence for sentence in sentences if width_of(sentence) <= width), sentences[-1])


def _warnings(view: FocusView) -> list[str]:
    """Return the sentences that warn about the view: no block found, untrained parts, spans without tokens."""
    warnings = [nothing_alike(view)] if view.unanswered else []
    warnings += [WARNING] if view.untrained else []
    return warnings + ([unheld(view)] if view.unheld else [])


def _part(sheet: Figure, rank: int, label: str, value: str, *more: Piece) -> HeaderPart:
    """Return a labelled value of the header. rank: 0 is cut last."""
    return HeaderPart(
        rank, ((f"{label} ", ink(sheet.palette.muted)), (value, ink(sheet.palette.text, bold=True)), *more)
    )


def _draw_head(sheet: Figure, view: FocusView) -> None:
    """Draw the header: lifetime, window, next refocus, and whether the run is live."""
    palette = sheet.palette
    full = view.budget_utilization
    gauge = gauge_pieces(full, 10, sheet.symbols, ink(palette.bad if full > 1 else palette.accent), ink(palette.faint))
    due = "now" if view.next_refocus_in == 0 else f"in {plural(view.next_refocus_in, 'token')}"
    live: Piece = ("● live", ink(palette.good, bold=True))
    if not view.live:
        live = (f"◂ step {count(view.position)} of {count(view.head)}", ink(palette.warn, bold=True))
    elif view.finished:
        live = ("■ finished", ink(palette.good, bold=True))
    facts = [
        _part(sheet, 2, "life", count(view.lifetime), (" tokens", ink(palette.muted))),
        _part(sheet, 0, "window", f"{count(view.used)} of {count(view.window)} ", *gauge),
        _part(sheet, 3, "next refocus", due),
        *([HeaderPart(1, ((UNTRAINED, ink(palette.warn)),))] if view.untrained else []),
        HeaderPart(1, (live,)),
    ]
    facts_line(sheet, 0, facts)


def _draw_numbers(sheet: Figure, view: FocusView) -> None:
    """Draw the run's figures in a single line."""
    cost = f" ≈ {milliseconds(view.predicted_ms)}" if view.predicted_ms > 0 else ""
    numbers = (
        ("step", count(view.step)),
        ("read anew", f"{count(view.dirty)}{cost}"),
        ("changed a refocus", share(view.swap_rate)),
        ("unchanged for", f"{view.mean_residency:.1f} refocuses"),
        ("model", f"{view.model} {view.precision}"),
        ("gist", f"{view.gist}, scores {view.scorer}"),
    )
    facts_line(sheet, 1, [_part(sheet, rank, label, value) for rank, (label, value) in enumerate(numbers)])
