"""The panes and the lines around them: layout by the terminal's size, and the focus."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.geometry import Offset
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from amgs_app.panes.layout import PANES
from amgs_app.panes.row_filter import ListFilter
from amgs_tui.panes.base import Pane
from amgs_tui.panes.by_key import PANE_TYPES
from amgs_tui.panes.decay import DecayPane
from amgs_tui.panes.focus import FocusPane
from amgs_tui.widgets.arrangement import LEAST_HEIGHT, LEAST_WIDTH, Body
from amgs_tui.widgets.bars import TITLES, KeyBar, StatusLine, TabLine
from amgs_tui.widgets.header import HeaderFacts, HeaderLine
from amgs_tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from amgs_app.panes.layout import Layout
    from amgs_focus.views import FocusView
    from amgs_tui.host import Host
    from amgs_tui.state import ScreenState

P = TypeVar("P", bound=Pane)

CSS: Final = """
MainScreen { layout: vertical; background: $background; color: $foreground; overflow: hidden hidden; }
#small {
    display: none; width: 1fr; height: 1fr; color: $warn;
    content-align: center middle; text-align: center;
}
MainScreen.-tiny #small { display: block; }
MainScreen.-tiny Body, MainScreen.-tiny TabLine, MainScreen.-tiny HeaderLine, MainScreen.-tiny StatusLine,
MainScreen.-tiny KeyBar, MainScreen.-tiny Prompt { display: none; }
TabLine { display: none; }
MainScreen.-single TabLine { display: block; }
MainScreen.-front TabLine { display: none; }
MainScreen.-asking StatusLine, MainScreen.-asking KeyBar { display: none; }
"""
"""For the app's style sheet, since Textual reads none from the first screen."""


