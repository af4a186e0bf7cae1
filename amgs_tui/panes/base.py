"""What all panes share: they draw one picture of one result, ask for it through verbs, and say what to do
next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

from amgs_tui.keys import quiet
from amgs_tui.messages import Failed, Origin, Request
from amgs_tui.pictures.canvas import Canvas
from amgs_tui.pictures.notice import notice
from amgs_tui.widgets.arrangement import PANES
from amgs_tui.widgets.tabs import TITLES

if TYPE_CHECKING:
    from amgs_tui.app import Workstation

Ask = tuple[str, Mapping[str, Any]]
"""A verb and its arguments."""


class Drawn:
    """A picture as Textual draws it three times as fast as a text: its lines have their width already."""

    def __init__(self, picture: Text) -> None:
        self.picture = picture

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del options
        return self.picture.render(console)


class Pane(Widget, can_focus=True):
    """A framed picture with keys of its own.

    NAME: its word in the verbs. SHOWS: the verbs whose results it takes, whoever asked. PURPOSE: what F1
    says first."""

    NAME: ClassVar[str] = ""
    SHOWS: ClassVar[frozenset[str]] = frozenset()
    PURPOSE: ClassVar[str] = ""

    DEFAULT_CSS = """
    Pane {
        border: round $faint; border-title-color: $muted; border-subtitle-color: $muted;
        background: $background; color: $foreground; padding: 0; height: 1fr; width: 1fr;
    }
    Pane:focus { border: round $accent; border-title-color: $accent; border-title-style: bold; }
    """

    class Picked(Message):
        """The operator picked a block: it becomes the selection of every pane."""

        def __init__(self, block_id: str) -> None:
            super().__init__()
            self.block_id = block_id

    def __init__(self) -> None:
        super().__init__(id=self.NAME)
        self.trouble: Failed | None = None
        self.busy: Request | None = None
        self.stale = True
        self.border_title = f"{PANES.index(self.NAME) + 1} {TITLES[self.NAME][0]}"

    # --- for the panes ------------------------------------------------------------------------------------

    def asks(self) -> Iterable[Ask]:
        """What the pane looks at by itself to be up to date."""
        return ()

    def take(self, verb: str, result: Any) -> None:
        """Keep a result of one of the verbs in SHOWS; the pane is redrawn afterwards."""
        raise NotImplementedError

    def draw(self, canvas: Canvas) -> Text:
        """The picture of what the pane holds."""
        raise NotImplementedError

    def copied(self) -> str:
        """What `copy` takes: the picture as text, unless the pane holds a text."""
        return "\n".join(line.rstrip() for line in self.picture().plain.splitlines())

    def subtitle(self) -> str:
        """What stands at the lower edge when nothing runs."""
        return ""

    # --- for the app --------------------------------------------------------------------------------------

    @property
    def workstation(self) -> Workstation:
        return cast("Workstation", self.app)

    def canvas(self) -> Canvas:
        """The canvas of the pane's present size, in the present theme."""
        size = self.content_size
        return self.workstation.canvas(size.width, size.height)

    def ask(self, verb: str, *, origin: Origin = "operator", **arguments: Any) -> None:
        """Hand an action to the engine; a look of the screen replaces the one before it."""
        slot = f"{self.NAME}:{verb}" if origin == "screen" else ""
        self.workstation.submit(verb, arguments, slot=slot, origin=origin)

    def look(self) -> None:
        """Ask for everything the pane shows, now if it is on the screen, else when it comes there."""
        if not self.has_place:
            self.stale = True
            return
        self.stale = False
        for verb, arguments in self.asks():
            self.ask(verb, origin="screen", **arguments)

    @property
    def has_place(self) -> bool:
        """Whether the arrangement gives the pane a place."""
        return self.NAME in self.workstation.body.shown

    def came_on_screen(self) -> None:
        """The arrangement gave the pane a place: what it shows may be old."""
        if self.stale:
            self.look()

    def selection_changed(self, block_id: str | None) -> None:
        """Another block is selected; the panes that show it ask for it."""

    def answered(self, line: str) -> None:
        """The operator answered what the pane had asked with `ask_line`."""

    def shown_to_operator(self, verb: str, result: Any) -> None:
        """The operator asked for this result: more than redrawing may be due."""

    def started(self, request: Request) -> None:
        self.busy = request if request.origin == "operator" else None
        self._say()

    def finished(self, verb: str, result: Any) -> None:
        """A result arrived that is still wanted."""
        self.trouble = None
        self.busy = None
        self.take(verb, result)
        self._say()
        self.refresh()
        self.refresh_bindings()

    def failed(self, failure: Failed) -> None:
        """An action of this pane failed: said in the pane only where nothing else can be shown."""
        self.busy = None
        self.trouble = failure if failure.request.origin == "screen" else None
        self._say()
        self.refresh()

    def ended(self) -> None:
        """The request the pane was busy with is over, whatever came of it."""
        self.busy = None
        self._say()
        self.refresh()

    def _say(self) -> None:
        self.border_subtitle = f"{self.busy.title} …" if self.busy is not None else self.subtitle()

    # --- drawing ------------------------------------------------------------------------------------------

    def render(self) -> Drawn:
        return Drawn(self.picture())

    def picture(self) -> Text:
        """What stands in the pane now: its picture, or why there is none."""
        canvas = self.canvas()
        if canvas.width < 1 or canvas.height < 1:
            return Text("")
        if self.trouble is not None:
            words = f"{self.trouble.message} {self.trouble.way_out}"
            return notice(canvas, f"✗ {self.trouble.title}", (), words)
        try:
            return self.draw(canvas)
        except Exception as error:  # noqa: BLE001 - one bad picture must not take the workstation down
            words = f"{type(error).__name__}: {error} The other panes work; please report it."
            return notice(canvas, "✗ A fault in this picture", (), words)


class ListPane(Pane):
    """A pane with a cursor over rows."""

    BINDINGS: ClassVar[list[Any]] = [
        quiet("up,k", "move(-1)", "up", "list.up", "One row up"),
        quiet("down,j", "move(1)", "down", "list.down", "One row down"),
        quiet("pageup", "page(-1)", "page up", "list.page_up", "One page up"),
        quiet("pagedown", "page(1)", "page down", "list.page_down", "One page down"),
        quiet("home,g", "edge(-1)", "first", "list.first", "To the first row"),
        quiet("end,G", "edge(1)", "last", "list.last", "To the last row"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.cursor = 0

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return 0

    def moved(self) -> None:
        """The cursor stands on another row."""

    def move_to(self, row: int) -> None:
        """Put the cursor on a row (clipped to those there are)."""
        row = max(0, min(row, self.rows - 1))
        if row != self.cursor and self.rows:
            self.cursor = row
            self.moved()
            self._say()
        self.refresh()

    def action_move(self, by: int) -> None:
        self.move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        self.move_to(self.cursor + by * max(1, self.content_size.height - 4))

    def action_edge(self, where: int) -> None:
        self.move_to(0 if where < 0 else self.rows - 1)

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor on the row under the pointer."""
        offset = event.get_content_offset(self)
        marked = marked_line(self.draw(self.canvas()), self.workstation.palette.selection)
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
