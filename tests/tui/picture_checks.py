"""What holds of every picture: its size, its signs, that it is drawn the same again, and that all of it can be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rich.cells import cell_len
from rich.text import Text

from amgs_app.render.figures.canvas import Canvas
from amgs_app.terminal.screen import Symbols
from amgs_app.terminal.themes import Palette

Draw = Callable[[Canvas], Text]
SIZES = [(80, 24), (120, 40), (200, 60), (60, 15)]
SMALL = [(60, 5), (40, 12), (24, 6), (3, 2)]


def fills_its_canvas(draw: Draw, width: int, height: int) -> None:
    """Whole lines, each as wide as the canvas."""
    _whole(draw(Canvas(width, height)), width, height)


def keeps_to_its_signs(draw: Draw, symbols: Symbols) -> None:
    """ASCII where it was asked for, and no braille anywhere else."""
    text = draw(Canvas(100, 30, symbols=symbols))
    _whole(text, 100, 30)
    if symbols == "ascii":
        assert text.plain.isascii()
    else:
        assert not any("\u2800" < sign <= "\u28ff" for sign in text.plain)


def is_drawn_the_same_again(draw: Draw) -> None:
    """The same signs in the same colours."""
    canvas = Canvas(90, 28)
    first, second = draw(canvas), draw(canvas)
    assert first.plain == second.plain
    assert first.spans == second.spans


def hides_no_text(draw: Draw) -> None:
    """Only the level signs may be solid, and not where hue carries nothing."""
    text = draw(Canvas(120, 40, replace(Palette(), monochrome=True)))
    for span in text.spans:
        style = span.style
        assert not isinstance(style, str)
        if style.color is not None and style.color == style.bgcolor:
            assert not text.plain[span.start : span.end].strip()


def _whole(text: Text, width: int, height: int) -> None:
    lines = text.plain.split("\n")
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}
