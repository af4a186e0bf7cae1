"""Passes each result to where it is shown: panes, header, a page, the status line.

A result comes to the front only if the operator has stayed since asking for it, and a page waits until no line is being
typed. Errors are shown in the status line or a toast, fatal ones in a dialog.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amgs_app import operations
from amgs_app.panes.layout import PANE_KEYS, PANES
from amgs_app.terminal.output import ExitCode
from amgs_tui.dispatcher import ASKING, WHEN_DUE
from amgs_tui.engine_worker import OPEN
from amgs_tui.panes.exchange_following import EXCHANGES
from amgs_tui.widgets.bars import seconds
from amgs_tui.wing_panes import wing_panes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from amgs.lifecycle.plan_editing import ItemEdit
    from amgs_app.attached.remote_engine import RemoteEngine
    from amgs_tui.appearance import Appearance
    from amgs_tui.command_line import CommandLine
    from amgs_tui.dispatcher import Dispatcher
    from amgs_tui.kept_state import SavedLayout
    from amgs_tui.main_screen import MainScreen
    from amgs_tui.messages import Failed, Finished, ModelsLoading, Opening, RequestCancelled
    from amgs_tui.notices import Notices
    from amgs_tui.pages import Pages
    from amgs_tui.state import ScreenState

AS_LEFT: Final = "as left"
"""Slot for selecting the block that was selected when the store was left."""
AS_SERVED: Final = "as served"
AS_ARRANGED: Final = "as arranged"
"""Slot for asking what a memory served elsewhere has to show."""
WORTH_SAYING: Final = 0.1
"""Least duration in seconds that is shown for an action."""


@dataclass(eq=False)
class ResultRouter:
    """Receives reports of the engine's threads and passes them on.

    use_keys: assigns keys from the settings. follow: starts listening to a served memory. kept_selection: returns the
    block that was selected when a store was left.
    """

    screen: MainScreen
    state: ScreenState
    appearance: Appearance
    layout: SavedLayout
    dispatcher: Dispatcher
    notices: Notices
    command_line: CommandLine
    pages: Pages
    use_keys: Callable[[Mapping[str, str], Mapping[str, str]], None]
    follow: Callable[[RemoteEngine], None]
    kept_selection: Callable[[str], str]

    # --- results ------------------------------------------------------------------------------------------

    def take_result(self, event: Finished) -> None:
        """Learn from a result, show it, and report its outcome if the operator asked for it."""
        if event.command == OPEN:
            self._take_opening(event.result)
            return
        if event.request.slot.startswith(WHEN_DUE):
            self._announce_due_work(event)
            return
        by_operator = event.request.origin == "operator"
        self.state.cache.learn(event.result, listed=by_operator)
        self._take(event)
        self._show(event)
        for pane in self.screen.panes_of(event.command):
            pane.receive(event.command, event.result, event.answer.looks)
            if pane.NAME in ("focus", "decay"):
                self.screen.draw_header()  # the model, the threshold
        if by_operator:
            self._show_operator_result(event)
        elif event.request.slot == AS_ARRANGED:
            self.screen.look_at_stale()

    def _take_opening(self, opening: Opening) -> None:
        """Take the opened session: its clock, the operator's own palettes, the requested theme."""
        if self.state.clock is None and opening.clock is not None:
            self.state.clock = opening.clock.now
        self.state.consolidates = opening.consolidates
        if opening.attached is not None:
            self.state.attached = True
            self.follow(opening.attached)
        looks = self.appearance
        self.notices.name_skipped_themes(looks.add_folders(opening.theme_folders))
        self.notices.report_ignored(opening.ignored)
        looks.use_symbols(opening.symbols)
        self.use_keys(opening.keys, opening.commands)
        asked = looks.asked_theme or opening.theme
        if asked in looks.palettes:
            looks.set_theme(asked)
        elif asked:
            words = f"There is no theme {asked!r}. Available: {', '.join(looks.palettes)}."
            self.notices.warn("Unknown theme", words, 5)
        if opening.drafts:
            self._go_on_with(opening.drafts)

    def _go_on_with(self, edits: tuple[ItemEdit, ...]) -> None:
        """Report where corrections are that the last session neither applied nor discarded."""
        from amgs.text.words import plural

        words = f"Corrections to {plural(len(edits), 'block')}: d in pane 1 goes on with them."
        self.notices.warn("Kept from last time", words, 12)

    def _announce_due_work(self, event: Finished) -> None:
        """Report automatic work, and refresh the panes; nothing if none was due."""
        from amgs_app.render.catalogue import sentence_of
        from amgs_app.results.memory import Untouched

        if not isinstance(event.result, Untouched):
            self.notices.say(f"{sentence_of(event.result)}, as it was due", "good")
            self.dispatcher.look()

    def _take(self, event: Finished) -> None:
        """Results that concern the whole screen."""
        from amgs.types import Frame, UndoPlan
        from amgs_app.panes.layout import Layout
        from amgs_app.results.memory import ExchangeList, LastFrame
        from amgs_app.results.overview import Overview
        from amgs_app.results.session import Recording, Saved, SelectedBlock, Shown, Sifted, ThemeSet

        state, result, slot = self.state, event.result, event.request.slot
        by_operator = event.request.origin == "operator"
        match result:
            case Overview():
                first, state.overview = state.overview is None, result
                self.screen.leave_front()
                self.screen.draw_header()
                if first:
                    self._welcome()
            case Frame():
                state.last_frame = result
            case LastFrame():
                state.last_frame = state.last_frame or result.frame
            case UndoPlan() if slot == ASKING:
                self.screen.show_after_typing(lambda: self.pages.ask_to_undo(result))
            case SelectedBlock():
                if slot != AS_LEFT:
                    self.screen.select(result.block.id)
                elif state.selected is None:
                    self.screen.select(result.block.id)
                    self.notices.say(f"Selected as you left it: {result.block.title} · p reads it")
            case ThemeSet():
                if result.name != self.appearance.theme:
                    self.layout.choose_theme(result.name)
            case Shown():
                self.screen.go(result.pane)
            case Layout() if by_operator:
                if "--save" not in event.answer.line.split():
                    self.layout.use(result)
            case Layout() if slot == AS_ARRANGED and self.screen.untouched:
                self.layout.use(result)  # how the last session left the screen
                self._pass_over_an_empty_inbox()
            case ExchangeList() if slot == AS_SERVED:
                self._open_on_what_is_served(gateway=result.served)
            case Sifted():
                self.screen.pane(result.pane).use_sift(result.sift)
            case Recording() | Saved():
                state.recording = isinstance(result, Recording)
                self.screen.draw_header()

    def _welcome(self) -> None:
        """Act on the first overview of the store: ingest the corpus of an empty store, unless others use it too."""
        overview = self.state.overview
        empty = overview is not None and overview.corpus and not sum(overview.store.blocks.values())
        if empty and not self.state.attached:
            self.dispatcher.ask(operations.lifecycle.ingest())
            self.screen.look_at_stale()
        else:
            self.dispatcher.ask(operations.workspace.arrange(), slot=AS_ARRANGED, origin="screen")
            if self.state.attached:
                exchanges = operations.traffic.exchanges(limit=EXCHANGES)
                self.dispatcher.ask(exchanges, slot=AS_SERVED, origin="screen")
            if block := self.kept_selection(self.state.place):
                self.dispatcher.ask(operations.block.select(block), slot=AS_LEFT, origin="screen")
        for name in ("conversation", *wing_panes()):
            self.screen.pane(name).look()  # it has no place before it knows that it exists

    def _pass_over_an_empty_inbox(self) -> None:
        """Show the overview if the only visible pane is an empty inbox."""
        overview, body = self.state.overview, self.screen.body
        if overview is None or body.maximised or body.shown != (PANES[0],):
            return
        if overview.store.blocks.get("consolidated", 0) and not overview.store.blocks.get("raw", 0):
            self.screen.go("overview")

    def _open_on_what_is_served(self, *, gateway: bool) -> None:
        """If the operator has not moved yet, show the requests to a gateway; else, with an empty inbox,
        the overview.
        """
        overview = self.state.overview
        counts = overview.store.blocks if overview is not None else {}
        if not self.screen.untouched:
            return
        if gateway:
            self.screen.go("conversation")
        elif counts.get("consolidated", 0) and not counts.get("raw", 0):
            self.screen.go("overview")

    def _show(self, event: Finished) -> None:
        """Results that are shown in front of the panes."""
        pipe = self.command_line.pipe_of(event.request)
        if pipe is not None:
            self.screen.show_after_typing(lambda: self.pages.read_as(event.request.title, event.result, pipe))
            return
        from amgs_app.results.memory import BlockList, TrafficList

        result, by_screen = event.result, event.request.origin == "screen"
        if isinstance(result, TrafficList) and result.served:
            self.screen.show_after_typing(lambda: self.pages.traffic(result.events))
            return
        if isinstance(result, BlockList) and event.command == "block find":
            give = self.pages.offer_latest if by_screen and not result.text else self.pages.show_found
            if give(result.blocks):
                return
        if event.request.origin == "operator":
            from amgs_app.render.catalogue import entry_of

            entry = entry_of(type(event.result))
            # Some commands have a result for their pane and another to read.
            to_read = not entry.fills_pane(event.result) and event.answer.pane is not None
            if not entry.quiet and (to_read or not any(True for _ in self.screen.panes_of(event.command))):
                self.screen.show_after_typing(lambda: self.pages.read(event.command.capitalize(), event.result))

    def _show_operator_result(self, event: Finished) -> None:
        """Report the outcome, show the pane that has it, and refresh the others."""
        from amgs_app.calls.hints import hint_by_keys
        from amgs_app.render.catalogue import entry_of, sentence_of

        took = f", in {seconds(event.elapsed)}" if event.elapsed >= WORTH_SAYING else ""
        entry = entry_of(type(event.result))
        pane = None if entry.stays or not entry.fills_pane(event.result) else event.answer.pane
        there = ""
        if pane is not None and self.dispatcher.operator_stayed:
            self.screen.bring(pane)
        elif pane is not None and pane not in self.screen.body.shown:
            there = f" · {PANE_KEYS[PANES.index(pane)]} shows it"
        words = sentence_of(event.result) or f"{event.answer.line}: done"
        overview = self.state.overview
        lacks = hint_by_keys(event.result, overview.store.blocks) if overview is not None else ""
        self.notices.say(f"{f'{lacks} · ' if lacks else ''}{words}{took}{there}", "warn" if lacks else "good")
        self.notices.refusals(event.result)
        for shower in self.screen.panes_of(event.command):
            shower.show_to_operator(event.command, event.result)
        if event.command.startswith("focus "):
            self.screen.pane("overview").repaint()  # the memory is as it was; the loop's figure counts tokens
        elif event.answer.writes:
            self.dispatcher.look()

    def take_models(self, event: ModelsLoading) -> None:
        """Show the state of the models in the header; report problems once, and again when a model is needed."""
        self.state.models = event
        self.screen.draw_header()
        if event.trouble:
            self.notices.say(event.trouble, "warn")

    # --- errors -------------------------------------------------------------------------------------------

    def take_failure(self, failure: Failed, *, stale: bool) -> None:
        """Show an error in the panes that wait for the result, and report it if the operator asked."""
        # Before the first look at the store any error of it is the end.
        first = self.state.overview is None and not self.state.front
        if failure.fatal or (first and failure.exit_code == ExitCode.STORE):
            self.notices.fatal(failure)
            return
        if stale:
            return
        for pane in self.screen.panes_of(failure.request.command):
            pane.receive_failure(failure)
        if failure.request.slot == AS_ARRANGED:
            self.screen.look_at_stale()
        if failure.request.origin == "operator" or failure.request.slot == ASKING:
            if failure.detail:
                self.screen.show_after_typing(lambda: self.notices.fault(failure))
            else:
                self.notices.error(failure.title, failure.message, failure.way_out)

    def take_cancel(self, event: RequestCancelled) -> None:
        """Report that an action was cancelled, and refresh the panes."""
        self.notices.say(f"Stopped: {event.request.title}. {event.message}", "warn")
        self.dispatcher.look()
