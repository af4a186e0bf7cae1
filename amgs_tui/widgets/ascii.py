"""The screen for terminals that know ASCII alone: whatever a widget draws is put in its nearest sign."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from amgs_app.render.figures.canvas import in_ascii


class AsciiOnly(LineFilter):
    """Replaces every sign by one of ASCII, cell by cell, so that nothing moves."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        del background
        return [
            segment
            if segment.text.isascii()
            else Segment(in_ascii(segment.text), segment.style, segment.control)
            for segment in segments
        ]
