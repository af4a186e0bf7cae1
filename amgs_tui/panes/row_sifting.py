"""Filter and order of the rows of a pane, which the layout keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from amgs.errors import UsageError
from amgs.text.plural import plural
from amgs_app.panes.row_fields import listings, visible_rows
from amgs_app.panes.row_filter import ListFilter, check_filter
from amgs_app.terminal.line import quote
from amgs_tui.host import Completion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amgs_app.panes.row_filter import Listing, Row

FILTER: Final = " filter"
"""What follows a pane's name in the topic of the line that asks for its filter."""
SHORT_TEXTS: Final = frozenset(
    ("category", "fate", "child", "relation", "last", "reason", "state", "status", "frame", "kind")
)
"""Fields with few values: completion offers them."""


class RowSifting:
    """The filter and the order of a pane's rows. pane: its name. rows: every row that it holds, shown or not.

    Which fields a row has is a matter of `amgs_app.panes.row_fields`.
    """

    def __init__(self, pane: str, rows: Callable[[], Sequence[Row]]) -> None:
        self.pane = pane
        self.now = ListFilter()
        self._rows = rows

    @property
    def listing(self) -> Listing:
        """Fields of the rows, and their possible orders."""
        return listings()[self.pane]

    @property
    def places(self) -> tuple[int, ...]:
        """Places of the rows that are shown, in the order they are shown."""
        return visible_rows(self.pane, self._rows(), self.now)

    def read(self, line: str) -> ListFilter:
        """Return the filter that a line asks for, in the present order; raises UsageError for one that cannot be."""
        wanted = self.now.filtered(line)
        check_filter(wanted, self.listing)
        return wanted

    def explain(self, line: str) -> str:
        """Return how many rows the half-written filter leaves, or what is wrong with it."""
        rows = self._rows()
        try:
            wanted = replace(self.now.filtered(line), order="")
            left = len(visible_rows(self.pane, rows, wanted))
        except UsageError as error:
            return f"{error.message} {error.way_out}"
        if not wanted:
            return f"word, field:word, field>0.5, !word.  Fields: {', '.join(self.listing.fields)}"
        return f"{plural(left, 'row')} of {len(rows):,}"

    def complete(self, line: str) -> Sequence[Completion]:
        """Return fields for a beginning, then the values that the rows have there."""
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
