"""A figure's grid of cells. It clips at its edges and renders as a single Rich text.

Every figure returns lines of exactly the canvas's width and at most its height, whatever the content holds (wide
characters, control characters, tabs): figures only place text, the grid measures it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from rich.cells import cell_len
from rich.style import Style
from rich.text import Span, Text

from amgs_app.terminal.output import Symbols, printable, printable_line
from amgs_app.terminal.themes import Palette

Align = Literal["left", "right", "centre"]
Piece = tuple[str, Style | None]
"""A run of text in a single style."""

_JOINERS = "\u200d\ufe0f"

# The drawing signs of the pictures where only ASCII can be shown; a character each, so nothing moves.
_ASCII = str.maketrans(
    {
        **dict.fromkeys("─━╌┄═", "-"),
        **dict.fromkeys("│┃╎┆▏▕▌▐", "|"),
        **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪", "+"),
        **dict(zip("▁▂▃▄▅▆▇█", "_.-=+*%#", strict=True)),
        **dict(zip("▉▊▋▍▎░▒▓▔▀", '##+--:=*"^', strict=True)),
        **dict(zip("▲△▴▼▽▾◀◂▶▸←→↑↓↔↻°", "^^^vvv<<>><>^v=oo", strict=True)),
        **dict(zip("●◉○◌◆◇•·∙…✓✗×–—−±≈Δτλθσ≥≤∞", "*@oo#o*..~vxx---~~dtlts><8", strict=True)),
        **dict(zip("“”‘’«»‹›⋯╱╲", "\"\"''<><>~/\\", strict=True)),
        **dict(zip("▖▗▘▝▚▞", ",,''\\/", strict=True)),
        **dict.fromkeys("┏┓┗┛┣┫┳┻╋╔╗╚╝┍┑┕┙┎┒┖┚", "+"),
        **dict(zip("■▪▬◈⏎⇧◐", "##-*<^o", strict=True)),
    }
)


@dataclass(frozen=True, slots=True)
class Canvas:
    """Size in cells, palette, and the characters that the terminal can show."""

    width: int
    height: int
    palette: Palette = field(default_factory=Palette)
    symbols: Symbols = "braille"

    def with_size(self, width: int, height: int) -> Canvas:
        """Return the same canvas with another size."""
        return replace(self, width=width, height=height)


@lru_cache(maxsize=8192)
def ink(
    colour: str | None = None, *, on: str | None = None, bold: bool = False, dim: bool = False, italic: bool = False
) -> Style:
    """Return a Rich style; cached, since a figure asks for the same few thousands of times."""
    return Style(color=colour, bgcolor=on, bold=bold or None, dim=dim or None, italic=italic or None)


def clean(text: str) -> str:
    """Return text that is safe on a single line: white space collapsed, control characters escaped, invisible ones
    removed.
    """
    joined = printable_line(text)
    if joined.isprintable():
        return joined
    return "".join(sign for sign in joined if sign.isprintable() or unicodedata.category(sign) in {"Mn", "Me"})


def width_of(text: str) -> int:
    """Return the number of cells that a text takes."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, width: int) -> str:
    """Shorten a text to at most `width` cells, ending in … if something was cut."""
    if width <= 0:
        return ""
    if width_of(text) <= width:
        return text
    signs: list[str] = []
    room = width - 1
    for sign in text:
        room -= width_of(sign)
        if room < 0:
            break
        signs.append(sign)
    return "".join(signs).rstrip() + "…"


def cut_middle(text: str, width: int) -> str:
    """Shorten a text in the middle, keeping both ends; for paths and sources, whose end tells them apart."""
    if width_of(text) <= width or width < 5:
        return cut(text, width)
    start = len(text)
    room = (width - 1) // 2
    while start > 0 and (room := room - width_of(text[start - 1])) >= 0:
        start -= 1
    tail = text[start:].lstrip()
    return cut(text, width - width_of(tail)).removesuffix("…").rstrip() + "…" + tail


