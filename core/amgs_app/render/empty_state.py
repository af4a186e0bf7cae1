"""What an empty pane shows: its purpose and the command that fills it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from amgs_app.render.canvas import Canvas, Figure, Region, cut, ink, width_of
from amgs_app.render.glyphs import wrap


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
    if region.height - y < len(commands) and width_of(beside) <= region.width:  # few lines: one for all of them
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
