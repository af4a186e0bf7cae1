"""The small drawings inside the pictures: bars, gauges, sparklines, diverging bars, lines that fit, pages of lists.

Each returns text whose width is given or known, or draws into a region; where only ASCII can be shown the sheet
translates, or, where a partial block would lie, the mark itself draws coarser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.style import Style

from amgs_app.render.canvas import Piece, Region, clean, cut, ink, width_of
from amgs_app.terminal.screen import Symbols
from amgs_app.terminal.themes import Palette

EIGHTHS = " ▏▎▍▌▋▊▉█"
LEVELS = "▁▂▃▄▅▆▇█"
DOWN = "▔▀█"
SHADES = "█▓▒░·"
"""By level of detail: the finest is the densest."""


def bar(share: float, width: int, symbols: Symbols) -> str:
    """Return a filled part of `width` cells, to an eighth of a cell (whole cells in ASCII); anything above 0 shows."""
    share = min(1.0, max(0.0, share))
    if symbols == "ascii":
        cells = round(share * width)
        return "#" * max(cells, 1 if share > 0 and width else 0)
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    return "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")


def gauge(region: Region, x: int, y: int, width: int, share: float, style: Style | None) -> int:
    """Return a bar on a visible track; returns the x behind it."""
    pieces = gauge_pieces(share, width, region.symbols, style or Style(), ink(region.palette.faint))
    region.pieces(x, y, pieces, width=width)
    return x + width


def gauge_pieces(share: float, width: int, symbols: Symbols, style: Style, track: Style) -> list[Piece]:
    """Return the same as runs of text. The track goes on behind a cell that is filled in part, so that a full bar
    differs from one that is nearly full.
    """
    full = bar(share, width, symbols)
    whole = full.rstrip(EIGHTHS[:-1])
    part = (full[len(whole) :], style + Style(bgcolor=track.color))
    return [(whole, style), part, ("·" * (width - len(full)), track)]


def sparkline(values: Sequence[float], width: int) -> str:
    """Return the last `width` values as heights; a constant series is drawn at its foot."""
    shown = list(values)[-width:] if width > 0 else []
    if not shown:
        return ""
    floor = min(shown)
    reach = max(shown) - floor
    if reach <= 0:
        return LEVELS[0] * len(shown)
    return "".join(LEVELS[min(7, max(0, int((value - floor) / reach * 8)))] for value in shown)


def histogram(counts: Sequence[float], rows: int) -> list[str]:
    """Columns of counts, `rows` lines high, the tallest full; above 0 always shows. Top line first."""
    top = max(counts, default=0)
    lines = [[" "] * len(counts) for _ in range(rows)]
    for place, value in enumerate(counts):
        eighths = max(round(value / top * rows * 8), 1) if value else 0
        for row in range(rows):
            here = min(8, eighths - 8 * (rows - 1 - row))
            if here > 0:
                lines[row][place] = LEVELS[here - 1]
    return ["".join(line) for line in lines]


def apportion(parts: Sequence[float], cells: int) -> list[int]:
    """Whole cells for each part so that they add up to `cells` (largest remainder, the first wins a tie)."""
    total = sum(parts)
    if total <= 0 or cells <= 0:
        return [0] * len(parts)
    exact = [part / total * cells for part in parts]
    whole = [int(value) for value in exact]
    order = sorted(range(len(parts)), key=lambda place: (whole[place] - exact[place], place))
    for place in order[: cells - sum(whole)]:
        whole[place] += 1
    return whole


def dot_for(number: int, most: int) -> str:
    """Return a dot whose area grows with a count."""
    if number <= 0:
        return " "
    return "•●"[min(1, int(2 * number / (most + 1)))]


@dataclass(frozen=True, slots=True)
class HeaderPart:
    """A piece of a header line. The lower the rank the longer it stays when the line gets narrow."""

    rank: int
    pieces: tuple[Piece, ...]

    @property
    def width(self) -> int:
        return sum(width_of(text) for text, _ in self.pieces)


def facts_line(region: Region, y: int, facts: Sequence[HeaderPart], *, gap: int = 3, x: int = 0) -> list[HeaderPart]:
    """Write the facts that fit, in their order, the highest ranks dropped first; returns what was dropped."""
    parts = list(facts)
    dropped: list[HeaderPart] = []
    while len(parts) > 1 and sum(fact.width for fact in parts) + gap * (len(parts) - 1) > region.width - x:
        worst = max(parts, key=lambda fact: fact.rank)
        parts.remove(worst)
        dropped.append(worst)
    for fact in parts:
        x = region.pieces(x, y, fact.pieces) + gap
    return dropped


def window_of(total: int, rows: int, selected: int | None, offset: int = 0) -> int:
    """Return the first of `rows` visible items: from the offset, or else the page that holds the selected one.

    Page by page, not line by line: while the cursor walks down a page, nothing but the cursor moves.
    """
    last = max(0, total - rows)
    first = min(max(0, offset), last)
    if selected is not None and rows > 0 and not first <= selected < first + rows:
        first = min(selected // rows * rows, last)
    return first


def scroll_note(first: int, shown: int, total: int) -> str:
    """`1–12 of 97`, `none of 97` without room, or nothing when all are shown."""
    if shown >= total:
        return ""
    return f"{first + 1}–{first + shown} of {total}" if shown > 0 else f"none of {total}"


HOLDS_SIGNS: Final[Mapping[bool | None, str]] = {True: "✓", False: "✗", None: "·"}
"""Whether something holds; · where nothing was looked at."""


def holds_sign(holds: bool | None, palette: Palette) -> tuple[str, Style]:
    """Return its sign in the colour of good, bad or neither."""
    colours = {True: palette.good, False: palette.bad, None: palette.muted}
    return HOLDS_SIGNS[holds], ink(colours[holds], bold=holds is not None)


def wrap(text: str, width: int, limit: int) -> list[str]:
    """Break text at spaces into lines of at most `width` cells; long words are cut hard; the last of
    `limit` lines ends with … when something is left.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in clean(paragraph).split(" "):
            while width_of(word) > width:
                if line:
                    lines.append(line)
                    line = ""
                head = _head(word, width)
                lines.append(head)
                word = word[len(head) :]
            if line and width_of(line) + 1 + width_of(word) > width:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
        if len(lines) > limit:
            break
    if len(lines) > limit:
        lines = lines[:limit]
        if lines:
            lines[-1] = cut(lines[-1], width - 2).removesuffix("…") + " …"
    return lines


def _head(word: str, width: int) -> str:
    """As many first characters as fit into `width` cells, at least one."""
    taken = 0
    for place, sign in enumerate(word):
        taken += width_of(sign)
        if taken > width:
            return word[: max(place, 1)]
    return word