class Region:
    """A rectangle of a figure with its own origin; what is drawn outside it is clipped."""

    def __init__(self, sheet: Figure, x: int, y: int, width: int, height: int) -> None:
        self.sheet = sheet
        self.x, self.y = x, y
        self.width, self.height = max(0, width), max(0, height)

    @property
    def palette(self) -> Palette:
        return self.sheet.canvas.palette

    @property
    def symbols(self) -> Symbols:
        return self.sheet.canvas.symbols

    def part(self, x: int, y: int, width: int | None = None, height: int | None = None) -> Region:
        """Return a rectangle inside this rectangle, clipped to fit."""
        x, y = min(max(x, 0), self.width), min(max(y, 0), self.height)
        wide = self.width - x if width is None else min(width, self.width - x)
        high = self.height - y if height is None else min(height, self.height - y)
        return Region(self.sheet, self.x + x, self.y + y, wide, high)

    def put(
        self, x: int, y: int, text: str, style: Style | None = None, *, width: int | None = None, align: Align = "left"
    ) -> int:
        """Write text on a line from (x, y); return the x behind it. With a width, the text is cut and aligned within
        it.
        """
        text = _in_cells(text)
        if width is not None:
            width = max(0, min(width, self.width - x))
            text = cut(text, width)
            gap = width - width_of(text)
            indent = gap if align == "right" else gap // 2 if align == "centre" else 0
            self._write(x + indent, y, text, style)
            return x + width
        return self._write(x, y, text, style)

    def _write(self, x: int, y: int, text: str, style: Style | None) -> int:
        """Write text into cells, a cell per character; a wide character takes two, of which the second holds ""."""
        if not 0 <= y < self.height:
            return x + width_of(text)
        signs, styles = self.sheet.signs[self.y + y], self.sheet.styles[self.y + y]
        if len(text) == 1 and 0 <= x < self.width and _cells(text) == 1:
            at = self.x + x
            if signs[at] == "" or (at + 1 < len(signs) and signs[at + 1] == ""):
                self.sheet.unpair(self.y + y, at, at + 1)
            signs[at], styles[at] = text, style
            return x + 1
        if text.isascii():
            start, end = max(x, 0), min(x + len(text), self.width)
            if start < end:
                self.sheet.unpair(self.y + y, self.x + start, self.x + end)
                signs[self.x + start : self.x + end] = text[start - x : end - x]
                styles[self.x + start : self.x + end] = [style] * (end - start)
            return x + len(text)
        for sign in text:
            wide = _cells(sign)
            if wide == 0:
                # Joiners and emoji selectors would change the width of what is already placed.
                if 0 < x <= self.width and sign not in _JOINERS:
                    signs[self.x + x - 1] += sign
                continue
            if x >= 0 and x + wide <= self.width:
                self.sheet.unpair(self.y + y, self.x + x, self.x + x + wide)
                signs[self.x + x], styles[self.x + x] = sign, style
                if wide == 2:
                    signs[self.x + x + 1], styles[self.x + x + 1] = "", style
            x += wide
        return x

    def pieces(self, x: int, y: int, pieces: Iterable[Piece], *, width: int | None = None) -> int:
        """Write runs of styled text in a row, cut at `width` cells; return the x behind them."""
        end = self.width if width is None else min(self.width, x + width)
        for text, style in pieces:
            if x >= end:
                break
            x = self._write(x, y, cut(_in_cells(text), end - x), style)
        return x

    def fill(self, x: int, y: int, width: int, sign: str, style: Style | None = None) -> None:
        """Repeat a one-cell character along a line."""
        start, end = self.x + max(x, 0), self.x + min(x + width, self.width)
        if start < end and 0 <= y < self.height:
            self.sheet.unpair(self.y + y, start, end)
            self.sheet.signs[self.y + y][start:end] = [sign] * (end - start)
            self.sheet.styles[self.y + y][start:end] = [style] * (end - start)

    def column(self, x: int, y: int, height: int, sign: str, style: Style | None = None) -> None:
        """Repeat a character down a column."""
        for row in range(y, y + height):
            if 0 <= x < self.width:
                self._write(x, row, sign, style)

    def shade(self, y: int, colour: str, *, x: int = 0, width: int | None = None, bold: bool = False) -> None:
        """Set a background under a line, for the selection; letters unreadable on it take the text colour."""
        if not 0 <= y < self.height:
            return
        signs, styles = self.sheet.signs[self.y + y], self.sheet.styles[self.y + y]
        under = ink(on=colour, bold=bold)
        stop = self.width if width is None else min(self.width, x + width)
        for column in range(self.x + x, self.x + stop):
            above = styles[column]
            if above is None:
                styles[column] = under
                continue
            styles[column] = above + under
            if signs[column].isalnum() and above.color is not None and above.color.triplet is not None:
                own = above.color.triplet.hex
                if (letter_colour := self.palette.readable(own, colour)) != own:
                    styles[column] = above + under + ink(letter_colour)

    def colour_at(self, x: int, y: int) -> str | None:
        """Return the colour, `#rrggbb`, of the character in a cell; None for an empty cell."""
        sign, style = self.sheet.signs[self.y + y][self.x + x], self.sheet.styles[self.y + y][self.x + x]
        if not sign.strip() or style is None or style.color is None or style.color.triplet is None:
            return None
        return style.color.triplet.hex

    def lists(self, y: int, row: int) -> None:
        """Record that line `y` shows row `row` of a list; mouse clicks and paging use it."""
        if 0 <= y < self.height:
            self.sheet.rows[self.y + y] = row

    def rule(self, y: int, title: str = "", right: str = "", *, strong: bool = False) -> None:
        """Draw a horizontal line with a title at the left and a text at the right."""
        palette = self.palette
        self.fill(0, y, self.width, "─", ink(palette.faint))
        room = self.width - 4
        if title and room > 3:
            x = self.put(1, y, f" {cut(title, room)} ", ink(palette.accent if strong else palette.text, bold=True))
            room = self.width - x - 4
        if right and width_of(right) <= room:
            self.put(self.width - width_of(right) - 3, y, f" {right} ", ink(palette.muted))


