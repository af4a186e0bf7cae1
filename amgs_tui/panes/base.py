"""What all panes share: they draw one picture of one result, ask for it through verbs, and say what to do
next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.widget import Widget

from amgs.errors import UsageError
from amgs_app import operations
from amgs_app.line import quote
from amgs_app.printable import printable_line
from amgs_app.render.figures.canvas import Canvas
from amgs_app.render.figures.empty_state import notice
from amgs_app.render.figures.format import plural
from amgs_app.row_fields import LISTINGS, shown
from amgs_app.row_filter import Listing, Row, Sift, check, said
from amgs_tui.completion import Completion
from amgs_tui.keys import quiet
from amgs_tui.messages import EngineRequest, Failed, Follow, Origin
from amgs_tui.widgets.arrangement import PANES
from amgs_tui.widgets.tabs import TITLES

if TYPE_CHECKING:
    from textual.binding import Binding

    from amgs_app.calls.call import Call
    from amgs_app.pane_names import Pane as PaneName
    from amgs_tui.host import Host

FILTER: Final = " filter"
"""What follows a pane's name in the topic of the line that asks for its filter."""
SHORT_TEXTS: Final = frozenset(
    ("category", "fate", "child", "relation", "last", "reason", "state", "status", "frame", "kind")
)
"""Fields with few values: completion offers them."""


class FigureVisual:
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
    Pane:focus { border: heavy $accent; border-title-color: $accent; border-title-style: bold; }
    """

    class Picked(Message):
        """The operator picked a block: it becomes the selection of every pane."""

        def __init__(self, block_id: str) -> None:
            super().__init__()
            self.block_id = block_id

    def __init__(self, host: Host) -> None:
        super().__init__(id=self.NAME)
        self.host = host
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
        self._said = (Pane.title(self), "")
        self.border_title = self._said[0]

    # --- for the panes ------------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        """What the pane looks at by itself to be up to date."""
        return ()

    def take(self, verb: str, result: Any) -> None:
        """Keep a result of one of the verbs in SHOWS; the pane is redrawn afterwards."""
        raise NotImplementedError

    def take_look(self, verb: str, result: Any) -> None:
        """Keep a look that followed a result."""
        self.take(verb, result)

    def draw(self, canvas: Canvas) -> Text:
        """The picture of what the pane holds."""
        raise NotImplementedError

    def copied(self) -> str:
        """What `copy` takes: the picture as text, unless the pane holds a text."""
        return "\n".join(line.rstrip() for line in self.picture().plain.splitlines())

    def title(self) -> str:
        """What stands at the upper edge."""
        return f"{PANES.index(self.NAME) + 1} {TITLES[self.NAME][0]}"

    def subtitle(self) -> str:
        """What stands at the lower edge when nothing runs."""
        return ""

    @property
    def empty(self) -> bool:
        """Whether the pane has nothing to show, so that another one may have its place."""
        return False

    @property
    def waits(self) -> str:
        """What stands in a pane that has nothing to show yet: behind what it waits."""
        behind = self.host.waits_for
        return f"Waiting for {behind} …" if behind else "Reading the memory …"

    # --- for the app --------------------------------------------------------------------------------------

    @property
    def own_bindings(self) -> list[Binding]:
        """The keys of the pane, the inherited ones too."""
        return [each for group in self._bindings.key_to_bindings.values() for each in group]

    def canvas(self) -> Canvas:
        """The canvas of the pane's present size, in the present theme."""
        size = self.content_size
        return self.host.canvas(size.width, size.height)

    def ask(
        self,
        call: Call[Any],
        *,
        slot: str = "",
        origin: Origin = "operator",
        follow: Follow | None = None,
    ) -> None:
        """Hand a call to the engine; a look of the screen replaces the one before it.

        follow: the looks that are taken with the result; the pane takes them together with it.
        """
        name = call.operation.name
        slot = slot or (f"{self.NAME}:{name}" if origin == "screen" else "")
        self.host.submit(name, call.arguments, slot=slot, origin=origin, follow=follow)

    def look(self) -> None:
        """Ask for everything the pane shows, now if it is on the screen, else when it comes there."""
        if not self.has_place:
            self.stale = True
            return
        self.stale = False
        for call in self.asks():
            self.ask(call, origin="screen")

    @property
    def has_place(self) -> bool:
        """Whether the arrangement gives the pane a place."""
        return self.host.shows(self.NAME)

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

    def started(self, request: EngineRequest) -> None:
        self.busy = request if request.origin == "operator" else None
        self._say(same_figure=True)

    def finished(self, verb: str, result: Any, looks: Iterable[tuple[str, Any]] = ()) -> None:
        """A result arrived that is still wanted, with the looks that followed it."""
        if self.trouble is not None and self.trouble.request.verb == verb:
            self.trouble = None
        self.busy = None
        self.take(verb, result)
        for name, seen in looks:
            self.take_look(name, seen)
        self._say()
        self.repaint()
        self.refresh_bindings()
        self.host.give_way()

    def failed(self, failure: Failed) -> None:
        """An action of this pane failed: said in the pane only where nothing else can be shown."""
        self.busy = None
        self.trouble = failure if failure.request.origin == "screen" else None
        self._say()
        self.repaint()

    def ended(self) -> None:
        """The request the pane was busy with is over, whatever came of it."""
        self.busy = None
        self._say()
        self.repaint()

    def _say(self, *, same_figure: bool = False) -> None:
        """Bring both edges up to date; each change of one has Textual draw the whole pane.

        same_figure: nothing else has changed, so the figure on the screen serves again.
        """
        said_now = self.title(), f"{self.busy.title} …" if self.busy is not None else self.subtitle()
        if said_now != self._said:
            self._said = said_now
            self._edges_changed = True
            if same_figure and self._fresh is None and self.has_place:
                self._fresh, self._fresh_size = self._shown, self._shown_size
            self.border_title, self.border_subtitle = (Content(printable_line(each)) for each in said_now)

    # --- drawing ------------------------------------------------------------------------------------------

    def repaint(self) -> None:
        """Draw the picture again, soon and once; only the lines that became others go to the terminal."""
        if not self._repaints:
            self._repaints = True
            self.call_next(self._repaint)

    def _repaint(self) -> None:
        if not self._repaints:
            return  # Textual has drawn all of it meanwhile
        self._repaints = False
        if not self.has_place:
            self._lines, self._fresh, self._shown = [], None, None
            self.refresh()
            return
        before, self._fresh, self._fresh_size = self._lines, self.picture(), self.content_size
        rows = changed_rows(before, lines_of(self._fresh))
        if rows is None:
            self.refresh()
        elif rows:
            width = self.content_size.width
            self.refresh(*(Region(0, first, width, last - first) for first, last in rows))
        elif not self._edges_changed:
            self._fresh = None

    def redraw(self) -> None:
        """Draw the picture again, all of it: the colours or the symbols are others."""
        self._fresh = self._shown = None
        self.refresh()

    def render(self) -> FigureVisual:
        """The picture for Textual: the one that `repaint` has drawn, if it still has the pane's size."""
        fresh, self._fresh = self._fresh, None
        if fresh is None or self._fresh_size != self.content_size:
            self._repaints = False  # what `repaint` waits to draw is in this picture
            fresh = self.picture()
        self._shown, self._shown_size, self._edges_changed = fresh, self.content_size, False
        self._lines = lines_of(fresh)
        return FigureVisual(fresh)

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
        except Exception as error:  # noqa: BLE001 - one bad picture must not take the program down
            words = f"{type(error).__name__}: {error} The other panes still work; please report it."
            return notice(canvas, "✗ A fault in this picture", (), words)


