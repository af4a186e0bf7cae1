"""The workstation's program: global keys, and the parts that they act on.

It paints before any engine is imported, and computes, opens and loads nothing itself; it shows immutable results of
operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events
from textual.actions import SkipAction
from textual.app import App
from textual.filter import LineFilter
from textual.screen import Screen

from amgs_app import operations
from amgs_app.render.canvas import Canvas
from amgs_app.terminal.output import Symbols, printable, printable_line
from amgs_app.terminal.themes import Palette, to_textual
from amgs_tui import main_screen
from amgs_tui.appearance import Appearance
from amgs_tui.command_line import CommandLine
from amgs_tui.command_log import CommandLog
from amgs_tui.dialogs.questions import confirm
from amgs_tui.dispatcher import Dispatcher
from amgs_tui.engine_worker import EngineWorker
from amgs_tui.idle_collection import IdleCollection, end_with_widgets
from amgs_tui.kept_state import KeptState, SavedLayout, describe_losses
from amgs_tui.keys import EVERYWHERE
from amgs_tui.main_screen import MainScreen
from amgs_tui.messages import (
    EngineEvent,
    EngineReport,
    EngineRequest,
    Execute,
    Follow,
    Origin,
    Overheard,
    kind_of,
    run_through_registry,
)
from amgs_tui.notices import Notices, RunStatus
from amgs_tui.pages import Pages
from amgs_tui.panes.base import Pane
from amgs_tui.panes.focus import FocusPane
from amgs_tui.result_router import ResultRouter
from amgs_tui.service_watch import ServiceWatch
from amgs_tui.state import ScreenState
from amgs_tui.terminal import Copying, leave_when_hung_up, make_lasting
from amgs_tui.widgets.line_filters import AsciiOnly, PrintableOnly
from amgs_tui.widgets.prompt import LineInput, Prompt

if TYPE_CHECKING:
    from textual.driver import Driver

    from amgs.types import Block, Frame
    from amgs_app.calls.call import Call
    from amgs_app.results.overview import Overview
    from amgs_focus.views import FocusView
    from amgs_tui.dialogs.palette import Action

TICK_SECONDS: Final = 0.1
"""Interval of redrawing a running action's clock."""
CLOCK_SECONDS: Final = 15.0
"""Interval of redrawing the header's time."""
DUE_SECONDS: Final = 60.0
"""Interval of checks whether consolidation or a look for pruning is due."""

OF_MEMORY: Final = frozenset({"maximise", "find", "peek", "traffic", "undo", "record", "walk"})
"""Actions that need a memory, or more than one pane."""

_PRINTABLE, _ASCII = PrintableOnly(), AsciiOnly()


