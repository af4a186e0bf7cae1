"""Text marked with the mouse in a picture: which letter lies under the pointer, what was marked, how it shows."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text
from textual.selection import Selection


def letter_at(line: str, column: int) -> int:
    """The index of the letter on this cell of a line, counted from 0; the line's length behind its end."""
    if line.isascii():
        return max(0, min(column, len(line)))
    cell = 0
    for index, letter in enumerate(line):
        cell += cell_len(letter)
        if column < cell:
            return index
    return len(line)


def spans_of(lines: list[str], selection: Selection) -> list[tuple[int, int, int]]:
    """Where the marked text lies, as (line, first letter, letter after the last one)."""
    start, end = selection
    first = 0 if start is None else start.y
    last = len(lines) - 1 if end is None else min(end.y, len(lines) - 1)
    spans = []
    for row in range(first, last + 1):
        left = start.x if start is not None and row == start.y else 0
        right = end.x if end is not None and row == end.y else len(lines[row])
        spans.append((row, min(left, len(lines[row])), min(right, len(lines[row]))))
    return spans


def marked_text(picture: Text, selection: Selection) -> str:
    """What was marked, without the blanks at the ends of its lines."""
    lines = picture.plain.split("\n")
    return "\n".join(lines[row][left:right].rstrip() for row, left, right in spans_of(lines, selection))


def with_mark(picture: Text, selection: Selection) -> Text:
    """The picture with the marked letters in reverse, which every theme and every terminal can show."""
    lines = picture.plain.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    marked = picture.copy()
    for row, left, right in spans_of(lines, selection):
        if left < right:
            marked.stylize("reverse", starts[row] + left, starts[row] + right)
    return marked