class SiftedPane(Pane):
    """A pane that lists something: its rows can be filtered and sorted, which is kept with the layout.

    Which rows are shown is a matter of `amgs_app.row_fields`; a pane says with `all_rows` what it holds.
    """

    BINDINGS: ClassVar[list[Any]] = [
        quiet("F", "filter_rows", "filter", "list.filter", "Filter the rows: a word, field:word, field>0.5"),
        quiet("O", "sort_rows", "order", "list.sort", "Cycle the sort order"),
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.sift = Sift()

    def all_rows(self) -> Sequence[Row]:
        """Every row that the pane holds, shown or not."""
        return ()

    def sifted(self) -> None:
        """Other rows are shown, or in another order: put the cursor on one of them, ask for what is needed."""

    @property
    def listing(self) -> Listing:
        return LISTINGS[cast("Any", self.NAME)]

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the rows that are shown, in the order they are shown."""
        return shown(cast("Any", self.NAME), self.all_rows(), self.sift)

    def use_sift(self, sift: Sift) -> None:
        """Filter and sort as given, at once."""
        if sift != self.sift:
            self.sift = sift
            self.sifted()
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

    def _sift_by(self, call: Call[Any], wanted: Sift) -> None:
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


class ListPane(SiftedPane):
    """A pane with a cursor over rows."""

    BINDINGS: ClassVar[list[Any]] = [
        quiet("up,k", "move(-1)", "up", "list.up", "One row up"),
        quiet("down,j", "move(1)", "down", "list.down", "One row down"),
        quiet("pageup", "page(-1)", "page up", "list.page_up", "One page up"),
        quiet("pagedown", "page(1)", "page down", "list.page_down", "One page down"),
        quiet("home,g", "edge(-1)", "first", "list.first", "First row"),
        quiet("end,G", "edge(1)", "last", "list.last", "Last row"),
        *SiftedPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.cursor = 0

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return 0

    def moved(self) -> None:
        """The cursor stands on another row."""

    def rows_on_screen(self) -> Mapping[int, int] | None:
        """Which row each line of the picture shows; None for a pane whose rows follow each other line by line."""
        return None

    def move_to(self, row: int) -> None:
        """Put the cursor on a row (clipped to those there are)."""
        row = max(0, min(row, self.rows - 1))
        if row != self.cursor and self.rows:
            self.cursor = row
            self.moved()
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


Line = tuple[str, tuple[tuple[int, int, object], ...]]
"""A line of a picture: its text, and where which style lies on it."""


def lines_of(picture: Text) -> list[Line]:
    """A picture line by line; no span of a picture passes the end of its line."""
    lines: list[Line] = []
    spans = iter(picture.spans)
    span = next(spans, None)
    start = 0
    for text in picture.plain.split("\n"):
        end = start + len(text)
        found = []
        while span is not None and span.start < end:
            found.append((span.start - start, span.end - start, span.style))
            span = next(spans, None)
        lines.append((text, tuple(found)))
        start = end + 1
    return lines


def changed_rows(before: Sequence[Line], after: Sequence[Line]) -> list[tuple[int, int]] | None:
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


def marked_line(picture: Text, selection: str) -> int | None:
    """The line of a picture that lies on the selection's colour; None when none does."""
    for span in picture.spans:
        style = span.style
        colour = None if isinstance(style, str) else style.bgcolor
        if colour is not None and colour.name == selection:
            return picture.plain.count("\n", 0, span.start)
    return None
