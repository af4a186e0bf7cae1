"""Figure of a search: what each layer did, the hits, and the selected one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs.types import SearchResult
from amgs_app.render.candidates import draw_candidate, draw_waterfall, list_hits
from amgs_app.render.canvas import Canvas, Figure, clean, ink
from amgs_app.render.empty_state import notice_in
from amgs_app.render.format import milliseconds
from amgs_app.render.glyphs import HeaderPart, facts_line

if TYPE_CHECKING:
    from amgs_app.render.candidates import CandidateRow
    from amgs_app.render.rows import RowList


def search(
    result: SearchResult | None, canvas: Canvas, listed: RowList[CandidateRow] | None = None, cursor: int | None = None
) -> Figure:
    """Return the figure: layers above, hits by falling score, the selected hit's content below.

    listed: hits that match a filter; None for all.
    """
    sheet = Figure(canvas)
    if result is None:
        notice_in(
            sheet,
            "No search yet",
            ("search “dome stall in May”",),
            "A search uses every layer: words, misspelt words, meaning, and the neighbours of what was found.",
        )
        return sheet
    palette = sheet.palette
    facts = [
        HeaderPart(0, ((f"“{clean(result.query)}”", ink(palette.accent, bold=True)),)),
        HeaderPart(1, ((plural(len(result.hits), "hit"), ink(palette.text)),)),
        HeaderPart(2, ((milliseconds(result.milliseconds), ink(palette.muted)),)),
    ]
    facts_line(sheet, 0, facts)
    every = list_hits(result)
    rows = every if listed is None else listed
    if len(rows.items) < len(every.items):
        rows = replace(rows, title=f"{len(rows.items):,} shown of {every.title}")
    rest = sheet.part(0, 1 + draw_waterfall(sheet, 1, result.layers))
    row_height = 2 if rest.height >= 2 * len(rows.items) + 10 else 1
    below = min(rest.height - row_height * len(rows.items) - 2, rest.height * 2 // 3)
    below = max(below, rest.height // 3) if row_height == 1 else below
    below = below if rest.height >= 12 and rows.items else 0
    rows.draw_under(rest.part(0, 0, None, rest.height - below), cursor)
    chosen = rows.at(cursor or 0)
    if below >= 4 and chosen is not None:
        draw_candidate(rest.part(0, rest.height - below), chosen.item, result.weights)
    return sheet