class Figure(Region):
    """The whole figure, a region with the grid. rows: which row of a list each line shows."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        width, height = max(1, canvas.width), max(1, canvas.height)
        self.signs: list[list[str]] = [[" "] * width for _ in range(height)]
        self.styles: list[list[Style | None]] = [[None] * width for _ in range(height)]
        self.rows: dict[int, int] = {}
        super().__init__(self, 0, 0, width, height)

    def unpair(self, row: int, start: int, end: int) -> None:
        """Blank the remaining half of a wide character that a write to [start, end) cuts through."""
        signs = self.signs[row]
        if signs[start] == "" and start > 0:
            signs[start - 1] = " "
        if end < len(signs) and signs[end] == "":
            signs[end] = " "

    def render(self) -> Text:
        """Return the figure as text of exactly `height` lines of `width` cells."""
        ascii_only = self.canvas.symbols == "ascii"
        lines: list[str] = []
        spans: list[Span] = []
        position = 0
        for signs, styles in zip(self.signs, self.styles, strict=True):
            cells = [_plain(sign) for sign in signs] if ascii_only else signs
            stops = [x for x in range(1, len(cells)) if styles[x] is not styles[x - 1]]
            for start, stop in pairwise((0, *stops, len(cells))):
                run = "".join(cells[start:stop])
                if (style := styles[start]) is not None:
                    # Blanks at the ends of a run get no ink of their own: some SVG viewers swallow them.
                    lead, inked = len(run) - len(run.lstrip(" ")), len(run.rstrip(" "))
                    if style.bgcolor is not None:
                        blank = style.background_style
                        if lead:
                            spans.append(Span(position, position + min(lead, len(run)), blank))
                        if lead < inked < len(run):
                            spans.append(Span(position + inked, position + len(run), blank))
                    if inked > lead:
                        spans.append(Span(position + lead, position + inked, style))
                position += len(run)
            lines.append("".join(cells))
            position += 1
        style = ink(self.palette.text)
        return Text("\n".join(lines), style=style, spans=spans, no_wrap=True, overflow="crop")


def in_ascii(text: str) -> str:
    """Return a text in ASCII that takes the same number of cells."""
    return text if text.isascii() else "".join(map(_plain, text))


def _in_cells(text: str) -> str:
    """Return text for a line, without characters that break the line or control the terminal."""
    return text if text.isprintable() else printable(text.replace("\n", " ").replace("\t", " "))


@lru_cache(maxsize=8192)
def _cells(sign: str) -> int:
    """Return the number of cells of a character."""
    return cell_len(sign)


@lru_cache(maxsize=4096)
def _plain(sign: str) -> str:
    """Return a character in ASCII with the same width: drawing characters have their own, letters lose accents, others
    become question marks.
    """
    if sign.isascii():
        return sign
    known = sign.translate(_ASCII)
    if known.isascii():
        return known
    if "\u2800" <= sign <= "\u28ff":
        return "." if sign != "\u2800" else " "
    bare = "".join(part for part in unicodedata.normalize("NFKD", sign) if part.isascii())
    return bare[: cell_len(sign)].ljust(cell_len(sign), "?") if bare else "?" * cell_len(sign)
