"""The last zoom of the map: single tokens with their text, and which of them the model has before it."""

from __future__ import annotations

from amgs_app.render.canvas import Piece, Region, clean, ink, width_of
from amgs_app.render.format import count
from amgs_app.render.level_columns import MOST_READ
from amgs_app.render.level_map import GUTTER
from amgs_focus.records import TokenSpan
from amgs_focus.views import EntryView, FocusView

Line = list[Piece]


def token_lines(region: Region, view: FocusView, span: TokenSpan, selected: int | None) -> list[Line]:
    """The span as lines of the region's width, a line for each entry at least.

    An entry in tokens stands bold; one held as a gist stands faint, for its words are not there. The selected entry
    has ▸.
    """
    width = region.width - GUTTER
    lines: list[Line] = []
    for place, entry in enumerate(view.entries):
        low, high = max(entry.start, span.start), min(entry.end, span.end)
        if low < high and width >= 16:
            texts = span.texts[low - span.start : high - span.start]
            lines += _entry(region, entry, low, texts, width, chosen=place == selected)
    return lines


def draw_tokens(region: Region, lines: list[Line]) -> None:
    """As many of the lines as fit; the last ends with … when some are left."""
    region.put(0, 0, "text", ink(region.palette.muted))
    for row, line in enumerate(lines[: region.height]):
        region.pieces(GUTTER, row, line)
    if len(lines) > region.height > 0:
        region.put(region.width - 1, region.height - 1, "…", ink(region.palette.muted))


def _entry(
    region: Region, entry: EntryView, start: int, texts: tuple[str, ...], width: int, *, chosen: bool
) -> list[Line]:
    palette = region.palette
    held = entry.level == 0
    mark = "▸" if chosen else " "
    head = f"{mark}L{entry.level} {count(start)} "
    style = ink(palette.text, bold=True) if held else ink(palette.muted)
    parted = ink(palette.faint)
    line: Line = [(head, ink(palette.accent, bold=chosen)), ("" if held else "(gist) ", ink(palette.muted))]
    used = width_of(head) + (0 if held else 7)
    lines = [line]
    for text in texts:
        shown = _shown(text)
        if used + width_of(shown) + 1 > width and len(line) > 2:
            line = [(" " * width_of(head), None)]
            lines.append(line)
            used = width_of(head)
        line += [(shown, style), ("│", parted)]
        used += width_of(shown) + 1
    return lines


def _shown(text: str) -> str:
    """A token as it can stand on a line: a line break as \\n, nothing as ·, the blank before a word kept."""
    if not text:
        return "·"
    breaks = text.replace("\n", "\\n")
    lead = " " if breaks[:1] == " " else ""
    return lead + clean(breaks) or " "


def is_read(start: int, end: int) -> bool:
    """Whether so few tokens are in sight that they are shown with their text."""
    return 0 < end - start <= MOST_READ
