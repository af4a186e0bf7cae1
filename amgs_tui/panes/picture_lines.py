"""The lines of a pane's picture, as Textual draws and selects them; and the filter and order of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text
from textual.selection import Selection

from amgs.errors import UsageError
from amgs.text.words import plural
from amgs_app.panes.row_filter import ListFilter, check_filter, listings, visible_rows
from amgs_app.terminal.line import quote
from amgs_tui.host import Completion

if TYPE_CHECKING:
    from collections.abc import Callable

    from amgs_app.panes.row_filter import Listing, Row


Line = tuple[str, tuple[tuple[int, int, object], ...]]
"""A line of a picture: its text and its spans (first character, end, style)."""


class FigureVisual:
    """A picture that Textual draws three times as fast as a text, since its lines have their width already."""

    def __init__(self, picture: Text) -> None:
        self.picture = picture

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del options
        return self.picture.render(console)


def lines_of(picture: Text) -> list[Line]:
    """Return the lines of a picture, none of whose spans passes the end of a line."""
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
    """Return the runs [first, last) of lines that differ; None if so many do that everything should be drawn."""
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
    """Return the index of the character on a cell of a line, from 0; beyond its end, its length."""
    if line.isascii():
        return max(0, min(column, len(line)))
    cell = 0
    for index, letter in enumerate(line):
        cell += cell_len(letter)
        if column < cell:
            return index
    return len(line)


def spans_of(lines: list[str], selection: Selection) -> list[tuple[int, int, int]]:
    """Return the selected text as (line, first character, character after the last)."""
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
    """Return the selected text, without trailing blanks of its lines."""
    lines = picture.plain.split("\n")
    return "\n".join(lines[row][left:right].rstrip() for row, left, right in spans_of(lines, selection))


def with_mark(picture: Text, selection: Selection) -> Text:
    """Return the picture with the selection in reverse, which every theme and terminal can show."""
    lines = picture.plain.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    marked = picture.copy()
    for row, left, right in spans_of(lines, selection):
        if left < right:
            marked.stylize("reverse", starts[row] + left, starts[row] + right)
    return marked


FILTER: Final = " filter"
"""Suffix of a pane's name in the topic of the line that asks for its filter."""
SHORT_TEXTS: Final = frozenset(
    ("category", "fate", "child", "relation", "last", "reason", "state", "status", "frame", "kind")
)
"""Fields with few values, which completion offers."""


class RowSifting:
    """The filter and the order of a pane's rows. pane: its name. rows: returns all of its rows.

    `amgs_app.panes.row_filter` defines the fields of a row.
    """

    def __init__(self, pane: str, rows: Callable[[], Sequence[Row]]) -> None:
        self.pane = pane
        self.now = ListFilter()
        self._rows = rows

    @property
    def listing(self) -> Listing:
        """Fields and possible orders of the rows."""
        return listings()[self.pane]

    @property
    def places(self) -> tuple[int, ...]:
        """Indexes of the rows that the filter leaves, in the operator's order."""
        return visible_rows(self.pane, self._rows(), self.now)

    def read(self, line: str) -> ListFilter:
        """Return the filter in a line, with the present order. Raises UsageError for an invalid filter."""
        wanted = self.now.with_filter(line)
        check_filter(wanted, self.listing)
        return wanted

    def explain(self, line: str) -> str:
        """Return how many rows an unfinished filter leaves, or what is wrong with it."""
        rows = self._rows()
        try:
            wanted = replace(self.now.with_filter(line), order="")
            left = len(visible_rows(self.pane, rows, wanted))
        except UsageError as error:
            return f"{error.message} {error.way_out}"
        if not wanted:
            return f"word, field:word, field>0.5, !word.  Fields: {', '.join(self.listing.fields)}"
        return f"{plural(left, 'row')} of {len(rows):,}"

    def complete(self, line: str) -> Sequence[Completion]:
        """Return fields that begin so, then values of the rows."""
        before, _, typed = line.rpartition(" ")
        start = f"{before} " if before else ""
        field, colon, word = typed.removeprefix("!").partition(":")
        no = "!" if typed.startswith("!") else ""
        if not colon:
            prefixes = [f"{name}:" if name in self.listing.texts else f"{name}>" for name in self.listing.fields]
            return [
                Completion(prefix, start + no + prefix) for prefix in prefixes if typed and prefix.startswith(field)
            ]
        known = {str(row.get(field) or "") for row in self._rows()} if field in SHORT_TEXTS else set()
        fitting = sorted(value for value in known if value and value.casefold().startswith(word.casefold()))
        return [Completion(value, start + no + quote(f"{field}:{value}")) for value in fitting]
