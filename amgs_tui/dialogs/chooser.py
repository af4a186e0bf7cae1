"""A short list to choose one thing from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from amgs_app.terminal.printable import printable_line
from amgs_tui.dialogs.questions import Choice

LEAST_WIDTH: Final = 76
EDGES: Final = 4
"""Cells of the border and of a scroll bar."""


class Chooser(ModalScreen[str | None]):
    """Ends with the id of the choice, or None."""

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
            yield OptionList(
                *(Option(line, id=choice.id) for line, choice in zip(lines, self._choices, strict=True))
            )

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = next((n for n, choice in enumerate(self._choices) if choice.marked), 0)
        listed.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_leave(self) -> None:
        self.dismiss(None)


def _line(choice: Choice) -> Content:
    mark = ("● ", "$accent") if choice.marked else "  "
    label, note = printable_line(choice.label), printable_line(choice.note)
    return Content.assemble(mark, (label, "bold"), "  ", (note, "$muted"))
