"""A short list of choices, and a long one that is narrowed by typing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final, TypeVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from amgs_app.terminal.printable import printable_line
from amgs_tui.dialogs.questions import Choice

R = TypeVar("R")
LEAST_WIDTH: Final = 76
EDGES: Final = 4
"""Cells of the border and a scroll bar."""


class Chooser(ModalScreen[str | None]):
    """Returns the id of the choice, or None."""

    DEFAULT_CSS = """
    Chooser { align: center middle; }
    Chooser > Vertical {
        max-width: 94%; height: auto; max-height: 80%;
        background: $surface; border: round $accent; border-title-color: $accent; border-title-style: bold;
        border-subtitle-color: $muted;
    }
    Chooser OptionList, Chooser OptionList:focus {
        border: none; height: auto; max-height: 100%; background: $surface; padding: 0;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("escape,q", "leave", "back", id="chooser.close", tooltip="Keep it as it is")
    ]

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(printable_line(self._title))
            frame.border_subtitle = "enter chooses · esc back"
            lines = [_line(choice) for choice in self._choices]
            longest = max((cell_len(line.plain) for line in lines), default=0)
            frame.styles.width = max(LEAST_WIDTH, longest + EDGES)
            yield OptionList(*(Option(line, id=choice.id) for line, choice in zip(lines, self._choices, strict=True)))

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = next((n for n, choice in enumerate(self._choices) if choice.marked), 0)
        listed.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_leave(self) -> None:
        self.dismiss(None)


class NarrowingList(ModalScreen[R]):
    """An input line, a note on the rows, and the rows; keys in the line move through them."""

    DEFAULT_CSS = """
    NarrowingList { align: center top; }
    NarrowingList > Vertical {
        max-width: 96%; height: auto; margin-top: 2;
        background: $surface; border: round $accent; border-title-color: $accent; border-title-style: bold;
        border-subtitle-color: $muted;
    }
    NarrowingList Input, NarrowingList Input:focus { border: none; height: 1; padding: 0 1; background: $panel; }
    NarrowingList OptionList, NarrowingList OptionList:focus {
        border: none; height: auto; background: $surface; padding: 0;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    NarrowingList Static { height: 1; padding: 0 1; color: $muted; }
    """
    heading = ""
    HINT: ClassVar[str]
    PLACEHOLDER: ClassVar[str]

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(printable_line(self.heading))
            frame.border_subtitle = self.HINT
            yield Input(placeholder=self.PLACEHOLDER)
            yield Static()
            yield OptionList()

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False

    def show_rows(self, rows: Sequence[Option], note: str) -> None:
        """Show these rows with the cursor on the first, and a note."""
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options(rows)
        if rows:
            listed.highlighted = 0
        self.query_one(Static).update(note)

    def action_walk(self, by: int) -> None:
        listed = self.query_one(OptionList)
        (listed.action_cursor_down if by > 0 else listed.action_cursor_up)()

    def action_leave(self) -> None:
        self.dismiss(None)


def _line(choice: Choice) -> Content:
    mark = ("● ", "$accent") if choice.marked else "  "
    label, note = printable_line(choice.label), printable_line(choice.note)
    return Content.assemble(mark, (label, "bold"), "  ", (note, "$muted"))
