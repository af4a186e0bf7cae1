"""Small drawings inside figures: bars, gauges, sparklines, histograms, header lines, wrapped text, pages of
lists, and an empty pane with its purpose and the command that fills it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.style import Style
from rich.text import Text

from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, cut, ink, width_of
from amgs_app.terminal.output import Symbols
from amgs_app.terminal.themes import Palette

EIGHTHS = " ▏▎▍▌▋▊▉█"
LEVELS = "▁▂▃▄▅▆▇█"
DOWN = "▔▀█"
SHADES = "█▓▒░·"
"""Characters for levels of detail, finest first."""


def bar(share: float, width: int, symbols: Symbols) -> str:
    """Return a bar of at most `width` cells, exact to an eighth of a cell (to a cell in ASCII); any share above 0 is
    visible.
    """
    share = min(1.0, max(0.0, share))
    if symbols == "ascii":
        cells = round(share * width)
        return "#" * max(cells, 1 if share > 0 and width else 0)
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    return "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")


def gauge(region: Region, x: int, y: int, width: int, share: float, style: Style | None) -> int:
    """Draw a bar on a visible track; return the x behind it."""
    pieces = gauge_pieces(share, width, region.symbols, style or Style(), ink(region.palette.faint))
    region.pieces(x, y, pieces, width=width)
    return x + width


def gauge_pieces(share: float, width: int, symbols: Symbols, style: Style, track: Style) -> list[Piece]:
    """Return a bar and its track as runs of text.

    The track shows through a partly filled cell, so that a full bar differs from an almost full bar.
    """
    full = bar(share, width, symbols)
    whole = full.rstrip(EIGHTHS[:-1])
    part = (full[len(whole) :], style + Style(bgcolor=track.color))
    return [(whole, style), part, ("·" * (width - len(full)), track)]


def sparkline(values: Sequence[float], width: int) -> str:
    """Return the last `width` values as heights from lowest to highest; a constant series is drawn at the bottom."""
    shown = list(values)[-width:] if width > 0 else []
    if not shown:
        return ""
    floor = min(shown)
    reach = max(shown) - floor
    if reach <= 0:
        return LEVELS[0] * len(shown)
    return "".join(LEVELS[min(7, max(0, int((value - floor) / reach * 8)))] for value in shown)


def histogram(counts: Sequence[float], rows: int) -> list[str]:
    """Return columns of counts as `rows` lines, top line first; the tallest fills them, and any count above 0 is
    visible.
    """
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
    """Distribute whole cells over parts so that they sum to `cells` (largest remainder; the first part wins a tie)."""
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
    """Return a dot whose size grows with a count; " " for 0."""
    if number <= 0:
        return " "
    return "•●"[min(1, int(2 * number / (most + 1)))]


@dataclass(frozen=True, slots=True)
class HeaderPart:
    """A part of a header line; parts with a high rank are dropped first when the line is narrow."""

    rank: int
    pieces: tuple[Piece, ...]

    @property
    def width(self) -> int:
        return sum(width_of(text) for text, _ in self.pieces)


def facts_line(region: Region, y: int, facts: Sequence[HeaderPart], *, gap: int = 3, x: int = 0) -> list[HeaderPart]:
    """Write the parts that fit, in order, dropping the highest ranks first; return those dropped."""
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
    """Return the index of the first visible row: the offset, unless the selected row needs another page.

    Paging, not scrolling line by line, keeps everything but the cursor still while it moves down a page.
    """
    last = max(0, total - rows)
    first = min(max(0, offset), last)
    if selected is not None and rows > 0 and not first <= selected < first + rows:
        first = min(selected // rows * rows, last)
    return first


def scroll_note(first: int, shown: int, total: int) -> str:
    """Return `1–12 of 97`, `none of 97` if no row fits, or "" if all are shown."""
    if shown >= total:
        return ""
    return f"{first + 1}–{first + shown} of {total}" if shown > 0 else f"none of {total}"


HOLDS_SIGNS: Final[Mapping[bool | None, str]] = {True: "✓", False: "✗", None: "·"}
"""Sign for true, false, and unknown."""


def holds_sign(holds: bool | None, palette: Palette) -> tuple[str, Style]:
    """Return the sign of a truth value in its colour."""
    colours = {True: palette.good, False: palette.bad, None: palette.muted}
    return HOLDS_SIGNS[holds], ink(colours[holds], bold=holds is not None)


def wrap(text: str, width: int, limit: int) -> list[str]:
    """Break text at spaces into at most `limit` lines of `width` cells; the last ends with … if text is left. Longer
    words are split.
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
    """Return the longest beginning of a word that fits into `width` cells, at least one character."""
    taken = 0
    for place, sign in enumerate(word):
        taken += width_of(sign)
        if taken > width:
            return word[: max(place, 1)]
    return word


def notice(canvas: Canvas, title: str, commands: Sequence[str], sentence: str) -> Text:
    """Draw a title, a sentence and commands to try in the middle of the canvas."""
    sheet = Figure(canvas)
    notice_in(sheet, title, commands, sentence)
    return sheet.render()


def notice_in(region: Region, title: str, commands: Sequence[str], sentence: str) -> None:
    """Draw a `notice` in part of a figure."""
    palette = region.palette
    room = max(1, region.height - 3 - len(commands))
    lines = wrap(sentence, max(8, min(64, region.width - 2)), room + 1)
    if len(lines) > room:  # few lines: they go from edge to edge
        lines = wrap(sentence, max(8, region.width - 2), room)
    tall = region.height >= len(lines) + len(commands) + 4
    high = 1 + len(lines) + len(commands) + (2 if tall else 0)
    y = max(0, (region.height - high) // 2)
    region.put(0, y, title, ink(palette.accent, bold=True), width=region.width, align="centre")
    y += 2 if tall else 1
    for line in lines:
        region.put(0, y, line, ink(palette.muted), width=region.width, align="centre")
        y += 1
    y += 1 if tall else 0
    beside = "   ".join(f"› {verb}" for verb in commands)
    if region.height - y < len(commands) and width_of(beside) <= region.width:  # few lines: all on the same line
        x = (region.width - width_of(beside)) // 2
        for verb in commands:
            region.put(x, y, "›", ink(palette.accent))
            x = region.put(x + 2, y, verb, ink(palette.text, bold=True)) + 3
        return
    widest = max((width_of(verb) for verb in commands), default=0) + 2
    x = max(0, (region.width - widest) // 2)
    for verb in commands:
        region.put(x, y, "›", ink(palette.accent))
        region.put(x + 2, y, cut(verb, region.width - x - 2), ink(palette.text, bold=True))
        y += 1
