"""Lists that grow while they are read: new entries are added on top, and the cursor stays on its entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from amgs_app.render.format import short_ids
from amgs_app.results.service_event import ServiceEvent
from amgs_app.terminal.output import printable_line
from amgs_tui.command_log import RunCommand
from amgs_tui.widgets.bars import seconds

MOST: Final = 500
"""Most lines stored."""

E = TypeVar("E")


class NewestFirst(ModalScreen[str | None], Generic[E]):
    """Entries, newest first. Returns the value of the chosen entry, or None."""

    DEFAULT_CSS = """
    NewestFirst { align: center middle; }
    NewestFirst > Vertical {
        width: 96%; max-width: 160; height: 80%;
        background: $surface; border: round $accent; border-title-color: $accent; border-title-style: bold;
        border-subtitle-color: $muted;
    }
    NewestFirst OptionList, NewestFirst OptionList:focus {
        border: none; height: 1fr; background: $surface; padding: 0; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """
    KIND: ClassVar[type[Any]]
    HEADING: ClassVar[str]
    HINT: ClassVar[str]
    BINDINGS: ClassVar[list[Any]] = [
        Binding("escape,q", "leave", "back", id="newest.close", tooltip="Back to the panes")
    ]

    def __init__(self, entries: Sequence[E]) -> None:
        super().__init__()
        self._entries = list(entries)

    def line(self, entry: E) -> Content:
        """Return an entry as text."""
        raise NotImplementedError

    def stands_for(self, entry: E) -> str | None:
        """Return the screen's result if this entry is chosen."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = self.HEADING
            frame.border_subtitle = self.HINT
            yield OptionList(*(Option(self.line(entry)) for entry in self._entries))

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = 0 if self._entries else None
        listed.focus()

    def add(self, entry: E) -> None:
        """Add an entry on top; a cursor on the first line stays on the newest."""
        self._entries = [entry, *self._entries][:MOST]
        listed = self.query_one(OptionList)
        place, offset = listed.highlighted or 0, listed.scroll_offset
        listed.clear_options()
        listed.add_options(Option(self.line(item)) for item in self._entries)
        listed.highlighted = place + 1 if place else 0
        if place:
            listed.scroll_to(y=offset.y + 1, animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.stands_for(self._entries[event.option_index]))

    def action_leave(self) -> None:
        self.dismiss(None)


class Traffic(NewestFirst[ServiceEvent]):
    """Log of requests to a served memory, with callers. Returns the id of the first block of the chosen
    line, or None.
    """

    KIND = ServiceEvent
    HEADING = "Traffic"
    HINT = "enter selects the first block · esc back"
    BINDINGS: ClassVar[list[Any]] = [Binding("T", "leave", "back", id="traffic.close", tooltip="Back to the panes")]

    def line(self, entry: ServiceEvent) -> Content:
        got = entry.got if entry.outcome == "done" else f"✗ {entry.got}"
        return Content.assemble(
            ("● ", "$accent") if entry.kind == "changed" else "  ",
            (f"{entry.at:%H:%M:%S}  ", "$muted"),
            (printable_line(entry.caller), "bold"),
            f"  {short_ids(printable_line(entry.line))}  ",
            (f"{printable_line(got)} · {entry.milliseconds:.0f} ms", "$good" if entry.outcome == "done" else "$bad"),
        )

    def stands_for(self, entry: ServiceEvent) -> str | None:
        return entry.blocks[0] if entry.blocks else None


class CommandHistory(NewestFirst[RunCommand]):
    """Commands run by keys, palette and line; they show which command a key stands for. Returns the chosen line, to be
    edited and run again, or None.
    """

    KIND = RunCommand
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
