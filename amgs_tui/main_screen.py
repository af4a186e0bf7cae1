"""The stage: the panes and the lines around them, how they follow the terminal's size, the theme, the
selection.

It knows no engine. What the panes want done goes through `submit`, which the desk above this layer fills in.
"""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, cast

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.filter import LineFilter
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Static

from amgs_app.printable import printable, printable_line
from amgs_app.render.figures.canvas import Canvas, Symbols
from amgs_app.row_filter import Sift
from amgs_app.themes import Palette, ThemeError, explain, load_all, shipped_folder, to_textual
from amgs_tui.keys import remapped
from amgs_tui.messages import EngineRequest, Origin
from amgs_tui.panes import PANE_TYPES
from amgs_tui.panes.base import Pane, SiftedPane
from amgs_tui.panes.decay import DecayPane
from amgs_tui.panes.focus import FocusPane
from amgs_tui.widgets.arrangement import LEAST_HEIGHT, LEAST_WIDTH, PANES
from amgs_tui.widgets.ascii import AsciiOnly
from amgs_tui.widgets.body import Body
from amgs_tui.widgets.completion_cache import CompletionCache
from amgs_tui.widgets.header import HeaderFacts, HeaderLine
from amgs_tui.widgets.keybar import KeyBar
from amgs_tui.widgets.printable_only import PrintableOnly
from amgs_tui.widgets.status import StatusLine
from amgs_tui.widgets.tabs import TabLine

if TYPE_CHECKING:
    from amgs.types import Frame
    from amgs_app.operations.results import Layout, Overview
    from amgs_focus.views import FocusView

_PRINTABLE, _ASCII = PrintableOnly(), AsciiOnly()


PLAIN_TERMINALS: Final = ("linux", "dumb")
"""Values of TERM whose terminals show no braille: the console of Linux, and those that only write lines."""
C_LOCALES: Final = ("C", "POSIX")
COERCED: Final = "C.UTF-8"
"""What Python sets LC_CTYPE to where it finds one of them."""


class PaneScreen(Screen[Any], inherit_bindings=False):
    """The screen with the panes. Tab is left to the app, which walks over the panes that have a place."""

    BINDINGS: ClassVar[list[Any]] = [
        Binding(
            "ctrl+c",
            "screen.copy_text",
            "copy",
            show=False,
            id="app.copy",
            tooltip="Copy the text selected with the mouse; without a selection, stop what is running",
        )
    ]


