"""What keys, palette and line have run, as it happens: every key is a command, and this is where one learns it."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import Binding
from textual.content import Content
from textual.widgets import OptionList

from amgs_app.render.figures.format import short_ids
from amgs_app.terminal.printable import printable_line
from amgs_tui.command_log import RunCommand
from amgs_tui.dialogs.newest_first import NewestFirst
from amgs_tui.widgets.status import seconds


class CommandHistory(NewestFirst[RunCommand]):
    """The operator's commands. Ends with the line of the chosen one, to be corrected and run again, or None."""

    HEADING = "What was run"
    HINT = "enter puts it into the command line · y copies · esc back"
    BINDINGS: ClassVar[list[Any]] = [
        Binding("H", "leave", "back", id="history.close", tooltip="Back to the panes"),
        Binding("y", "copy_line", "copy", id="history.copy", tooltip="Copy the command"),
    ]

    def line(self, entry: RunCommand) -> Content:
        return Content.assemble(
            (f"{entry.at:%H:%M:%S}  ", "$muted"),
            (short_ids(printable_line(entry.line)), "bold"),
            "  ",
            (printable_line(entry.said), "$good" if entry.done else "$bad"),
            (f" · {seconds(entry.elapsed)}" if entry.elapsed else "", "$muted"),
        )

    def stands_for(self, entry: RunCommand) -> str | None:
        return entry.line

    def action_copy_line(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.app.copy_to_clipboard(self._entries[at].line)
            self.app.notify(self._entries[at].line, title="Copied", timeout=3)
