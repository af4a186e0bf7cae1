"""Find a block by letters of its title or content: for `/`, and wherever a block is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from amgs.text.plural import plural
from amgs_app.terminal.printable import printable_line
from amgs_tui.dialogs.chooser import NarrowingList

if TYPE_CHECKING:
    from amgs.types import Block


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
