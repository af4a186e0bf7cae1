"""Draw a frame or search: where candidates came from, the parts of their scores, whether they were selected, and the
text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from amgs.types import Frame, LedgerEntry
from amgs_app.render.candidates import draw_candidate, draw_waterfall, list_frame
from amgs_app.render.canvas import Canvas, Figure, Region, clean, cut, ink, width_of
from amgs_app.render.format import count, describe_coverage, milliseconds
from amgs_app.render.glyphs import HeaderPart, facts_line, gauge_pieces, notice_in, scroll_note, wrap

if TYPE_CHECKING:
    from amgs_app.render.candidates import CandidateRow
    from amgs_app.render.rows import RowList

Show = Literal["both", "candidates", "text"]

_NONE = "No block qualified."


def frame(
    result: Frame | None,
    canvas: Canvas,
    listed: RowList[CandidateRow] | None = None,
    cursor: int | None = None,
    *,
    show: Show = "both",
    text_offset: int = 0,
    lacks: str = "",
) -> Figure:
    """Draw an assembled frame: search layers, budget, candidates, and the text with its blocks.

    listed: the candidates that pass the filter; None for all. cursor: index of the selected candidate. show: table,
    text, or both as far as there is room. text_offset: first visible line of the text. lacks: sentence shown if no
    block qualified.
    """
    sheet = Figure(canvas)
    if result is None:
        notice_in(
            sheet,
            "No frame yet",
            ("frame assemble SESSION --query “…”",),
            "A frame is the text that a "
            "question gets: what the memory holds on it, chosen by score within a budget of tokens.",
        )
        return sheet
    _head(sheet, result)
    y = 1 + draw_waterfall(sheet, 1, result.layers)
    y += _ledger(sheet, y, result.ledger)
    if result.remarks and sheet.height - y >= 20:
        words = clean("; ".join(result.remarks))
        sheet.put(1, y, words, ink(sheet.palette.muted), width=sheet.width - 2)
        y += 1
    foot = int(result.coverage is not None and sheet.height - y >= 12)
    if foot and result.coverage:
        words = describe_coverage(result.coverage)
        sheet.put(1, sheet.height - 1, words, ink(sheet.palette.muted), width=sheet.width - 2)
    every = list_frame(result)
    rows = every if listed is None else listed
    table, detail, text = _split(sheet.part(0, y, None, sheet.height - y - foot), len(rows.items) + 1, show)
    if table is not None:
        hidden = len(every.items) - len(rows.items)
        title = every.title if canvas.width >= 72 else every.title.partition(": ")[2]
        title = f"{len(rows.items):,} shown of {title}" if hidden else title
        replace(rows, title=title).draw_under(table, cursor)
        if not rows.items:
            none = "No row matches the filter. F changes it." if every.items else f"{_NONE} {clean(lacks)}".rstrip()
            table.put(1, 1, none, ink(sheet.palette.muted), width=table.width - 2)
    chosen = rows.at(cursor or 0)
    if detail is not None and chosen is not None:
        draw_candidate(detail, chosen.item, chosen.weights)
    if text is not None:
        numbers: dict[str, int] = {}
        for row in every.items:
            # A composite may list a block once a part: the text came from the part that selected it.
            if row.item.fate == "selected" or row.item.block.id not in numbers:
                numbers[row.item.block.id] = row.number
        marked = rows.at(cursor)
        _text(text, result, numbers, marked.item.block.id if marked is not None else None, text_offset)
    return sheet


# --- head -------------------------------------------------------------------------------------------------


def _head(sheet: Figure, result: Frame) -> None:
    """Draw the line with name, query, tokens and time."""
    palette = sheet.palette
    full = result.tokens / result.budget if result.budget else 0.0
    colour = palette.bad if full > 1 else palette.accent
    gauge = gauge_pieces(full, 10, sheet.symbols, ink(colour), ink(palette.faint))
    query = clean(result.query)
    facts = [
        HeaderPart(0, ((clean(result.name), ink(palette.accent, bold=True)),)),
        HeaderPart(2, ((f"“{cut(query, max(12, sheet.width // 3))}”" if query else "no query", ink(palette.text)),)),
        HeaderPart(
            1,
            (
                (f"{count(result.tokens)}/{count(result.budget)} tok ", ink(palette.text)),
                *gauge,
                (f" {full:.0%}", ink(palette.muted)),
            ),
        ),
        HeaderPart(3, (("entropy ", ink(palette.muted)), (f"{result.entropy_bits:.1f} bit", ink(palette.text)))),
        HeaderPart(4, ((milliseconds(result.milliseconds), ink(palette.muted)),)),
        HeaderPart(5, ((result.as_of.strftime("%Y-%m-%d %H:%M"), ink(palette.muted)),)),
    ]
    facts_line(sheet, 0, facts)


def _ledger(sheet: Figure, y: int, ledger: Sequence[LedgerEntry]) -> int:
    """Draw the budget and use of each child of a composite frame; return the lines used."""
    if len(ledger) < 2:
        return 0
    palette, x = sheet.palette, 1
    for entry in ledger:
        name = cut(clean(entry.child), 12)
        used = f"{count(entry.used)}/{count(entry.budget)}" if entry.budget else "nothing to offer"
        sheet.pieces(
            x, y, [(f"{name} ", ink(palette.text, bold=True)), (used, ink(palette.text))], width=sheet.width - x
        )
        x += width_of(f"{name} {used}") + 3
    return 1


def _split(rest: Region, rows: int, show: Show) -> tuple[Region | None, Region | None, Region | None]:
    """Return the regions of table, selected candidate and text: side by side if very wide, else below each other."""
    if show == "text":
        return None, None, rest
    beside = show == "both" and rest.width >= 170
    left = rest.part(0, 0, rest.width * 11 // 20 - 1) if beside else rest
    right = rest.part(left.width + 2, 0) if beside else None
    below = show == "both" and not beside and rest.height >= 10
    table = (
        min(max(rows, 1) + 1, max(5, left.height * (3 if below else 4) // 5))
        if below or left.height >= 16
        else left.height
    )
    spare = left.height - table
    if below and spare < 26:
        return left.part(0, 0, None, table), None, left.part(0, table)
    detail = min(spare, 14)
    if detail < 4:
        return left, None, right
    if below:
        return left.part(0, 0, None, table), left.part(0, table, None, 9), left.part(0, table + 9)
    return left.part(0, 0, None, table), left.part(0, table, None, detail), right


# --- text -------------------------------------------------------------------------------------------------


def _text(region: Region, result: Frame, numbers: Mapping[str, int], selected: str | None, offset: int) -> None:
    """Draw the assembled text, with the number of each line's candidate at the left."""
    palette = region.palette
    lines = text_lines(result, region.width - 6)
    rows = region.height - 1
    first = min(max(0, offset), max(0, len(lines) - rows))
    if selected is not None and not offset:
        at = next((place for place, (_, block) in enumerate(lines) if block == selected), None)
        if at is not None and at >= first + rows:
            first = min(at, max(0, len(lines) - rows))
    shown = lines[first : first + rows]
    region.rule(0, f"assembled text, {count(result.tokens)} tok", scroll_note(first, len(shown), len(lines)))
    before: str | None = lines[first - 1][1] if 0 < first <= len(lines) else None
    for row, (line, block) in enumerate(shown, start=1):
        if block is None:
            region.put(5, row, line, ink(palette.muted))
        else:
            number = numbers.get(block, 0)
            colour = palette.accent if block == selected or number % 2 else palette.part_centrality
            if block != before or row == 1:
                region.put(0, row, str(number) if number else "?", ink(colour, bold=True), width=3, align="right")
            region.put(3, row, "▌", ink(colour))
            region.put(5, row, line, ink(palette.text))
            if block == selected:
                region.shade(row, palette.selection)
        before = block


def text_lines(result: Frame, width: int) -> list[tuple[str, str | None]]:
    """Wrap the frame's text; return each line with its block's id (None for the template's words). Blank lines are
    dropped.
    """
    lines: list[tuple[str, str | None]] = []
    for span in result.spans:
        piece = result.text[span.start : span.end].strip("\n")
        if not piece.strip():
            continue
        lines += [(line, span.block_id) for line in wrap(piece, max(8, width), 10_000) if line.strip()]
    return lines