class Workstation(App[None], inherit_bindings=False):
    """Parts of the screen, the operator's keys, and the Host of the panes.

    open_session: creates the Session, in the engine's thread. execute: carries out requests; tests replace it.
    store_name: shown in the header until the store is open. theme_folders: with palettes. now: the session's clock.
    front: pane shown alone while there is no memory. kept_state: from an earlier start. collects: collect garbage
    between keys, only if the process is the screen's own.
    """

    TITLE = "amgs"
    CSS = f"""
    {main_screen.CSS}
    Tooltip {{ background: $panel; color: $foreground; }}
    ToastRack {{ margin-bottom: 2; }}
    Toast {{ width: 64; max-width: 90%; background: $panel; }}
    Input:focus {{ background-tint: $panel 0%; }}
    Input > .input--placeholder, Input > .input--suggestion {{ color: $muted; }}
    Toast.-error .toast--title {{ color: $bad-on-panel; }}
    """
    ESCAPE_TO_MINIMIZE = False
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Any]] = EVERYWHERE

    def __init__(
        self,
        open_session: Callable[[], Any],
        *,
        execute: Execute = run_through_registry,
        store_name: str = "",
        theme: str | None = None,
        theme_folders: Sequence[Path] | None = None,
        symbols: Symbols | None = None,
        now: Callable[[], datetime] | None = None,
        front: str = "",
        kept_state: KeptState | None = None,
        collects: bool = False,
    ) -> None:
        super().__init__()
        end_with_widgets()
        self._collection = IdleCollection(lambda: self.engine.works) if collects else None
        self.saved = kept_state or KeptState()
        self.state = ScreenState(store_name, now, front=front)
        self.main = MainScreen(self, self.state)
        self.appearance = Appearance(
            self, self.main.redraw, theme=theme, last_theme=self.saved.theme, folders=theme_folders, symbols=symbols
        )
        self.engine = EngineWorker(open_session, execute, self._deliver, kind_of=kind_of)
        self.runs = RunStatus(self.main.status)
        self.notices = Notices(self, self.main.status, self.runs)
        self.dispatcher = Dispatcher(self.engine, self.main, self.runs, self.notices)
        self.layouts = SavedLayout(self.main, self.appearance, self.dispatcher)
        self.pages = Pages(self, self)
        self.copying = Copying(self, self.main)
        self.history = CommandLog(self.now)
        self.command_line = CommandLine(self.main, self.state, self.dispatcher, self.notices)
        self.watch_service = ServiceWatch(self, self.dispatcher, self.notices, self.pages)
        self.router = ResultRouter(
            screen=self.main,
            state=self.state,
            appearance=self.appearance,
            layout=self.layouts,
            dispatcher=self.dispatcher,
            notices=self.notices,
            command_line=self.command_line,
            pages=self.pages,
            use_keys=self.use_keys,
            follow=self.watch_service.follow,
            kept_selection=self.saved.find_selected,
        )

    # --- Textual ------------------------------------------------------------------------------------------

    def get_default_screen(self) -> Screen[Any]:
        """Return the screen with the panes, below all others."""
        return self.main

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the palette's variables, so that styles are valid before a theme is set."""
        return to_textual(Palette()).variables

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return filters that remove control characters and, on ASCII terminals, convert everything to ASCII."""
        filters = [*super().get_line_filters(), _PRINTABLE]
        return [*filters, _ASCII] if self.symbols == "ascii" else filters

    def notify(self, message: str, *, title: str = "", markup: bool = False, **how: Any) -> None:
        """Show a toast with literal text, since notes may contain brackets that Textual would read as styles."""
        del markup
        super().notify(printable(message), title=printable_line(title), markup=False, **how)

    def on_mount(self) -> None:
        self.notices.name_skipped_themes(self.appearance.problems)
        self.set_interval(TICK_SECONDS, self.dispatcher.tick)
        self.set_interval(CLOCK_SECONDS, self.main.draw_header)
        self.set_interval(DUE_SECONDS, self.act_when_due)
        if self._collection is not None:
            self.set_interval(TICK_SECONDS, self._collection.tick)
        if not self.is_headless:
            leave_when_hung_up(self)

    def get_driver_class(self) -> type[Driver]:
        return make_lasting(super().get_driver_class())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable keys that need a memory while there is none."""
        if self.state.front and action in OF_MEMORY:
            return False
        return super().check_action(action, parameters)

    async def on_event(self, event: events.Event) -> None:
        if self._collection is not None and isinstance(event, events.InputEvent):
            self._collection.note_act()
        await super().on_event(event)

    def on_main_screen_painted(self) -> None:
        self.begin()

    def begin(self) -> None:
        """After the first paint: create the command line, then start the engine."""
        self.main.mount_prompt()
        self.dispatcher.start()

    def act_when_due(self) -> None:
        """Start a consolidation if it is due and the settings ask for it."""
        self.dispatcher.ask_when_due(self.state)

    def on_resize(self) -> None:
        self.call_later(self.main.rearrange)  # the app learns its new size after this handler

    def _deliver(self, event: EngineEvent) -> None:
        """Receive an event; called in the engine's threads."""
        self.post_message(EngineReport(event))

    def on_overheard(self, heard: Overheard) -> None:
        if self.main.ready:
            self.watch_service.hear(heard.what)

    def on_unmount(self) -> None:
        self.watch_service.close()

    def on_engine_report(self, report: EngineReport) -> None:
        self.dispatcher.receive(report.event, self.router)
        if self.main.ready and (entry := self.history.hear(report.event)) is not None:
            self.pages.add(entry)

    def on_key(self, event: events.Key) -> None:
        """Pass keys typed ahead to the command line that is being opened.

        They arrive here because they were on their way through another widget when it took the focus.
        """
        if not event.is_printable or not event.character:
            return
        if isinstance(self.focused, LineInput):
            event.prevent_default()
            self.focused.replace(event.character, *self.focused.selection)
        elif self.pages.type_ahead(event.character):
            event.prevent_default()

    def on_prompt_left(self) -> None:
        self.main.close_prompt()

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        self.command_line.take_answer(event.topic, event.line)

    def on_pane_picked(self, event: Pane.Picked) -> None:
        self.pick(event.block_id)

    def use_keys(self, keys: Mapping[str, str], commands: Mapping[str, str]) -> None:
        """Assign the settings' keys to actions and commands; report entries that cannot be used."""
        if keys or commands:
            bound = self._bindings.key_to_bindings
            everywhere = [binding for group in bound.values() for binding in group]
            offered = [[*everywhere, *pane.own_bindings] for pane in self.main.panes]
            self.notices.name_ignored_keys(self.appearance.use_keys(keys, commands, offered))
            for binding in self.appearance.commands:
                bound[binding.key] = [binding]
            self.refresh_bindings()

    # --- the host of the panes ----------------------------------------------------------------------------

    @property
    def palette(self) -> Palette:
        return self.appearance.palette

    @property
    def symbols(self) -> Symbols:
        return self.appearance.symbols

    def canvas(self, width: int, height: int) -> Canvas:
        return self.appearance.canvas(width, height)

    def now(self) -> datetime:
        return self.state.now()

    @property
    def selected(self) -> str | None:
        return self.state.selected

    @property
    def titles(self) -> Mapping[str, str]:
        return self.state.cache.titles

    @property
    def overview(self) -> Overview | None:
        return self.state.overview

    @property
    def last_frame(self) -> Frame | None:
        return self.state.last_frame

    @property
    def lifetime(self) -> FocusView | None:
        return self.main.lifetime

    @property
    def waits_for(self) -> str:
        return str(self.runs)

    def shows(self, pane: str) -> bool:
        return pane in self.main.body.shown

    def run_line(self, line: str) -> EngineRequest | None:
        return self.dispatcher.run_line(line)

    def ask(
        self, call: Call[Any], *, slot: str = "", origin: Origin = "operator", follow: Follow | None = None
    ) -> EngineRequest | None:
        return self.dispatcher.ask(call, slot=slot, origin=origin, follow=follow)

    def pick(self, block_id: str) -> None:
        """Select a block: at once on the screen, and in the session for later commands."""
        if block_id != self.selected:
            self.main.select(block_id)
            self.ask(operations.block.select(block_id), slot="select", origin="screen")

    def go(self, pane: str) -> None:
        self.main.move_to(pane)
        self.layouts.remember()

    def read_block(self) -> None:
        if self.selected is None:
            self.notify("Select a block in any pane, or find it with /.", title="No block is selected", timeout=3)
        else:
            self.ask(operations.block.show(self.selected))

    def show_page(self, title: str, result: object) -> None:
        self.pages.read(title, result)

    def copy(self, text: str) -> None:
        self.copying.copy_text(text)

    def find_block(self, title: str, chosen: Callable[[str], None], first: Sequence[Block] = ()) -> None:
        self.pages.find_block(title, chosen, first)

    def command(self, start: str = "") -> None:
        self.command_line.open(start)

    def ask_line(self, topic: str, label: str, value: str = "", **how: Any) -> None:
        self.main.open_prompt(topic, label, value, **how)

    def give_way(self) -> None:
        self.main.give_way()

    # --- the operator's keys ------------------------------------------------------------------------------

    def action_go(self, name: str) -> None:
        self.go(name)

    def action_walk(self, by: int) -> None:
        self.main.walk(by)

    def action_maximise(self) -> None:
        self.main.maximise()
        self.layouts.remember()

    def action_theme(self) -> None:
        self.layouts.choose_theme(self.appearance.next_theme)
        self.ask(operations.general.theme(self.appearance.theme), slot="theme")

    def action_reload(self) -> None:
        self.dispatcher.look()

    def action_stop_or_return(self) -> None:
        """Stop a playback in the focus pane. Remove the mouse selection; without a selection, stop the operator's
        action; if nothing was stopped, leave the maximised view.
        """
        played = self.main.pane_of(FocusPane).stop_playing()
        if self.main.selections:
            self.main.clear_selection()
        elif self.dispatcher.by_operator is not None:
            self.dispatcher.stop()
        elif self.main.body.maximised and not played:
            self.action_maximise()

    def action_interrupt(self) -> None:
        """Stop the operator's action; if none runs, say how to leave, since ctrl-c never ends the program."""
        if self.dispatcher.by_operator is not None:
            self.dispatcher.stop()
        else:
            self.notify("Press q to quit the workstation.", title="Nothing runs", timeout=3)

    def action_command(self) -> None:
        self.command()

    def action_find(self) -> None:
        self.find_block("Find a block", self.pick)

    def action_peek(self) -> None:
        self.read_block()

    def action_copy_marked(self) -> None:
        """Copy the mouse selection; without a selection, the key has its other meaning."""
        if not self.copying.copy_marked():
            raise SkipAction

    def action_copy_pane(self) -> None:
        self.copying.copy_pane()

    def action_traffic(self) -> None:
        """Show the requests to a served memory."""
        self.ask(operations.general.traffic(limit=200))

    def action_history(self) -> None:
        """Show the commands that were run, as they would be typed."""
        self.pages.history(self.history.entries)

    def action_own_command(self, number: int) -> None:
        self.command_line.carry_out_own(self.appearance.commands[number].description)

    def action_undo(self) -> None:
        """Undo the last change, after confirmation."""
        self.ask(operations.lifecycle.undo())

    def action_record(self) -> None:
        """Begin a recording; if one is running, ask where to write it."""
        if self.state.recording:
            self.command_line.ask_for_recording()
        else:
            self.ask(operations.script.save())

    def action_help(self) -> None:
        """Show the help of the focused pane."""
        from amgs_tui.help import Help

        self.push_screen(Help(self.main.focused_pane, self.screen.active_bindings))

    def actions(self) -> list[Action]:
        """Return everything that the operator can do."""
        from amgs_tui.help import actions_of

        return actions_of(self, self, self.main, self.appearance, self.command_line.registry)

    def action_command_palette(self) -> None:
        """Open the palette of all actions."""
        from amgs_tui.dialogs.palette import ActionPalette

        def chose(action: Action | None) -> None:
            if action is not None:
                self.saved.note_use(action.id)
                action.run()

        self.push_screen(ActionPalette(self.actions(), self.saved.recent), chose)

    # --- leaving ------------------------------------------------------------------------------------------

    async def action_quit(self) -> None:
        """Leave, after confirmation if something would be lost."""
        lost = describe_losses(self.main, self.state, self.dispatcher)
        if lost:
            confirm(self, "Quit now?", "\n".join(lost), self.exit)
        else:
            self.exit()

    def keep_state(self) -> None:
        """Save the screen's state for the next start."""
        self.saved.theme = self.appearance.chosen_theme or self.saved.theme
        self.saved.write(self.state.place, self.selected or "")
