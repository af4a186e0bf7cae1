"""Lists above the panes: choices, long ones narrowed by typing, and the block finder for `/`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from amgs.text.words import plural
from amgs_app.terminal.output import printable_line
from amgs_tui.dialogs.questions import Choice

if TYPE_CHECKING:
    from amgs.types import Block


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


class Finder(NarrowingList[str | None]):
    """Calls `search` with what is typed and lists what `show_found` receives; returns a block's id, or None.

    first: neighbours offered before typing; without any, what `offer` receives.
    """

    DEFAULT_CSS = """
    Finder > Vertical { width: 90; max-height: 80%; }
    Finder OptionList { max-height: 16; }
    """
    HINT = "enter selects · ↑ ↓ walk · esc back"
    PLACEHOLDER = "words of its title or text, or the start of its id"
    BINDINGS: ClassVar[list[Any]] = [
        Binding("escape", "leave", "back", id="finder.close", tooltip="Back without selecting"),
        Binding("down", "walk(1)", "next", id="finder.next", tooltip="The next block", priority=True),
        Binding("up", "walk(-1)", "previous", id="finder.previous", tooltip="The previous block", priority=True),
        Binding("enter", "choose", "select", id="finder.select", tooltip="Select this block", priority=True),
    ]

    def __init__(self, search: Callable[[str], None], title: str, first: Sequence[Block] = ()) -> None:
        super().__init__()
        self._search = search
        self.heading = title
        self._first = tuple(first)
        self._offered = plural(len(self._first), "neighbour") if self._first else ""
        self._asked = ""
        """What was searched for last."""
        self._listed = ""
        """What the rows answer."""
        self._entered = ""
        """What was entered before its rows were there: the best of them is meant."""
        self._ahead = ""
        """What was typed before the line was there."""

    def on_mount(self) -> None:
        self._offer()
        line = self.query_one(Input)
        line.insert_text_at_cursor(self._ahead)
        self.set_focus(line)  # at once, so that the line gets keys typed ahead

    def type_ahead(self, letter: str) -> None:
        """Take a letter that arrived before the line had the focus."""
        if self.is_mounted:
            self.query_one(Input).insert_text_at_cursor(letter)
        else:
            self._ahead += letter

    def on_input_changed(self, event: Input.Changed) -> None:
        text = self._asked = event.value.strip()
        if text:
            self.query_one(Static).update("Searching …")
            self._search(text)
        else:
            self._offer()

    def _offer(self) -> None:
        """Show the choices before typing."""
        self._listed = ""
        note = f"{self._offered}; type to search all blocks." if self._offered else "Type to search."
        self.show_rows([_option(block) for block in self._first], note)

    def offer(self, latest: Sequence[Block]) -> None:
        """Show the latest blocks until something is typed."""
        self._first = tuple(latest)
        counted = f"The latest {plural(len(latest), 'block')}" if len(latest) > 1 else "The latest block"
        self._offered = counted if latest else ""
        if not self._asked:
            self._offer()

    def show_found(self, blocks: tuple[Block, ...]) -> None:
        """Show what was found for the last search, best first."""
        if not self.query_one(Input).value.strip():
            return
        self._listed = self._asked
        note = f"{len(blocks)} found" if blocks else "No match. Try fewer letters."
        self.show_rows([_option(block) for block in blocks], note)
        entered, self._entered = self._entered, ""
        if blocks and entered == self._listed:
            self.dismiss(blocks[0].id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_choose(self) -> None:
        """Select the row; if the rows are for earlier input, the first of those to come."""
        text, listed = self.query_one(Input).value.strip(), self.query_one(OptionList)
        if text != self._listed:
            self._entered = text
        elif listed.highlighted is not None:
            self.dismiss(listed.get_option_at_index(listed.highlighted).id)


def _option(block: Block) -> Option:
    columns = (block.title, "$foreground"), (block.category, "$accent"), (block.meta.get("source", ""), "$muted")
    pieces = [(f"{printable_line(str(words))}  ", style) for words, style in columns]
    return Option(Content.assemble(*pieces), id=block.id)
