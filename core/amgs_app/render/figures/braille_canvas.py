"""Lines and points finer than a cell: braille dots, or slanted signs where braille cannot be shown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.style import Style

from amgs_app.render.figures.canvas import Region

_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


class Strokes:
    """Collects strokes and then puts them on a region; a later stroke takes over the colour of a cell.

    Points are in cells, (0, 0) the top left corner of the first cell, so (x + 0.5, y + 0.5) is a cell's
    middle.
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        self.braille = region.symbols == "braille"
        self._dots: dict[tuple[int, int], int] = {}
        self._signs: dict[tuple[int, int], str] = {}
        self._inks: dict[tuple[int, int], Style] = {}

    def line(self, x0: float, y0: float, x1: float, y1: float, style: Style, *, gap: int = 0) -> None:
        """A straight line; gap: dots left out after each one drawn (0 solid, 1 dashed, 3 dotted)."""
        if self.braille:
            for step, (px, py) in enumerate(_walk(x0 * 2, y0 * 4, x1 * 2, y1 * 4)):
                if step % (gap + 1) == 0:
                    self._dot(px, py, style)
            return
        sign = _slant(x1 - x0, y1 - y0) if gap < 3 else "·"
        for step, (x, y) in enumerate(_walk(x0, y0, x1, y1)):
            if gap < 1 or step % 2 == 0:
                self._signs[x, y] = sign
                self._inks[x, y] = style

    def point(self, x: float, y: float, style: Style) -> None:
        """One dot."""
        if self.braille:
            self._dot(int(x * 2), int(y * 4), style)
        else:
            self._signs[int(x), int(y)] = "·"
            self._inks[int(x), int(y)] = style

    def _dot(self, px: int, py: int, style: Style) -> None:
        cell = (px // 2, py // 4)
        self._dots[cell] = self._dots.get(cell, 0) | _BITS[py % 4][px % 2]
        self._inks[cell] = style

    def draw(self) -> None:
        """Put everything on the region."""
        for cell, bits in self._dots.items():
            self.region.put(*cell, chr(0x2800 + bits), self._inks[cell])
        for cell, sign in self._signs.items():
            self.region.put(*cell, sign, self._inks[cell])


def _slant(dx: float, dy: float) -> str:
    """The sign that leans like a line; a cell is twice as high as wide."""
    if abs(dy) * 2 < abs(dx) * 0.5:
        return "─"
    if abs(dx) < abs(dy) * 0.6:
        return "│"
    return "╲" if dx * dy > 0 else "╱"


def _walk(x0: float, y0: float, x1: float, y1: float) -> Iterator[tuple[int, int]]:
    """The grid points of a line, in order, ends included."""
    steps = max(1, round(max(abs(x1 - x0), abs(y1 - y0))))
    for step in range(steps + 1):
        yield int(x0 + (x1 - x0) * step / steps), int(y0 + (y1 - y0) * step / steps)
