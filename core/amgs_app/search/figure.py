"""The hits of a search: what each layer did, the list, and the chosen one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from amgs.text.plural import plural
from amgs.types import SearchResult
from amgs_app.render.candidates import (
    Listed,
    draw_candidate,
    draw_table,
    draw_waterfall,
    place_of_marked,
    title_of_rows,
)
from amgs_app.render.canvas import Canvas, Figure, clean, ink
from amgs_app.render.empty_state import notice
from amgs_app.render.format import milliseconds
from amgs_app.render.glyphs import HeaderPart, facts_line

_FILTERED = "No row matches the filter. F changes it; a blank one clears it."


def search(
    result: SearchResult | None,
    canvas: Canvas,
    *,
    selected: str | None = None,
    cursor: int | None = None,
    shown: Sequence[int] | None = None,
) -> Text:
    """The hits of a search in falling score, with the work of each layer above and the chosen hit's content
    below. shown, cursor: as for a frame.
    """
    if result is None:
        return notice(
            canvas,
            "No search yet",
            ("search “dome stall in May”",),
            "A search uses every layer: words, misspelt words, meaning, and the neighbours of what was found.",
        )
    return _search(result, canvas, selected if cursor is None else cursor, shown).render()


def rows_of_search(
    result: SearchResult, canvas: Canvas, *, cursor: int | None = None, shown: Sequence[int] | None = None
) -> Mapping[int, int]:
    """Which row of the table each line of the picture shows."""
    return _search(result, canvas, cursor, shown).rows


def _search(result: SearchResult, canvas: Canvas, marked: int | str | None, shown: Sequence[int] | None) -> Figure:
    sheet = Figure(canvas)
    palette = sheet.palette
    facts = [
        HeaderPart(0, ((f"“{clean(result.query)}”", ink(palette.accent, bold=True)),)),
        HeaderPart(1, ((plural(len(result.hits), "hit"), ink(palette.text)),)),
        HeaderPart(2, ((milliseconds(result.milliseconds), ink(palette.muted)),)),
    ]
    facts_line(sheet, 0, facts)
    y = 1 + draw_waterfall(sheet, 1, result.layers)
    if not result.hits:
        sheet.put(
            1,
            y + 1,
            "Nothing was found. Fewer or other words may; archived blocks are not searched.",
            ink(palette.muted),
            width=sheet.width - 2,
        )
        return sheet
    rest = sheet.part(0, y)
    rows = tuple(range(len(result.hits))) if shown is None else tuple(shown)
    hits = [result.hits[place] for place in rows]
    cursor = place_of_marked(hits, marked)
    each = 2 if rest.height >= 2 * len(hits) + 9 else 1
    below = max(min(rest.height - each * len(hits) - 1, rest.height * 2 // 3), rest.height // 3)
    below = below if rest.height >= 12 else 0
    table = Listed(hits, [place + 1 for place in rows], lambda _: result.weights, cursor)
    title = title_of_rows(plural(len(result.hits), "hit"), rows, len(result.hits))
    draw_table(rest.part(0, 0, None, rest.height - below), table, title, empty=_FILTERED)
    if below >= 4 and hits:
        draw_candidate(rest.part(0, rest.height - below), hits[cursor or 0], result.weights)
    return sheet
