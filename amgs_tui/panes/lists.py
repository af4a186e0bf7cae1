"""Panes with a cursor that moves over the rows that the filter leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rich.text import Text
from textual import events

from amgs_app.render.catalogue import list_of
from amgs_app.render.glyphs import notice
from amgs_tui.keys import hide
from amgs_tui.panes.base import Pane
from amgs_tui.widgets.bars import TITLES

if TYPE_CHECKING:
    from amgs_app.panes.row_filter import ListFilter, Row
    from amgs_app.render.canvas import Canvas, Figure
    from amgs_app.render.rows import RowList
    from amgs_tui.host import Host

R = TypeVar("R")
_EVERY: Final = 1.0
"""Seconds between two checks whether files have grown."""


class ListPane(Pane):
    """A pane with a cursor over rows."""

    BINDINGS: ClassVar[list[Any]] = [
        hide("up,k", "move(-1)", "up", "list.up", "One row up"),
        hide("down,j", "move(1)", "down", "list.down", "One row down"),
        hide("pageup", "page(-1)", "page up", "list.page_up", "One page up"),
        hide("pagedown", "page(1)", "page down", "list.page_down", "One page down"),
        hide("home,g", "edge(-1)", "first", "list.first", "First row"),
        hide("end,G", "edge(1)", "last", "list.last", "Last row"),
        *Pane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.cursor = 0
        self._shown_rows: tuple[RowList[Any] | None, ListFilter, RowList[Any] | None] | None = None

    # --- what is listed -------------------------------------------------------------------------------------

    @property
    def page(self) -> RowList[Any] | None:
        """All rows, filtered or not; None while they are being read."""
        return None

    @property
    def shown_rows(self) -> RowList[Any] | None:
        """Rows that the filter leaves, in the operator's order."""
        now = self.page, self.sift
        if self._shown_rows is None or self._shown_rows[:2] != now:
            self._shown_rows = *now, now[0].keep(self.shown_places) if now[0] is not None else None
        return self._shown_rows[2]

    def all_rows(self) -> Sequence[Row]:
        return () if self.page is None else self.page.fields

    @property
    def items(self) -> Sequence[Any]:
        """Items of the rows that the filter leaves."""
        return () if self.shown_rows is None else self.shown_rows.items

    @property
    def rows(self) -> int:
        """Number of rows that the filter leaves, loaded or not."""
        shown = self.shown_rows
        return 0 if shown is None else len(shown.items) if shown.total is None else shown.total

    @property
    def row(self) -> Any:
        """Row under the cursor; None if it is not loaded."""
        return self.shown_rows.at(self.cursor) if self.shown_rows is not None else None

    def block_at_cursor(self) -> str | None:
        """Return the id of the block in the row under the cursor, if any."""
        return None if self.shown_rows is None or self.row is None else self.shown_rows.kind.key(self.row)

    def figure(self, canvas: Canvas) -> Figure | None:
        """Return the picture of the list; None while it is being read."""
        rows = self.shown_rows
        return None if rows is None else rows.draw(canvas, self.cursor, filtered=bool(self.sift))

    def draw(self, canvas: Canvas) -> Text:
        figure = self.figure(canvas)
        return notice(canvas, TITLES[self.NAME][0], (), self.waits) if figure is None else figure.render()

    def rows_on_screen(self) -> Mapping[int, int] | None:
        """Return the row on each line of the picture; None if the rows are consecutive lines."""
        figure = self.figure(self.canvas())
        return None if figure is None else figure.rows

    # --- the cursor -----------------------------------------------------------------------------------------

    def follow_cursor(self) -> None:
        """Select the block in the row under the cursor."""
        if (block := self.block_at_cursor()) is not None:
            self.post_message(self.Picked(block))

    def follow_filter(self) -> None:
        self.cursor = 0
        self.follow_cursor()

    def at_cursor(self, rows: Sequence[R]) -> R | None:
        """Return the item under the cursor, or None."""
        return rows[self.cursor] if 0 <= self.cursor < len(rows) else None

    def clip_cursor(self) -> None:
        """Keep the cursor within the rows."""
        self.cursor = max(0, min(self.cursor, self.rows - 1))

    def place_on(self, holds: Iterable[bool]) -> None:
        """Put the cursor on the first row whose value is true; without any, it stays."""
        self.cursor = next((row for row, is_wanted in enumerate(holds) if is_wanted), self.cursor)

    def move_to(self, row: int) -> None:
        """Move the cursor to a row, clipped to the existing ones."""
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

    def action_read(self) -> None:
        """Select the block in the row and show it in full."""
        if (block := self.block_at_cursor()) is not None:
            self.read(block)

    def action_edge(self, where: int) -> None:
        self.move_to(0 if where < 0 else self.rows - 1)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the row under the pointer."""
        offset = event.get_content_offset(self)
        lines = self.rows_on_screen()
        if lines is not None:
            if offset is not None and offset.y in lines:
                self.move_to(lines[offset.y])
            return
        marked = find_marked_line(self.draw(self.canvas()), self.host.palette.selection)
        if offset is not None and marked is not None and self.rows:
            self.move_to(self.cursor + offset.y - marked)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move_to(self.cursor + 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move_to(self.cursor - 1)


class ViewsPane(ListPane):
    """A pane of several lists, one of them on view; the first list keeps its cursor meanwhile.

    VIEW_OF: the view of a result, by the name of its type. VIEWS: those that a key cycles through. results, lists:
    content of each view.
    """

    VIEW_OF: ClassVar[Mapping[str, str]] = {}
    VIEWS: ClassVar[Sequence[str]] = ()

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.first = self.view = next(iter(self.VIEW_OF.values()))
        self.results: dict[str, Any] = {}
        self.lists: dict[str, RowList[Any] | None] = {}
        self.cursor_of_first = 0

    @property
    def page(self) -> RowList[Any] | None:
        return self.lists.get(self.view)

    def take(self, result: object) -> None:
        view = self.VIEW_OF.get(type(result).__name__)
        if view is not None:
            self.results[view], self.lists[view] = result, self.list_result(result)
            self.take_view(view)
            self.clip_cursor()

    def list_result(self, result: Any) -> RowList[Any] | None:
        """Return the list of a result."""
        return list_of(result)

    def take_view(self, view: str) -> None:
        """React to a new result of a view."""

    def show_to_operator(self, command: str, result: object) -> None:
        """Show the view of a result; a result without a view gets a page."""
        view = self.VIEW_OF.get(type(result).__name__)
        if view is None:
            self.host.show_page(command.capitalize(), result)
        else:
            self.turn_to(view)

    @property
    def next_view(self) -> str:
        """Next view of the key."""
        return next_of(self.VIEWS, self.view)

    def turn_to(self, view: str) -> None:
        """Show a view."""
        if view != self.view:
            self.cursor_of_first = self.cursor if self.view == self.first else self.cursor_of_first
            self.view, self.cursor = view, self.cursor_of_first if view == self.first else 0
        self.clip_cursor()
        self.follow_cursor()
        self.show_change()


class FollowingPane(ViewsPane):
    """A pane of files that other programs write; it refreshes when they have grown."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._stamp: object = None

    def on_mount(self) -> None:
        self.set_interval(_EVERY, self.follow)

    def stamp(self) -> object:
        """Return a value that changes when the files grow; None if no file is followed."""
        raise NotImplementedError

    def look(self) -> None:
        self._stamp = self.stamp()  # growth during the reading then causes another refresh
        super().look()

    def follow(self) -> None:
        """Refresh if the files have grown."""
        if self.has_place and self.busy is None and self.stamp() not in (None, self._stamp):
            self.look()


def next_of(values: Sequence[R], now: object, by: int = 1) -> R:
    """Return the value `by` places after the present one, cyclically; the first value if the present one is not among
    them.
    """
    return values[(values.index(now) + by) % len(values)] if now in values else values[0]


def find_marked_line(picture: Text, selection: str) -> int | None:
    """Return the line of a picture that has the selection's colour, or None."""
    for span in picture.spans:
        style = span.style
        colour = None if isinstance(style, str) else style.bgcolor
        if colour is not None and colour.name == selection:
            return picture.plain.count("\n", 0, span.start)
    return None