class MainScreen(Screen[Any], inherit_bindings=False):
    """Panes, header, tabs, status line, key bar and command line. Tab is left to the app, which moves between visible
    panes.
    """

    BINDINGS: ClassVar[list[Any]] = [
        Binding(
            "ctrl+c",
            "app.copy_marked",
            "copy",
            show=False,
            id="app.copy",
            tooltip="Copy the text selected with the mouse; without a selection, stop what is running",
        )
    ]

    class Painted(Message):
        """The first paint is done."""

    def __init__(self, host: Host, state: ScreenState) -> None:
        super().__init__(id="_default")
        self._state = state
        # The parts, cached: a key must not search the tree of widgets for them.
        self.panes: tuple[Pane, ...] = tuple(kind(host) for kind in PANE_TYPES)
        self.body = Body(*self.panes, main=PANES[0])
        self.header, self.tabs, self.status = HeaderLine(host), TabLine(), StatusLine()
        self._small = Static(id="small")
        self._key_bar = KeyBar(host)
        self.prompt = Prompt()
        self._on_screen: tuple[str, ...] = ()
        self._last_focused = PANES[0]
        self._put_off: list[Callable[[], None]] = []
        """What opens once no line is typed any more."""
        self.moves = 0
        """How often the operator has gone to another pane by themselves."""

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.tabs
        yield self.body
        yield self._small
        yield self.status
        yield self._key_bar

    def on_mount(self) -> None:
        front = self._state.front
        self.set_class(bool(front), "-front")
        self.body.maximised = bool(front)
        name = f"{TITLES[front][0].lower()} on this machine" if front else self._state.store_name
        self.header.facts = HeaderFacts(name or "opening the memory …")
        self.go(front or PANES[0])
        self.app.call_after_refresh(self.post_message, self.Painted())

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        """Return the widget under the pointer and the character in it; a mouse selection stays within the pane where it
        began.
        """
        if self._selecting and self._select_state is not None:
            widget = self._select_state.start.content_widget
            if not isinstance(widget, Pane) and isinstance(self.get_widget_at(x, y)[0], Pane):
                return None, None
        else:
            widget, _ = self.get_widget_at(x, y)
        if isinstance(widget, Pane):
            return widget, widget.letter_under(x, y)
        return super().get_widget_and_offset_at(x, y)

    @property
    def ready(self) -> bool:
        """Return whether the widgets are mounted, neither before the screen is set up nor after it is closed."""
        return self.is_attached and self.status.is_attached

    # --- parts --------------------------------------------------------------------------------------------

    def pane(self, name: str) -> Pane:
        """Return the pane with this name."""
        return self.panes[PANES.index(name)]

    def pane_of(self, kind: type[P]) -> P:
        """Return the pane of this type."""
        return next(pane for pane in self.panes if isinstance(pane, kind))

    def panes_of(self, command: str) -> Iterable[Pane]:
        """Return the panes that show the results of this command."""
        return (pane for pane in self.panes if command in pane.SHOWS)

    @property
    def lifetime(self) -> FocusView | None:
        """Working context as shown in the focus pane."""
        return self.pane_of(FocusPane).view

    def redraw(self) -> None:
        """Draw every figure again."""
        for pane in self.panes:
            pane.redraw()

    def draw_header(self) -> None:
        """Update the header from the overview and the clock."""
        state = self._state
        if state.overview is None:
            return
        status = replace(state.overview.store, now=state.now())
        if state.attached:
            status = replace(status, path=state.store_name)  # where it is reached, not where it lies there
        view, forecast = self.lifetime, self.pane_of(DecayPane).forecast
        model = state.overview.model
        if state.models is not None:
            model = f"{model} {state.models}"
        if view is not None:
            model = f"{view.model.removesuffix('-Instruct')} {view.precision}"
        self.header.facts = HeaderFacts(
            store=state.store_name,
            status=status,
            model=model,
            threshold=forecast.threshold if forecast is not None else None,
            live=view is None or view.live,
            recording=state.recording,
            sample_time=state.overview.sample_time,
            read_only=state.overview.read_only,
        )

    # --- the line to type into ----------------------------------------------------------------------------

    def mount_prompt(self) -> None:
        """After the first paint: create the command line."""
        self.mount(self.prompt)

    @property
    def asking(self) -> bool:
        """Return whether the operator is typing a line."""
        return self.has_class("-asking")

    def open_prompt(self, topic: str, label: str, value: str = "", **how: Any) -> None:
        """Ask for a line, once the command line exists."""
        if self.prompt.is_attached:
            self.add_class("-asking")
            self.prompt.open(topic, label, value, **how)

    def close_prompt(self) -> None:
        """Show the status line and key bar again, and return the focus to the pane."""
        self.remove_class("-asking")
        self.focus_last_pane()
        self._show_put_off()

    @property
    def typing(self) -> bool:
        """Return whether typed text goes into a line, of the screen or a dialog."""
        return self.asking or isinstance(self.app.focused, Input)

    def show_after_typing(self, show: Callable[[], None]) -> None:
        """Open something that would take the keys, once no line is being typed."""
        if self.typing:
            self._put_off.append(show)
        else:
            show()

    def on_screen_resume(self) -> None:
        if not self.asking:
            self._show_put_off()

    def _show_put_off(self) -> None:
        waiting, self._put_off = self._put_off, []
        for show in waiting:
            show()

    def leave_front(self) -> None:
        """Show the other panes, since there is a memory now."""
        if self._state.front:
            self._state.front = ""
            self.remove_class("-front")
            self.body.maximised = False
            self.rearrange()

    # --- layout -------------------------------------------------------------------------------------------

    def rearrange(self) -> None:
        """Adapt to the terminal's size: the layout's class, the tab line, newly visible panes."""
        self.body.empty = self._empty_panes()
        mode = self.body.mode
        for name in ("tiny", "single", "split", "tiled"):
            self.set_class(mode == name, f"-{name}")
        if mode == "tiny":
            width, height = self.app.size
            self._small.update(
                f"This terminal is {width}×{height}.\n{LEAST_WIDTH}×{LEAST_HEIGHT} is the minimum.\nq quits"
            )
        self.body.rearrange()
        self.app.call_after_refresh(self._tell_new_panes)

    def give_way(self) -> None:
        """Let panes with nothing to show give their place to others, except the focused pane."""
        if self._empty_panes() != self.body.empty:
            self.rearrange()

    def _empty_panes(self) -> frozenset[str]:
        """Return the panes with nothing to show; the large pane keeps its place but leaves room, a focused pane stays
        unchanged.
        """
        focused, main = self.focused_pane, self.body.main
        return frozenset(pane.NAME for pane in self.panes if pane.empty and (pane is not focused or main == pane.NAME))

    def _tell_new_panes(self) -> None:
        """Notify panes that have become visible."""
        shown = self.body.shown
        came, self._on_screen = [name for name in shown if name not in self._on_screen], shown
        for name in came:
            self.pane(name).came_on_screen()

    def look_at_stale(self) -> None:
        """Refresh visible panes that could not be refreshed before."""
        for pane in self.panes:
            if pane.NAME in self.body.shown:
                pane.came_on_screen()

    def use_layout(self, layout: Layout) -> None:
        """Arrange the panes, filter and sort their lists."""
        self.body.beside, self.body.maximised = layout.beside, layout.large
        for pane in self.panes:
            pane.use_sift(layout.sifts.get(pane.sifting.pane, ListFilter()))
        self.go(layout.pane)

    # --- focus --------------------------------------------------------------------------------------------

    @property
    def focused_pane(self) -> Pane | None:
        """Pane that has the focus."""
        return self.focused if isinstance(self.focused, Pane) else None

    @property
    def is_in_front(self) -> bool:
        """Return whether no dialog covers the panes and no line is being typed."""
        return len(self.app.screen_stack) == 1 and not self.asking

    @property
    def untouched(self) -> bool:
        """Return whether the operator has not moved yet and is not typing."""
        return self.body.main == PANES[0] and not self.body.maximised and self.is_in_front

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, Pane):
            if self._last_focused != event.widget.NAME:
                self.moves += 1  # by a click: what goes through `go` has noted its pane already
            self._last_focused = event.widget.NAME

    def focus_last_pane(self) -> None:
        """Return the focus to the last pane that had it."""
        name = self._last_focused
        self.set_focus(self.pane(name if name in self.body.shown else self.body.main))

    def go(self, name: str) -> None:
        """Focus a pane, in the large place if any. Without a memory there is a single pane."""
        if self._state.front not in ("", name):
            self.notify("`:ingest FOLDER` begins a memory, `amgs demo` opens a sample.", title="There is no memory yet")
            return
        self.body.main = self._last_focused = self.tabs.active = name
        if not self.asking:  # a line that is being typed keeps the keys, and gives them to the pane when it is left
            self.set_focus(self.pane(name))  # at once: the next key may already wait
        self.rearrange()

    def bring(self, name: str) -> None:
        """Bring a pane to the front; does nothing if it is there."""
        if self.body.main == name and self.focused is self.pane(name):
            self.give_way()
        else:
            self.go(name)

    def move_to(self, name: str) -> None:
        """Go to a pane for the operator."""
        self.moves += 1
        self.go(name)

    def on_tab_line_chosen(self, event: TabLine.Chosen) -> None:
        self.move_to(event.pane)

    def walk(self, by: int) -> None:
        """Focus the next visible pane; if a single pane fits, show the next pane."""
        self.moves += 1
        shown = self.body.shown
        if len(shown) > 1:
            place = shown.index(self._last_focused) if self._last_focused in shown else 0
            self.set_focus(self.pane(shown[(place + by) % len(shown)]))
        else:
            self.go(PANES[(PANES.index(self.body.main) + by) % len(PANES)])

    def maximise(self) -> None:
        """Show only the focused pane, or all of them again."""
        pane = self.focused_pane or self.pane(self.body.main)
        self.body.maximised = not self.body.maximised
        self.go(pane.NAME)

    def select(self, block_id: str) -> None:
        """Select a block in every pane."""
        if block_id != self._state.selected:
            self._state.selected = block_id
            for pane in self.panes if self.ready else ():
                pane.selection_changed(block_id)
