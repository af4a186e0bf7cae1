"""The workstation: a stage with an engine behind it, and everything the operator can do there.

It paints before any engine is imported; nothing here computes, opens or loads. What it shows came as a
frozen result of a verb."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events, work
from textual.content import Content

from amgs_app.gc_tuning import settling, short_pauses
from amgs_tui.dispatcher import Dispatcher
from amgs_tui.engine_worker import Execute, run_through_registry
from amgs_tui.keys import EVERYWHERE
from amgs_tui.messages import Finished
from amgs_tui.panes.base import FILTER, SiftedPane
from amgs_tui.widgets.arrangement import PANES
from amgs_tui.widgets.completion_cache import complete, explain
from amgs_tui.widgets.prompt import LineInput, Prompt

if TYPE_CHECKING:
    from rich.console import RenderableType

    from amgs.types import Block
    from amgs_app.operations.registry import Registry
    from amgs_app.pipes import Pipe
    from amgs_tui.dialogs.finder import Finder

SEEN_ANYHOW: Final = frozenset(
    {
        "select",
        "show",
        "theme",
        "record",
        "save",
        "bookmark",
        "layout set",
        "layout use",
        "layout save",
        "filter",
        "sort",
        "review accept",
        "review reject",
    }
)
"""Verbs whose result the screen shows by what it does, or in the status line."""
PATIENCE_AT_THE_DOOR: Final = 1.0
"""Seconds after which leaving says what it waits for."""


class Workstation(Dispatcher, inherit_bindings=False):
    """The operator's commands: the command line, the block finder, help, the palette, leaving.

    execute: how a request is carried out; tests put their own in its place.
    """

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Any]] = EVERYWHERE

    def __init__(
        self, open_session: Callable[[], Any], *, execute: Execute = run_through_registry, **stage: Any
    ) -> None:
        super().__init__(open_session, execute, **stage)
        self._finder: Finder | None = None
        self._pipes: dict[int, Pipe] = {}
        self._used: list[str] = []  # what was chosen in the palette, the latest first

    def begin(self) -> None:
        """After the first picture: the line to type into, then the engine."""
        self.floor.mount(Prompt())
        super().begin()

    @property
    def registry(self) -> Registry | None:
        """The operations, once the session is open: the screen does not wait for its thread."""
        if self.overview is None:
            return None
        from amgs_app.operations.standard import standard

        return standard()

    def take(self, event: Finished) -> None:
        """Results that concern the whole screen, or that no pane shows."""
        super().take(event)
        pipe = self._pipes.pop(event.request.id, None)
        if pipe is not None:
            self._read_as(event.request.title, event.result, pipe)
        elif event.verb == "block find" and self._finder is not None:
            self._finder.found(event.result.blocks)
        elif event.request.origin == "operator" and not any(True for _ in self.panes_of(event.verb)):
            self._read(event.verb, event.result)

    def _read(self, verb: str, result: Any) -> None:
        """Show a result that has no pane on a page of its own; what the screen shows anyhow needs none."""
        if verb in SEEN_ANYHOW:
            return
        from amgs_app.render.sentences import page
        from amgs_tui.dialogs.reader import TextReader

        title = "Block" if verb == "block show" else verb

        def draw(width: int) -> RenderableType:
            return page(result, self.canvas(width, 1), self.now())

        self.push_screen(TextReader(title, draw))

    def _read_as(self, title: str, result: Any, pipe: Pipe) -> None:
        """Show a result on a page of its own, in the form that its line was piped into."""
        from amgs_app.output import as_text
        from amgs_app.render.encode import to_json
        from amgs_tui.dialogs.reader import TextReader

        words = to_json(result) if pipe.form == "json" else as_text(result, pipe.form or "table")
        self.push_screen(TextReader(title, Content(words)))

    # --- the command line ---------------------------------------------------------------------------------

    def action_command(self, start: str = "") -> None:
        """Open the command line with a beginning."""
        self.ask_line(
            "command",
            ":",
            start,
            complete=lambda line: complete(self.registry, line, self.knowledge),
            explain=lambda line: explain(self.registry, line),
        )

    def ask_line(self, topic: str, label: str, value: str = "", **how: Any) -> None:
        """Ask the operator for one line; the answer comes as Prompt.Answered with the topic."""
        if self.floor.query(Prompt):
            self.floor.add_class("-asking")
            self.floor.query_one(Prompt).ask(topic, label, value, **how)

    def on_key(self, event: events.Key) -> None:
        """Keys that were typed ahead while the line was being opened belong to the line.

        They come here because they were on their way through another widget when it took the focus.
        """
        if isinstance(self.focused, LineInput) and event.is_printable and event.character:
            event.prevent_default()
            self.focused.replace(event.character, *self.focused.selection)

    def on_prompt_left(self) -> None:
        self._prompt_closed()

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        self._prompt_closed()
        if event.topic == "command":
            self._carry_out(event.line)
        elif event.topic == "record":
            self.submit("save", {"file": Path(event.line)})
        elif event.topic in PANES:
            self.pane(event.topic).answered(event.line)
        elif isinstance(pane := self.pane(event.topic.removesuffix(FILTER)), SiftedPane):
            pane.filtered(event.line)

    def _carry_out(self, line: str) -> None:
        """A typed line: its pipe says how the result is seen, the rest is a call."""
        from amgs_app.operations.line import LineError
        from amgs_app.pipes import AS_CHOSEN, piped

        try:
            rest, pipe = piped(line)
        except LineError as error:
            self.say_error(error.title, error.message, error.way_out)
            return
        request = self.submit(line=rest)
        if request is not None and pipe != AS_CHOSEN:
            self._pipes[request.id] = pipe

    def _prompt_closed(self) -> None:
        self.floor.remove_class("-asking")
        self.focus_last_pane()

    # --- finding, help, palette ---------------------------------------------------------------------------

    def action_find(self) -> None:
        """Find a block and select it."""
        self.find_block("Find a block", self.pick)

    def find_block(self, title: str, chosen: Callable[[str], None], first: Sequence[Block] = ()) -> None:
        """Let the operator find a block by its words; `chosen` is called with its id.

        first: what is offered before anything is typed.
        """
        from amgs_tui.dialogs.finder import Finder

        def search(text: str) -> None:
            self.submit("block find", {"text": text}, slot="finder", origin="screen")

        def ended(block_id: str | None) -> None:
            self._finder = None
            if block_id is not None:
                chosen(block_id)

        self._finder = Finder(search, title, first)
        self.push_screen(self._finder, ended)

    def action_peek(self) -> None:
        """Read the selected block."""
        if self.selected is None:
            self.notify("Select one in any pane, or find it with /.", title="No block is selected", timeout=3)
        else:
            self.submit("block show", {"block": self.selected})

    @work(thread=True)
    def action_copy_pane(self) -> None:
        """Copy what the focused pane holds, to the terminal's clipboard and to the machine's."""
        from amgs_tui import clipboard

        pane = self.focused_pane
        if pane is None:
            return
        text = pane.copied()
        taken = clipboard.copy(text)
        self.call_from_thread(self.copy_to_clipboard, text)
        words = (
            f"{len(text):,} characters, by {taken} and the terminal"
            if taken
            else f"{len(text):,} characters, by the terminal"
        )
        self.call_from_thread(self.notify, words, title="Copied", timeout=3)

    def action_bookmark(self) -> None:
        """Put a bookmark on the selected block, or take it off."""
        self.submit("bookmark")

    def action_bookmarks(self) -> None:
        """List the bookmarks."""
        self.submit("bookmarks")

    def action_record(self) -> None:
        """Begin a recording; while one runs, ask where to write it."""
        if self.recording:
            hint = "enter saves everything since R as a script for `amgs run`; esc continues recording."
            self.ask_line("record", "save as", "recording.amgs", hint=hint)
        else:
            self.submit("record")

    def action_help(self) -> None:
        """Explain the focused pane."""
        from amgs_tui.dialogs.help import Help

        self.push_screen(Help(self.focused_pane, self.screen.active_bindings))

    def action_command_palette(self) -> None:
        """Let the operator find anything that can be done, and do it."""
        from amgs_tui.dialogs.palette import RECENT, Action, ActionPalette, actions_of

        def chose(action: Action | None) -> None:
            if action is not None:
                rest = [name for name in self._used if name != action.id]
                self._used = [action.id, *rest][:RECENT]
                action.run()

        self.push_screen(ActionPalette(actions_of(self), self._used), chose)

    # --- leaving ------------------------------------------------------------------------------------------

    async def action_quit(self) -> None:
        """Leave; asks first when something runs that would be stopped."""
        running = self.operator_runs
        if running is None:
            self.exit()
            return
        from amgs_tui.dialogs.dialog import Confirm

        words = f"`{running.title}` is still running. Quitting stops it; unfinished work is lost."
        self.push_screen(Confirm("Quit now?", words), lambda yes: self.exit() if yes else None)

    @property
    def keeps(self) -> bool:
        """Whether the store lies on the disk, and with it the trace of the working context."""
        return self._store_name != ":memory:"

    def what_is_kept(self) -> str:
        """What the next start can go on with, for the terminal that the operator comes back to."""
        view = self.lifetime
        if view is None or not self.keeps:
            return ""
        branches = f", {len(view.branches)} branches" if len(view.branches) > 1 else ""
        return (
            f"The working context is kept ({view.head:,} tokens{branches}): "
            "`r` in pane 6, or `focus resume`, continues it."
        )


def run(open_session: Callable[[], Any], **options: Any) -> int:
    """Run the workstation until the operator leaves; gives the exit code.

    open_session: makes the Session; called in the engine's thread. options: store_name, theme,
    theme_folders, symbols."""
    app = Workstation(open_session, execute=settling(run_through_registry), **options)
    with short_pauses():
        try:
            app.run()
        finally:
            if not app.engine.close(timeout=PATIENCE_AT_THE_DOOR):
                sys.stderr.write("amgs: stopping what is still running …\n")
                app.engine.close()
    if words := app.what_is_kept():
        sys.stderr.write(f"{words}\n")
    return app.return_code or 0
