"""Last filters before the terminal: control characters that no widget has replaced (`amgs_app.terminal.output`) are
removed, and for ASCII terminals every character is replaced by a similar character.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from amgs_app.render.canvas import in_ascii
from amgs_app.terminal.output import UNSAFE


class AsciiOnly(LineFilter):
    """Replaces every character by ASCII, cell by cell, so that nothing moves."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        del background
        return [
            segment if segment.text.isascii() else Segment(in_ascii(segment.text), segment.style, segment.control)
            for segment in segments
        ]


class PrintableOnly(LineFilter):
    """Removes control characters, which take no cell, so that nothing moves."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        del background
        return [
            segment
            if segment.text.isprintable()
            else Segment(UNSAFE.sub("", segment.text).translate(_BREAKS), segment.style, segment.control)
            for segment in segments
        ]


_BREAKS = {ord("\n"): None, ord("\t"): None}