class MainScreen(App[None], inherit_bindings=False):
    """Panes, header, tabs, status line and key bar.

    store_name: what the header shows until the store is open. theme_folders: where palettes lie. now: the
    session's clock."""

    TITLE = "amgs"
    CSS = """
    PaneScreen { layout: vertical; background: $background; color: $foreground; overflow: hidden hidden; }
    #small {
        display: none; width: 1fr; height: 1fr; color: $warn;
        content-align: center middle; text-align: center;
    }
    PaneScreen.-tiny #small { display: block; }
    PaneScreen.-tiny Body, PaneScreen.-tiny TabLine, PaneScreen.-tiny HeaderLine, PaneScreen.-tiny StatusLine,
    PaneScreen.-tiny KeyBar, PaneScreen.-tiny Prompt { display: none; }
    TabLine { display: none; }
    PaneScreen.-single TabLine { display: block; }
    PaneScreen.-asking StatusLine, PaneScreen.-asking KeyBar { display: none; }
    Tooltip { background: $panel; color: $foreground; }
    ToastRack { margin-bottom: 2; }
    Toast { width: 64; max-width: 90%; }
    """
    ESCAPE_TO_MINIMIZE = False

    selected: reactive[str | None] = reactive(None, repaint=False)

    def __init__(
        self,
        *,
        store_name: str = "",
        theme: str | None = None,
        theme_folders: Sequence[Path] | None = None,
        symbols: Symbols | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self.theme_folders = (shipped_folder(),) if theme_folders is None else tuple(theme_folders)
        self.palettes, self._theme_problems = load_all(self.theme_folders)
        super().__init__()
        for palette in self.palettes.values():
            self.register_theme(to_textual(palette))
        self.asked_theme = theme
        self.theme = theme if theme in self.palettes else next(iter(self.palettes))
        self.symbols: Symbols = symbols or symbols_of_terminal()
        self.overview: Overview | None = None
        self.last_frame: Frame | None = None
        self.recording = False
        self.knowledge = CompletionCache()
        # The parts, kept: a key must not search the tree of widgets for them.
        self.panes: tuple[Pane, ...] = tuple(kind() for kind in PANE_TYPES)
        self.body = Body(*self.panes, main=PANES[0])
        self.header, self.status = HeaderLine(), StatusLine()
        self._chosen_theme = ""
        self.keys_given: Mapping[str, str] = {}
        self._store_name = store_name
        self._now = now
        self._had_place: tuple[str, ...] = ()
        self._last_focused = PANES[0]
        self.moves = 0
        """How often the operator has gone to another pane by themselves."""

    @abstractmethod
    def submit(
        self,
        verb: str = "",
        arguments: Mapping[str, Any] | None = None,
        *,
        line: str = "",
        slot: str = "",
        origin: Origin = "operator",
    ) -> EngineRequest | None:
        """Hand an action to the engine's thread; None when the same one already waits."""

    def get_default_screen(self) -> Screen[Any]:
        """The floor, which lies under everything else."""
        return PaneScreen(id="_default")

    # --- parts --------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield self.header
        yield TabLine()
        yield self.body
        yield Static(id="small")
        yield self.status
        yield KeyBar()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The palette's own variables, so that styles hold before a theme is set."""
        return to_textual(Palette()).variables

    def on_mount(self) -> None:
        self.header.facts = HeaderFacts(self._store_name or "opening the memory …")
        self.go(PANES[0])
        self.tell_problems(self._theme_problems)

    def tell_problems(self, problems: Sequence[ThemeError]) -> None:
        """Name the theme files that were skipped."""
        if problems:
            words = explain(problems)
            self.notify(words, title=ThemeError.title, severity="warning", timeout=10, markup=False)

    @property
    def floor(self) -> Screen[Any]:
        """The screen with the panes, whatever lies in front of it."""
        return self.screen_stack[0]

    @property
    def stands(self) -> bool:
        """Whether the parts are there: not yet while the screen is made, no more while it is taken down."""
        return bool(self.screen_stack) and self.status.is_attached

    def pane(self, name: str) -> Pane:
        """The pane of this name."""
        return self.panes[PANES.index(name)]

    def panes_of(self, verb: str) -> Iterable[Pane]:
        """The panes that show what this verb gives."""
        return (pane for pane in self.panes if verb in pane.SHOWS)

    # --- what the panes draw with -------------------------------------------------------------------------

    @property
    def palette(self) -> Palette:
        return self.palettes.get(self.theme) or Palette()

    def canvas(self, width: int, height: int) -> Canvas:
        """A canvas in the present theme and the terminal's signs."""
        return Canvas(width, height, self.palette, self.symbols)

    @property
    def lifetime(self) -> FocusView | None:
        """The working context as the focus pane shows it."""
        pane = self.pane("focus")
        return pane.view if isinstance(pane, FocusPane) else None

    @property
    def titles(self) -> dict[str, str]:
        """Titles of the blocks that were seen, by id."""
        return self.knowledge.titles

    def now(self) -> datetime:
        """The session's instant; the latest one known while the session is being opened."""
        if self._now is not None:
            return self._now()
        return self.overview.store.now if self.overview is not None else datetime.fromtimestamp(0, UTC)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """No control character passes; where the terminal knows ASCII alone, everything keeps to it."""
        found = [*super().get_line_filters(), _PRINTABLE]
        return [*found, _ASCII] if self.symbols == "ascii" else found

    def notify(self, message: str, *, title: str = "", markup: bool = False, **how: Any) -> None:
        """A toast. Its words are shown as they are: a note may hold brackets that Textual would read as styles."""
        del markup
        super().notify(printable(message), title=printable_line(title), markup=False, **how)

    def set_theme(self, name: str) -> None:
        """Use a theme, in the pictures too."""
        if name in self.palettes:
            self.theme = name
            for pane in self.panes:
                pane.refresh()

    def use_symbols(self, symbols: Symbols | Literal["auto"]) -> None:
        """Draw with other signs; auto leaves them as they are."""
        if symbols == "auto":
            return
        self.symbols = symbols
        self.refresh_css(animate=False)  # what was drawn with other signs is forgotten
        for pane in self.panes:
            pane.refresh()

    def use_keys(self, keys: Mapping[str, str]) -> None:
        """Give actions other keys; what cannot be done is named, the rest is."""
        if not keys:
            return
        everywhere = [binding for group in self._bindings.key_to_bindings.values() for binding in group]
        offered = [
            [*everywhere, *(each for group in pane._bindings.key_to_bindings.values() for each in group)]
            for pane in self.panes
        ]
        keymap, problems = remapped(keys, offered)
        self.keys_given = keymap
        self.set_keymap(keymap)
        if problems:
            words = "\n".join((*problems, "Your other keys work. Correct [screen.keys] in the settings."))
            title = "Key bindings ignored" if len(problems) > 1 else "Key binding ignored"
            self.notify(words, title=title, severity="warning", timeout=12, markup=False)

    def add_palettes(self, more: Mapping[str, Palette]) -> None:
        """Take in palettes that were found later."""
        self.palettes |= more
        for palette in more.values():
            self.register_theme(to_textual(palette))

    def action_theme(self) -> None:
        names = list(self.palettes)
        self.choose_theme(names[(names.index(self.theme) + 1) % len(names)])
        self.submit("theme", {"name": self.theme}, slot="theme")

    def choose_theme(self, name: str) -> None:
        """Use a theme because the operator wants it, and remember it with the layout."""
        self.set_theme(name)
        self.asked_theme, self._chosen_theme = None, self.theme
        self.remember_layout()

    def draw_header(self) -> None:
        """Bring the header up to date with the overview and the clock."""
        if self.overview is None:
            return
        view, decay = self.lifetime, self.pane("decay")
        forecast = decay.forecast if isinstance(decay, DecayPane) else None
        model = self.overview.model
        if view is not None:
            model = f"{view.model.removesuffix('-Instruct')} {view.precision}"
        self.header.facts = HeaderFacts(
            store=self._store_name,
            status=replace(self.overview.store, now=self.now()),
            model=model,
            threshold=forecast.threshold if forecast is not None else None,
            live=view is None or view.live,
            recording=self.recording,
            sample_time=self.overview.sample_time,
        )

    # --- layout -------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.call_later(self.arrange)  # the app learns its new size after this handler

    def arrange(self) -> None:
        """Follow the terminal's size: the layout's class, the tab line, the panes that came into view."""
        self.body.empty = self._empty_panes()
        mode = self.body.mode
        for name in ("tiny", "single", "split", "tiled"):
            self.floor.set_class(mode == name, f"-{name}")
        if mode == "tiny":
            width, height = self.size
            note = (
                f"This terminal is {width}×{height}.\n{LEAST_WIDTH}×{LEAST_HEIGHT} is the minimum.\nq quits"
            )
            self.floor.query_one("#small", Static).update(note)
        self.body.rearrange()
        self.call_after_refresh(self._panes_came)

    def give_way(self) -> None:
        """Let panes with nothing to show leave their place to others; never the one that has the focus."""
        if self._empty_panes() != self.body.empty:
            self.arrange()

    def _empty_panes(self) -> frozenset[str]:
        focused = self.focused_pane
        return frozenset(pane.NAME for pane in self.panes if pane.empty and pane is not focused)

    def _panes_came(self) -> None:
        """Tell the panes that have a place now and had none before."""
        shown = self.body.shown
        came, self._had_place = [name for name in shown if name not in self._had_place], shown
        for name in came:
            self.pane(name).came_on_screen()

    # --- walking ------------------------------------------------------------------------------------------

    @property
    def focused_pane(self) -> Pane | None:
        """The pane that has the focus."""
        focused = self.floor.focused
        return focused if isinstance(focused, Pane) else None

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, Pane):
            if self._last_focused != event.widget.NAME:
                self.moves += 1  # by a click: what goes through `go` has noted its pane already
            self._last_focused = event.widget.NAME

    def focus_last_pane(self) -> None:
        """Give the focus back to the pane that had it."""
        name = self._last_focused
        self.floor.set_focus(self.pane(name if name in self.body.shown else self.body.main))

    def go(self, name: str) -> None:
        """Give a pane the focus, and the large place where there is one."""
        self.body.main = self._last_focused = name
        self.floor.query_one(TabLine).active = name
        self.floor.set_focus(self.pane(name))  # at once: the next key may already wait
        self.arrange()

    @property
    def untouched(self) -> bool:
        """Whether the operator has gone nowhere yet and types nothing."""
        return (
            self.body.main == PANES[0]
            and not self.body.maximised
            and len(self.screen_stack) == 1
            and not self.floor.has_class("-asking")
        )

    def use_layout(self, layout: Layout) -> None:
        """Arrange the panes."""
        self.body.beside, self.body.maximised = layout.beside, layout.large
        if layout.theme in self.palettes and not self.asked_theme:
            self._chosen_theme = layout.theme
            self.set_theme(layout.theme)
        self.use_sifts({pane.NAME: layout.sifts.get(cast("Any", pane.NAME), Sift()) for pane in self.panes})
        self.go(layout.pane)

    def use_sifts(self, sifts: Mapping[str, Sift]) -> None:
        """Filter and sort the lists of these panes."""
        for pane in self.panes:
            if isinstance(pane, SiftedPane) and pane.NAME in sifts:
                pane.use_sift(sifts[pane.NAME])

    def remember_layout(self) -> None:
        """Have the store remember how the screen stands now."""
        body = self.body
        others = ",".join(name for name in body.beside if name != body.main)
        arguments: dict[str, Any] = {
            "pane": body.main,
            "beside": others,
            "large": body.maximised,
            "theme": self._chosen_theme,
        }
        self.submit("layout set", arguments, slot="layout", origin="screen")

    def action_go(self, name: str) -> None:
        self.moves += 1
        self.go(name)
        self.remember_layout()

    def on_tab_line_chosen(self, event: TabLine.Chosen) -> None:
        self.moves += 1
        self.go(event.pane)

    def action_walk(self, by: int) -> None:
        """Focus the next pane on the screen; where only one fits, bring the next one."""
        self.moves += 1
        shown = self.body.shown
        if len(shown) > 1:
            place = shown.index(self._last_focused) if self._last_focused in shown else 0
            self.floor.set_focus(self.pane(shown[(place + by) % len(shown)]))
        else:
            self.go(PANES[(PANES.index(self.body.main) + by) % len(PANES)])

    def action_maximise(self) -> None:
        """The focused pane alone, or all of them again."""
        pane = self.focused_pane or self.pane(self.body.main)
        self.body.maximised = not self.body.maximised
        self.go(pane.NAME)
        self.remember_layout()

    # --- the selection ------------------------------------------------------------------------------------

    def pick(self, block_id: str) -> None:
        """Select a block everywhere: at once on the screen, and in the session for the verbs that follow."""
        if block_id != self.selected:
            self.selected = block_id
            self.submit("select", {"block": block_id}, slot="select", origin="screen")

    def on_pane_picked(self, event: Pane.Picked) -> None:
        self.pick(event.block_id)

    def watch_selected(self, block_id: str | None) -> None:
        for pane in self.panes if self.stands else ():
            pane.selection_changed(block_id)


def symbols_of_terminal(environ: Mapping[str, str] | None = None) -> Symbols:
    """What the terminal can show: ASCII where the locale is not UTF-8 or the terminal has no font for more, else
    everything.

    The locale is read from the environment, for Python itself writes UTF-8 whatever the locale says.
    """
    env = os.environ if environ is None else environ
    if env.get("TERM", "") in PLAIN_TERMINALS:
        return "ascii"
    locale = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := env.get(name))), "")
    if env.get("LANG") in C_LOCALES and not env.get("LC_ALL") and locale == COERCED:
        locale = env["LANG"]  # Python has put LC_CTYPE in its place
    if not locale or sys.platform == "win32":
        encoding = getattr(sys.stdout, "encoding", "") or ""
        return "braille" if _is_utf8(encoding) else "ascii"
    return "braille" if _is_utf8(locale) else "ascii"


def _is_utf8(name: str) -> bool:
    return "utf8" in name.lower().replace("-", "")
