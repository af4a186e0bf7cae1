"""Panes that list rows: a filter and an order that the layout keeps, and a cursor that moves over what is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from rich.text import Text
from textual import events

from amgs.errors import UsageError
from amgs.text.plural import plural
from amgs_app import operations
from amgs_app.panes.row_fields import LISTINGS, shown
from amgs_app.panes.row_filter import ListFilter, Listing, Row, check, said
from amgs_app.terminal.line import quote
from amgs_tui.completion import Completion
from amgs_tui.keys import hide
from amgs_tui.panes.base import Pane

if TYPE_CHECKING:
    from amgs_app.calls.call import Call
    from amgs_app.panes.layout import Pane as PaneName
    from amgs_tui.host import Host

FILTER: Final = " filter"
"""What follows a pane's name in the topic of the line that asks for its filter."""
SHORT_TEXTS: Final = frozenset(
    ("category", "fate", "child", "relation", "last", "reason", "state", "status", "frame", "kind")
)
"""Fields with few values: completion offers them."""


class FilterablePane(Pane):
    """A pane that lists something: its rows can be filtered and sorted, which is kept with the layout.

    Which rows are shown is a matter of `amgs_app.panes.row_fields`; a pane says with `all_rows` what it holds.
    """

    BINDINGS: ClassVar[list[Any]] = [
        hide("F", "filter_rows", "filter", "list.filter", "Filter the rows: a word, field:word, field>0.5"),
        hide("O", "sort_rows", "order", "list.sort", "Cycle the sort order"),
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.sift = ListFilter()

    def all_rows(self) -> Sequence[Row]:
        """Every row that the pane holds, shown or not."""
        return ()

    def follow_filter(self) -> None:
        """Other rows are shown, or in another order: put the cursor on one of them, ask for what is needed."""

    @property
    def listing(self) -> Listing:
        return LISTINGS[cast("Any", self.NAME)]

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the rows that are shown, in the order they are shown."""
        return shown(cast("Any", self.NAME), self.all_rows(), self.sift)

    def use_sift(self, sift: ListFilter) -> None:
        """Filter and sort as given, at once."""
        if sift != self.sift:
            self.sift = sift
            self.follow_filter()
            self._say()
            self.repaint()

    def title(self) -> str:
        return f"{super().title()} · {said(self.sift)}" if self.sift else super().title()

    def action_filter_rows(self) -> None:
        """Ask which rows are wanted; a blank line takes the filter away."""
        if self.NAME not in LISTINGS:
            return
        self.host.ask_line(
            f"{self.NAME}{FILTER}",
            f"{self.NAME} rows",
            self.sift.words,
            complete=self._complete_filter,
            explain=self._explain_filter,
            blank=True,
        )

    def filtered(self, line: str) -> None:
        """The filter was entered; one that cannot be is said, and the one before stays."""
        try:
            wanted = self.sift.filtered(line)
            check(wanted, self.listing)
        except UsageError as error:
            words = f"{error.message} {error.way_out}"
            self.notify(words, title="Filter not changed", severity="warning", markup=False)
            return
        self._sift_by(operations.workspace.filter_rows(self._pane, list(wanted.terms)), wanted)

    def action_sort_rows(self) -> None:
        if self.NAME not in LISTINGS:
            return
        wanted = self.sift.next_order(self.listing)
        self._sift_by(operations.workspace.sort_rows(self._pane, wanted.order), wanted)

    @property
    def _pane(self) -> PaneName:
        """The pane's name as operations take it."""
        return cast("PaneName", self.NAME)

    def _sift_by(self, call: Call[Any], wanted: ListFilter) -> None:
        """On the screen at once; as an operation too, so that it is recorded and kept."""
        self.use_sift(wanted)
        self.ask(call, slot=f"{self.NAME}:{call.operation.name}")

    def _explain_filter(self, line: str) -> str:
        """How many rows the half-written filter leaves, or what is wrong with it."""
        try:
            wanted = replace(self.sift.filtered(line), order="")
            left = len(shown(cast("Any", self.NAME), self.all_rows(), wanted))
        except UsageError as error:
            return f"{error.message} {error.way_out}"
        if not wanted:
            return f"word, field:word, field>0.5, !word.  Fields: {', '.join(self.listing.fields)}"
        return f"{plural(left, 'row')} of {len(self.all_rows()):,}"

    def _complete_filter(self, line: str) -> Sequence[Completion]:
        """Fields for a beginning, then the values that the rows have there."""
        before, _, typed = line.rpartition(" ")
        start = f"{before} " if before else ""
        field, colon, word = typed.removeprefix("!").partition(":")
        no = "!" if typed.startswith("!") else ""
        if not colon:
            made = [f"{name}:" if name in self.listing.texts else f"{name}>" for name in self.listing.fields]
            return [Completion(each, start + no + each) for each in made if typed and each.startswith(field)]
        known = {str(row.get(field) or "") for row in self.all_rows()} if field in SHORT_TEXTS else set()
        fitting = sorted(each for each in known if each and each.casefold().startswith(word.casefold()))
        return [Completion(each, start + no + quote(f"{field}:{each}")) for each in fitting]


class ListPane(FilterablePane):
    """A pane with a cursor over rows."""

    BINDINGS: ClassVar[list[Any]] = [
        hide("up,k", "move(-1)", "up", "list.up", "One row up"),
        hide("down,j", "move(1)", "down", "list.down", "One row down"),
        hide("pageup", "page(-1)", "page up", "list.page_up", "One page up"),
        hide("pagedown", "page(1)", "page down", "list.page_down", "One page down"),
        hide("home,g", "edge(-1)", "first", "list.first", "First row"),
        hide("end,G", "edge(1)", "last", "list.last", "Last row"),
        *FilterablePane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.cursor = 0

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return 0

    def follow_cursor(self) -> None:
        """The cursor stands on another row."""

    def rows_on_screen(self) -> Mapping[int, int] | None:
        """Which row each line of the picture shows; None for a pane whose rows follow each other line by line."""
        return None

    def move_to(self, row: int) -> None:
        """Put the cursor on a row (clipped to those there are)."""
        row = max(0, min(row, self.rows - 1))
        if row != self.cursor and self.rows:
            self.cursor = row
            self.follow_cursor()
            self._say()
        self.repaint()

    def action_move(self, by: int) -> None:
        self.move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        lines = self.rows_on_screen()
        rows = self.content_size.height - 4 if lines is None else len(set(lines.values()))
        self.move_to(self.cursor + by * max(1, rows))

    def action_edge(self, where: int) -> None:
        self.move_to(0 if where < 0 else self.rows - 1)

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor on the row under the pointer."""
        offset = event.get_content_offset(self)
        lines = self.rows_on_screen()
        if lines is not None:
            if offset is not None and offset.y in lines:
                self.move_to(lines[offset.y])
            return
        marked = marked_line(self.draw(self.canvas()), self.host.palette.selection)
        if offset is not None and marked is not None and self.rows:
            self.move_to(self.cursor + offset.y - marked)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move_to(self.cursor + 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move_to(self.cursor - 1)


def marked_line(picture: Text, selection: str) -> int | None:
    """The line of a picture that lies on the selection's colour; None when none does."""
    for span in picture.spans:
        style = span.style
        colour = None if isinstance(style, str) else style.bgcolor
        if colour is not None and colour.name == selection:
            return picture.plain.count("\n", 0, span.start)
    return None
