"""A short list to choose one thing from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from amgs_app.printable import printable_line


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the list; marked is the present one."""

    id: str
    label: str
    note: str = ""
    marked: bool = False


class Chooser(ModalScreen[str | None]):
    """Ends with the id of the choice, or None."""

    DEFAULT_CSS = """
    Chooser { align: center middle; }
    Chooser > Vertical {
        width: 76; max-width: 94%; height: auto; max-height: 80%;
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
            yield OptionList(*(_option(choice) for choice in self._choices))

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = next((n for n, choice in enumerate(self._choices) if choice.marked), 0)
        listed.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_leave(self) -> None:
        self.dismiss(None)


def _option(choice: Choice) -> Option:
    mark = ("● ", "$accent") if choice.marked else "  "
    label, note = printable_line(choice.label), printable_line(choice.note)
    return Option(Content.assemble(mark, (label, "bold"), "  ", (note, "$muted")), id=choice.id)
