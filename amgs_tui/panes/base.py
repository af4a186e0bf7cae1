"""Base of all panes: they draw a result, request it through operations, and name the next step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rich.text import Text
from textual import events
from textual.content import Content
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.selection import Selection
from textual.widget import Widget

from amgs.errors import UsageError
from amgs_app import operations
from amgs_app.panes.layout import PANE_KEYS, PANES
from amgs_app.panes.row_filter import describe_filter
from amgs_app.render.canvas import Canvas
from amgs_app.render.glyphs import notice
from amgs_app.terminal.output import printable_line
from amgs_tui.dialogs.questions import Choice, choose
from amgs_tui.keys import hide
from amgs_tui.messages import EngineRequest, Failed, Follow, Origin
from amgs_tui.panes.picture_lines import (
    FILTER,
    FigureVisual,
    Line,
    RowSifting,
    extract_marked_text,
    find_changed_rows,
    letter_at,
    lines_of,
    with_mark,
)
from amgs_tui.widgets.bars import TITLES

if TYPE_CHECKING:
    from textual.binding import Binding

    from amgs_app.calls.call import Call
    from amgs_app.panes.row_filter import ListFilter, Row
    from amgs_tui.host import Host

R = TypeVar("R")


class Pane(Widget, can_focus=True):
    """A framed picture of rows, with its own keys. The filter of the rows is saved with the layout.

    NAME: its name in commands. OF_MEMORY: whether it shows a memory. ASKS_AWAY: whether it also sends requests while it
    is empty and not visible, so that it comes back when there is something to show. SHOWS: the commands whose results
    it takes, whoever sent them. PURPOSE: the beginning of its help.
    """

    NAME: ClassVar[str] = ""
    OF_MEMORY: ClassVar[bool] = True
    ASKS_AWAY: ClassVar[bool] = False
    SHOWS: ClassVar[frozenset[str]] = frozenset()
    PURPOSE: ClassVar[str] = ""

    BINDINGS: ClassVar[list[Any]] = [
        hide("F", "filter_rows", "filter", "list.filter", "Filter the rows: a word, field:word, field>0.5"),
        hide("O", "sort_rows", "order", "list.sort", "Cycle the sort order"),
    ]
    DEFAULT_CSS = """
    Pane {
        border: round $faint; border-title-color: $muted; border-subtitle-color: $muted;
        background: $background; color: $foreground; padding: 0; height: 1fr; width: 1fr;
    }
    Pane:focus { border: heavy $accent; border-title-color: $accent; border-title-style: bold; }
    """

    @dataclass
    class Picked(Message):
        """The operator picked a block, which becomes the selection of every pane."""

        block_id: str

    def __init__(self, host: Host) -> None:
        super().__init__(id=self.NAME)
        self.host = host
        self.sifting = RowSifting(self.NAME, self.all_rows)
        self.trouble: Failed | None = None
        self.busy: EngineRequest | None = None
        self.stale = True
        self._repaints = False
        self._fresh: Text | None = None
        self._fresh_size = Size(0, 0)
        self._shown: Text | None = None
        self._shown_size = Size(0, 0)
        self._lines: list[Line] = []
        self._edges_changed = False
        self._mark_shown: tuple[Selection | None, str] = (None, "")
        self._then: Callable[[str], object]
        self._said = (self.title(), "")
        self.border_title = self._said[0]

    # --- for the panes ------------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        """Return the calls that keep the pane up to date."""
        return ()

    def take(self, result: object) -> None:
        """Store the result of a command in SHOWS; the pane is redrawn afterwards."""
        raise NotImplementedError

    def take_look(self, result: object) -> None:
        """Store the result of a further request that came with a result."""
        self.take(result)

    def draw(self, canvas: Canvas) -> Text:
        """Return the picture of the pane's content."""
        raise NotImplementedError

    def copy_text(self) -> str:
        """Return the text that `copy` copies: the picture as text, unless the pane has a text of its own."""
        return "\n".join(line.rstrip() for line in self.picture().plain.splitlines())

    def title(self) -> str:
        """Return the text of the upper edge."""
        title = f"{PANE_KEYS[PANES.index(self.NAME)]} {TITLES[self.NAME][0]}"
        return f"{title} · {describe_filter(self.sift)}" if self.sift else title

    def subtitle(self) -> str:
        """Return the text of the lower edge when nothing runs."""
        return ""

    @property
    def empty(self) -> bool:
        """Whether the pane has nothing to show, so that another pane may take its place."""
        return False

    @property
    def drafted(self) -> str:
        """The operator's unapplied work in the pane: `corrections to 2 blocks`; "" for none."""
        return ""

    @property
    def waits(self) -> str:
        """Text of a pane without content: the request that it waits for."""
        behind = self.host.waits_for
        return f"Waiting for {behind} …" if behind else "Reading the memory …"

    def adopt(self, part: object) -> None:
        """Add the `action_…` methods of a part as the pane's own, except those that the pane has."""
        for name in dir(type(part)):
            if name.startswith("action_") and not hasattr(self, name):
                setattr(self, name, getattr(part, name))

    def choose(self, title: str, choices: Sequence[Choice], then: Callable[[str], object]) -> None:
        """Ask the operator for a choice; `then` is called with its id, unless nothing is chosen."""
        choose(self.app, title, choices, then)

    def choose_or_type(
        self, title: str, choices: Sequence[Choice], then: Callable[[str], object], about: str, start: str
    ) -> None:
        """Ask the operator for a choice, or a name typed on a line that begins with `start`."""
        own = Choice("(own)", "other …", about)
        self.choose(title, [*choices, own], lambda name: self.host.command(start) if name == own.id else then(name))

    def ask_line(self, label: str, then: Callable[[str], object], value: str = "", **how: Any) -> None:
        """Ask the operator for a line; `then` is called with it, unless the line is closed without an answer."""
        self._then = then
        self.host.ask_line(self.NAME, label, value, **how)

    def read(self, block_id: str | None) -> None:
        """Select a block everywhere and show it in full; None: the selected block."""
        if block_id is not None:
            self.host.pick(block_id)
        self.host.read_block()

    def action_run(self, line: str) -> None:
        """Run the command of a key."""
        self.host.run_line(line)

    def action_type(self, start: str) -> None:
        """Open the command line with the text of a key."""
        self.host.command(start)

    # --- the rows -----------------------------------------------------------------------------------------

    def all_rows(self) -> Sequence[Row]:
        """Return all rows of the pane, filtered or not."""
        return ()

    def follow_filter(self) -> None:
        """Move the cursor to a row that the filter leaves, and request what is needed."""

    @property
    def sift(self) -> ListFilter:
        """Filter and order of the rows."""
        return self.sifting.now

    @property
    def places(self) -> tuple[int, ...]:
        """Indexes of the rows that the filter leaves, in the operator's order."""
        return self.sifting.places

    @property
    def shown_places(self) -> tuple[int, ...] | None:
        """Indexes of the rows to draw; None for all rows in their own order."""
        return self.places if self.sift else None

    def sift_rows(self, every: Sequence[R]) -> Sequence[R]:
        """Return the items that the filter leaves, in the operator's order."""
        return [every[place] for place in self.places] if self.sift else every

    def use_sift(self, sift: ListFilter) -> None:
        """Apply a filter and an order, on the screen only."""
        if sift != self.sift:
            self.sifting.now = sift
            self.follow_filter()
            self._say()
            self.repaint()

    def take_filter(self, line: str) -> None:
        """Apply the filter that was entered; an invalid filter is reported and changes nothing."""
        try:
            wanted = self.sifting.read(line)
        except UsageError as error:
            words = f"{error.message} {error.way_out}"
            self.notify(words, title="Filter not changed", severity="warning", markup=False)
            return
        self._sift_by(wanted)

    def action_filter_rows(self) -> None:
        """Ask for a filter; a blank line removes it."""
        part = self.sifting
        self.host.ask_line(
            f"{self.NAME}{FILTER}",
            f"{self.NAME} rows",
            self.sift.words,
            complete=part.complete,
            explain=part.explain,
            blank=True,
        )

    def action_sort_rows(self) -> None:
        wanted = self.sift.next_order(self.sifting.listing)
        self._sift_by(wanted)

    def _sift_by(self, wanted: ListFilter) -> None:
        """Filter the screen at once, and by an operation, so that the filter is recorded and saved."""
        self.use_sift(wanted)
        sort = f"-{wanted.order}" if wanted.reverse else wanted.order
        call = operations.workspace.filter_rows(self.sifting.pane, list(wanted.terms), sort=sort)
        self.ask(call, slot=f"{self.NAME}:filter")

    # --- for the app --------------------------------------------------------------------------------------

    @property
    def own_bindings(self) -> list[Binding]:
        """Keys of the pane, including inherited ones."""
        return [binding for group in self._bindings.key_to_bindings.values() for binding in group]

    def canvas(self) -> Canvas:
        """Return a canvas of the pane's size in the present theme."""
        size = self.content_size
        return self.host.canvas(size.width, size.height)

    def ask(
        self, call: Call[Any], *, slot: str = "", origin: Origin = "operator", follow: Follow | None = None
    ) -> None:
        """Pass a call to the engine. A call of the screen itself replaces its predecessor of the same slot.

        follow: further requests delivered with the result; default: those of `follow_up`.
        """
        slot = slot or (f"{self.NAME}:{self.slot_of(call)}" if origin == "screen" else "")
        self.host.ask(call, slot=slot, origin=origin, follow=follow or self.follow_up(call))

    def slot_of(self, call: Call[Any]) -> str:
        """Return the slot of a call by the screen itself."""
        return call.operation.name

    def follow_up(self, call: Call[Any]) -> Follow | None:
        """Return the further requests for a call that names none."""
        del call
        return None

    def look(self) -> None:
        """Request everything that the pane shows: now if it is visible, else when it becomes visible.

        Before the first overview of the memory it is unknown which panes will be visible, and requests for others would
        only delay them.
        """
        if not self.has_place or (self.OF_MEMORY and self.host.overview is None):
            self.stale = True
            if not (self.ASKS_AWAY and self.empty):
                return
        else:
            self.stale = False
        for call in self.asks():
            self.ask(call, origin="screen")

    @property
    def has_place(self) -> bool:
        """Whether the layout includes the pane."""
        return self.host.shows(self.NAME)

    def came_on_screen(self) -> None:
        """Refresh the pane when it becomes visible, if it is stale."""
        if self.stale:
            self.look()

    def selection_changed(self, block_id: str | None) -> None:
        """Request what the pane shows about the newly selected block, if anything."""

    def take_answer(self, line: str) -> None:
        """Pass the operator's answer to the caller of `ask_line`."""
        self._then(line)

    def show_to_operator(self, command: str, result: object) -> None:
        """Show a result that the operator asked for, beyond redrawing the pane."""

    def begin_request(self, request: EngineRequest) -> None:
        if request.origin == "operator":
            self.screen.clear_selection()  # so that ctrl+c stops the request instead of copying
        self.busy = request if request.origin == "operator" else None
        self._say(same_figure=True)

    def receive(self, command: str, result: object, looks: Iterable[object] = ()) -> None:
        """Receive a result that is still wanted, with the results of its further requests."""
        if self.trouble is not None and self.trouble.request.command == command:
            self.trouble = None
        self.busy = None
        self.take(result)
        for look in looks:
            self.take_look(look)
        self._say()
        self.repaint()
        self.refresh_bindings()
        self.host.give_way()

    def receive_failure(self, failure: Failed) -> None:
        """Receive a failure; it is shown in the pane only for a request of the screen itself."""
        self.busy = None
        self.trouble = failure if failure.request.origin == "screen" else None
        self._say()
        self.repaint()

    def end_request(self) -> None:
        """Clear the pane's running request, whatever its outcome."""
        self.busy = None
        self._say()
        self.repaint()

    def show_change(self) -> None:
        """Redraw edges, picture and keys after a key changed the pane's content."""
        self._say()
        self.repaint()
        self.refresh_bindings()

    def _say(self, *, same_figure: bool = False) -> None:
        """Update both edges. Each change of an edge makes Textual draw the whole pane.

        same_figure: nothing else has changed, so the figure on the screen is reused.
        """
        said_now = self.title(), f"{self.busy.title} …" if self.busy is not None else self.subtitle()
        if said_now != self._said:
            self._said = said_now
            self._edges_changed = True
            if same_figure and self._fresh is None and self.has_place:
                self._fresh, self._fresh_size = self._shown, self._shown_size
            self.border_title, self.border_subtitle = (Content(printable_line(line)) for line in said_now)

    # --- drawing ------------------------------------------------------------------------------------------

    def repaint(self) -> None:
        """Redraw the picture soon, and once for several calls; only changed lines go to the terminal."""
        if not self._repaints:
            self._repaints = True
            self.call_next(self._repaint)

    def _repaint(self) -> None:
        if not self._repaints:
            return  # Textual has drawn the whole pane meanwhile
        self._repaints = False
        if not self.has_place:
            self._lines, self._fresh, self._shown = [], None, None
            self.refresh()
            return
        before, self._fresh, self._fresh_size = self._lines, self.picture(), self.content_size
        rows = find_changed_rows(before, lines_of(self._fresh))
        if rows is None:
            self.refresh()
        elif rows:
            width = self.content_size.width
            self.refresh(*(Region(0, first, width, last - first) for first, last in rows))
        elif not self._edges_changed:
            self._fresh = None

    def redraw(self) -> None:
        """Redraw the whole picture, since the colours or the symbols have changed."""
        self._fresh = self._shown = None
        self.refresh()

    def render(self) -> FigureVisual:
        """Return the picture for Textual: the one that `repaint` has drawn, if it still has the pane's size."""
        fresh, self._fresh = self._fresh, None
        if fresh is None or self._fresh_size != self.content_size:
            self._repaints = False  # this picture includes what `repaint` would draw
            fresh = self.picture()
        self._shown, self._shown_size, self._edges_changed = fresh, self.content_size, False
        self._lines = lines_of(fresh)
        mark = self.text_selection
        if mark is None:
            return FigureVisual(fresh)
        before, self._mark_shown = self._mark_shown, (mark, extract_marked_text(fresh, mark))
        if before[0] == mark and before[1] != self._mark_shown[1]:
            self.call_next(self.screen.clear_selection)  # the text under the selection has changed
            return FigureVisual(fresh)
        return FigureVisual(with_mark(fresh, mark))

    # --- marking with the mouse -----------------------------------------------------------------------------

    def letter_under(self, x: int, y: int) -> Offset:
        """Return the character at screen position x, y, as (index in its line, line); outside the picture the nearest
        one.
        """
        left, top = self.content_region.offset
        if not self._lines:
            return Offset(0, 0)
        row = max(0, min(y - top, len(self._lines) - 1))
        return Offset(letter_at(self._lines[row][0], x - left), row)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the mouse selection's text in the picture on the screen."""
        return (extract_marked_text(self._shown, selection), "\n") if self._shown is not None else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Show the mouse selection on the picture on the screen, without drawing that again."""
        if selection is None:
            self._mark_shown = (None, "")
        if self._fresh is None:
            self._fresh, self._fresh_size = self._shown, self._shown_size
        self.refresh()

    def text_select_all(self) -> None:
        """Do nothing: a double click is two clicks on a row, and `y` copies the whole pane."""

    @property
    def select_container(self) -> Widget:
        """The pane itself: a mouse selection never spans two panes."""
        return self

    def check_message_enabled(self, message: Message) -> bool:
        """Return whether a message is handled: releasing the mouse after a selection is no click on a row."""
        if isinstance(message, events.Click) and self.text_selection is not None:
            return False
        return super().check_message_enabled(message)

    def picture(self) -> Text:
        """Return the pane's picture, or the reason why there is none."""
        canvas = self.canvas()
        if canvas.width < 1 or canvas.height < 1:
            return Text("")
        if self.trouble is not None:
            words = f"{self.trouble.message} {self.trouble.way_out}"
            return notice(canvas, f"✗ {self.trouble.title}", (), words)
        try:
            return self.draw(canvas)
        except Exception as error:  # noqa: BLE001 - a bad picture must not take the program down
            words = f"{type(error).__name__}: {error} The other panes still work; please report it."
            return notice(canvas, "✗ A fault in this picture", (), words)
