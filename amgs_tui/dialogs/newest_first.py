"""A list that grows while it is read: what comes is put on top, and the cursor stays on what it stands on."""

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

MOST: Final = 500
"""Lines that are kept."""

E = TypeVar("E")


class NewestFirst(ModalScreen[str | None], Generic[E]):
    """Entries, the newest first. Ends with what the chosen one stands for, or None."""

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
    HEADING: ClassVar[str]
    HINT: ClassVar[str]
    BINDINGS: ClassVar[list[Any]] = [
        Binding("escape,q", "leave", "back", id="newest.close", tooltip="Back to the panes")
    ]

    def __init__(self, entries: Sequence[E]) -> None:
        super().__init__()
        self._entries = list(entries)

    def line(self, entry: E) -> Content:
        """How an entry is written."""
        raise NotImplementedError

    def stands_for(self, entry: E) -> str | None:
        """What the screen ends with where this entry is chosen."""
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
        """Put an entry on top. Who looks at the first line goes on looking at the newest."""
        self._entries = [entry, *self._entries][:MOST]
        listed = self.query_one(OptionList)
        place, offset = listed.highlighted or 0, listed.scroll_offset
        listed.clear_options()
        listed.add_options(Option(self.line(each)) for each in self._entries)
        listed.highlighted = place + 1 if place else 0
        if place:
            listed.scroll_to(y=offset.y + 1, animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.stands_for(self._entries[event.option_index]))

    def action_leave(self) -> None:
        self.dismiss(None)
