"""What holds of every picture: its size, its signs, that it is drawn the same again, and that all of it can be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rich.cells import cell_len
from rich.text import Text

from amgs_app.render.canvas import Canvas
from amgs_app.terminal.themes import Palette

Draw = Callable[[Canvas], Text]
SIZES = [(80, 24), (120, 40), (200, 60), (60, 15), (60, 5), (40, 12), (24, 6), (3, 2)]


def check_picture(draw: Draw) -> None:
    """It has whole lines at every size and the signs it may use, is drawn the same again, and hides no text."""
    for size in SIZES:
        check_lines(draw(Canvas(*size)), *size)
    _check_signs(draw)
    canvas = Canvas(90, 28)
    first, second = draw(canvas), draw(canvas)
    assert (first.plain, first.spans) == (second.plain, second.spans)
    _check_colours(draw(Canvas(120, 40, replace(Palette(), monochrome=True))))


def check_lines(text: Text, width: int, height: int) -> None:
    """As many lines as the canvas has, each as wide."""
    lines = text.plain.split("\n")
    assert len(lines) == height, (width, height)
    assert {cell_len(line) for line in lines} == {width}, (width, height)


def _check_signs(draw: Draw) -> None:
    """ASCII where it was asked for, and no braille anywhere else."""
    for symbols in ("block", "ascii"):
        text = draw(Canvas(100, 30, symbols=symbols))
        check_lines(text, 100, 30)
        assert symbols == "block" or text.plain.isascii()
        assert not any("\u2800" < sign <= "\u28ff" for sign in text.plain)


def _check_colours(text: Text) -> None:
    """Only the level signs may be solid, and not where hue carries nothing."""
    for span in text.spans:
        style = span.style
        assert not isinstance(style, str)
        if style.color is not None and style.color == style.bgcolor:
            assert not text.plain[span.start : span.end].strip()
