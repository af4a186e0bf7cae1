"""Two contexts of one conversation, one strip under the other, and the messages that fare differently."""

from __future__ import annotations

from collections.abc import Sequence

from amgs.text.plural import plural
from amgs.types.conversation import SPAN_FATES, ContextComparison, FateChange, Message, OptimisedContext
from amgs_app.conversation.figure import MIXED, SIGNS, StripCell, draw_originals, fate_style, strip_cells
from amgs_app.render.canvas import Canvas, Figure, Region, clean, cut, ink
from amgs_app.render.format import count
from amgs_app.render.glyphs import HeaderPart, ListPage, facts_line


def figure(
    result: ContextComparison,
    canvas: Canvas,
    cursor: int | None = None,
    shown: Sequence[int] | None = None,
    originals: Sequence[Message] = (),
) -> Figure:
    """A over B at the same budget; it knows which change each of its lines shows. cursor: among the changes that are
    shown. originals: what that one says.
    """
    sheet = Figure(canvas)
    palette = sheet.palette
    a, b = result.a, result.b
    places = range(len(result.changes)) if shown is None else shown
    changes = [result.changes[place] for place in places]
    chosen = changes[cursor] if cursor is not None and 0 <= cursor < len(changes) else None
    differ = sum(one.last - one.first + 1 for one in result.changes)
    facts_line(
        sheet,
        0,
        [
            HeaderPart(1, ((cut(clean(a.conversation), 40), ink(palette.accent, bold=True)),)),
            HeaderPart(0, ((f"{plural(differ, 'message')} differ", ink(palette.text)),)),
            HeaderPart(2, ((f"budget {count(a.budget)} tok", ink(palette.muted)),)),
        ],
        x=1,
    )
    x = sheet.put(1, 1, "? ", ink(palette.accent, bold=True))
    sheet.put(x, 1, clean(a.query) or "no question", ink(palette.text), width=sheet.width - x - 1)
    y = 2
    for name, one in (("A", a), ("B", b)):
        y += _strip(sheet.part(1, y, sheet.width - 2), name, one, chosen)
    rest = sheet.part(0, y)
    detail = rest.height // 3 if rest.height >= 9 else 0
    _changes(rest.part(0, 0, None, rest.height - detail), changes, cursor, result)
    if chosen is not None:
        told = f"A {chosen.before}, B {chosen.after}"
        draw_originals(rest.part(0, rest.height - detail), chosen.handle, chosen.first, chosen.last, told, originals)
    return sheet


def _strip(region: Region, name: str, context: OptimisedContext, chosen: FateChange | None) -> int:
    """What one of them keeps, in a line of words, the strip, and a line for the cursor; gives the lines it takes."""
    palette = region.palette
    x = region.pieces(
        0,
        0,
        [
            (f"{name} {context.strategy}", ink(palette.text, bold=True)),
            (f"  {count(context.tokens)} tok", ink(palette.text)),
        ],
    )
    for fate in SPAN_FATES:
        number = context.count(fate)
        if number:
            pieces = [(f"   {SIGNS[fate]}", fate_style(fate, palette)), (f" {number:,} {fate}", ink(palette.muted))]
            x = region.pieces(x, 0, pieces)
    cells, _ = strip_cells(context, region.width)
    for place, cell in enumerate(cells):
        sign = MIXED if cell.fate is None else SIGNS[cell.fate]
        style = ink(palette.text) if cell.fate is None else fate_style(cell.fate, palette)
        region.put(place, 1, sign, style)
        if _holds(cell, chosen):
            region.put(place, 2, "▲", ink(palette.accent, bold=True))
    return 3


def _holds(cell: StripCell, chosen: FateChange | None) -> bool:
    return chosen is not None and cell.first <= chosen.last and cell.last >= chosen.first


def _changes(region: Region, changes: Sequence[FateChange], cursor: int | None, result: ContextComparison) -> None:
    """The messages that fare differently, one run a line."""
    if region.height < 1:
        return
    palette = region.palette
    quiet = ink(palette.muted)
    if not changes:
        region.put(1, 0, "Both make the same of every message.", quiet, width=region.width - 2)
        return
    page = ListPage.around(changes, region.height - 1, cursor)
    wide = max([6, *(len(one.handle) for one in changes)])
    a_x, b_x = wide + 3, wide + 15
    region.put(2, 0, "handle", quiet)
    region.put(a_x, 0, f"A {result.a.strategy}", quiet, width=11)
    region.put(b_x, 0, f"B {result.b.strategy}", quiet, width=12)
    region.put(b_x + 13, 0, "tokens", quiet, width=7, align="right")
    region.put(b_x + 22, 0, page.note, quiet)

    def paint(line: Region, one: FateChange, here: bool) -> None:
        line.put(2, 0, one.handle, ink(palette.text, bold=here))
        line.put(a_x, 0, f"{SIGNS[one.before]} {one.before}", fate_style(one.before, palette))
        line.put(b_x, 0, f"{SIGNS[one.after]} {one.after}", fate_style(one.after, palette))
        line.put(b_x + 13, 0, count(one.tokens), ink(palette.text), width=7, align="right")

    page.draw(region.part(0, 1), paint)
