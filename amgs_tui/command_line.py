"""The command line: commands after a colon, and answers to questions of panes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from amgs_app import operations
from amgs_app.panes.layout import PANES
from amgs_tui.keys import read_beginning
from amgs_tui.panes.picture_lines import FILTER
from amgs_tui.widgets.prompt import complete, explain

if TYPE_CHECKING:
    from amgs_app.calls.registry import Registry
    from amgs_app.shell.script import Pipe
    from amgs_tui.dispatcher import Dispatcher
    from amgs_tui.main_screen import MainScreen
    from amgs_tui.messages import EngineRequest
    from amgs_tui.notices import Notices
    from amgs_tui.state import ScreenState


@dataclass(eq=False)
class CommandLine:
    """Opens the line, and passes what was typed to whoever asked for it."""

    screen: MainScreen
    state: ScreenState
    dispatcher: Dispatcher
    notices: Notices
    _pipes: dict[int, Pipe] = field(init=False, default_factory=dict)

    @property
    def registry(self) -> Registry | None:
        """Operations, once the session is open; the screen does not wait for its thread."""
        if self.state.overview is None:
            return None
        from amgs_app.calls.registry import standard

        return standard()

    def open(self, start: str = "") -> None:
        """Open the line for a command, with initial text."""
        self.screen.open_prompt(
            "command",
            ":",
            start,
            complete=lambda line: complete(self.registry, line, self.state.cache),
            explain=lambda line: explain(self.registry, line),
        )

    def ask_for_recording(self) -> None:
        """Ask where to write the recording."""
        hint = "enter saves everything since R as a script for `amgs run`; esc continues recording."
        self.screen.open_prompt("record", "save as", "recording.amgs", hint=hint)

    def take_answer(self, topic: str, line: str) -> None:
        """Handle a line from the operator."""
        self.screen.close_prompt()
        if topic == "command":
            self.carry_out(line)
        elif topic == "record":
            self.dispatcher.ask(operations.script.save(Path(line)))
        elif topic in PANES:
            self.screen.pane(topic).take_answer(line)
        else:
            self.screen.pane(topic.removesuffix(FILTER)).take_filter(line)

    def carry_out(self, line: str) -> None:
        """Run a typed line: its pipe decides how the result is shown, the rest is a call."""
        from amgs_app.shell.script import AS_CHOSEN, split_pipe
        from amgs_app.terminal.line import LineError

        try:
            rest, pipe = split_pipe(line)
        except LineError as error:
            self.notices.error(error.title, error.message, error.way_out)
            return
        request = self.dispatcher.run_line(rest)
        if request is not None and pipe != AS_CHOSEN:
            self._pipes[request.id] = pipe

    def carry_out_own(self, line: str) -> None:
        """Run a command of the operator's settings, or open the line with its beginning."""
        start = read_beginning(line)
        if start is None:
            self.carry_out(line)
        else:
            self.open(start)

    def pipe_of(self, request: EngineRequest) -> Pipe | None:
        """Remove and return the pipe of this request's line."""
        return self._pipes.pop(request.id, None)
