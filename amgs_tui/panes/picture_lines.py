"""A picture line by line: how Textual draws it, which lines have changed, which letters are marked with the mouse."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text
from textual.selection import Selection

Line = tuple[str, tuple[tuple[int, int, object], ...]]
"""A line of a picture: its text, and where which style lies on it."""


class FigureVisual:
    """A picture as Textual draws it three times as fast as a text: its lines have their width already."""

    def __init__(self, picture: Text) -> None:
        self.picture = picture

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del options
        return self.picture.render(console)


def lines_of(picture: Text) -> list[Line]:
    """Return a picture line by line; no span of a picture passes the end of its line."""
    lines: list[Line] = []
    spans = iter(picture.spans)
    span = next(spans, None)
    start = 0
    for text in picture.plain.split("\n"):
        end = start + len(text)
        line_spans = []
        while span is not None and span.start < end:
            line_spans.append((span.start - start, span.end - start, span.style))
            span = next(spans, None)
        lines.append((text, tuple(line_spans)))
        start = end + 1
    return lines


def find_changed_rows(before: Sequence[Line], after: Sequence[Line]) -> list[tuple[int, int]] | None:
    """Runs [first, last) of lines that differ; None where so many do that all may be drawn again."""
    if len(before) != len(after):
        return None
    different = [row for row, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    if 2 * len(different) > len(after):
        return None
    runs: list[tuple[int, int]] = []
    for row in different:
        if runs and runs[-1][1] == row:
            runs[-1] = runs[-1][0], row + 1
        else:
            runs.append((row, row + 1))
    return runs


def letter_at(line: str, column: int) -> int:
    """Return the index of the letter on this cell of a line, counted from 0; the line's length behind its end."""
    if line.isascii():
        return max(0, min(column, len(line)))
    cell = 0
    for index, letter in enumerate(line):
        cell += cell_len(letter)
        if column < cell:
            return index
    return len(line)


def spans_of(lines: list[str], selection: Selection) -> list[tuple[int, int, int]]:
    """Return where the marked text lies, as (line, first letter, letter after the last one)."""
    start, end = selection
    first = 0 if start is None else start.y
    last = len(lines) - 1 if end is None else min(end.y, len(lines) - 1)
    spans = []
    for row in range(first, last + 1):
        left = start.x if start is not None and row == start.y else 0
        right = end.x if end is not None and row == end.y else len(lines[row])
        spans.append((row, min(left, len(lines[row])), min(right, len(lines[row]))))
    return spans


def extract_marked_text(picture: Text, selection: Selection) -> str:
    """Return what was marked, without the blanks at the ends of its lines."""
    lines = picture.plain.split("\n")
    return "\n".join(lines[row][left:right].rstrip() for row, left, right in spans_of(lines, selection))


def with_mark(picture: Text, selection: Selection) -> Text:
    """Return the picture with the marked letters in reverse, which every theme and every terminal can show."""
    lines = picture.plain.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    marked = picture.copy()
    for row, left, right in spans_of(lines, selection):
        if left < right:
            marked.stylize("reverse", starts[row] + left, starts[row] + right)
    return marked
