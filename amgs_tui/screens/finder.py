"""`/`: find a block by a few letters of its title or content, and make it the selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from amgs_tui.printable import printable_line

if TYPE_CHECKING:
    from amgs.model import Block


class Finder(ModalScreen[str | None]):
    """Hands what is typed to `search` and lists what `found` is told; ends with a block's id, or None."""

    DEFAULT_CSS = """
    Finder { align: center top; }
    Finder > Vertical {
        width: 90; max-width: 96%; height: auto; max-height: 80%; margin-top: 2;
        background: $surface; border: round $accent; border-title-color: $accent; border-title-style: bold;
        border-subtitle-color: $muted;
    }
    Finder Input, Finder Input:focus { border: none; height: 1; padding: 0 1; background: $panel; }
    Finder OptionList, Finder OptionList:focus {
        border: none; height: auto; max-height: 16; background: $surface; padding: 0;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    Finder Static { height: 1; padding: 0 1; color: $muted; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("escape", "leave", "back", id="finder.close", tooltip="Back without selecting"),
        Binding("down", "walk(1)", "next", id="finder.next", tooltip="The next block", priority=True),
        Binding(
            "up", "walk(-1)", "previous", id="finder.previous", tooltip="The previous block", priority=True
        ),
        Binding("enter", "choose", "select", id="finder.select", tooltip="Select this block", priority=True),
    ]

    def __init__(self, search: Callable[[str], None]) -> None:
        super().__init__()
        self._search = search

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Find a block"
            frame.border_subtitle = "⏎ selects · ↑ ↓ walk · esc back"
            yield Input(placeholder="letters of its title or text, or the start of its id")
            yield Static("Type to search.")
            yield OptionList()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.query_one(OptionList).can_focus = False

    def on_input_changed(self, event: Input.Changed) -> None:
        text = event.value.strip()
        if text:
            self.query_one(Static).update("Searching …")
            self._search(text)
        else:
            self.query_one(OptionList).clear_options()
            self.query_one(Static).update("Type to search.")

    def found(self, blocks: tuple[Block, ...]) -> None:
        """Show what was found, the best first."""
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options([_option(block) for block in blocks])
        if blocks:
            listed.highlighted = 0
        note = f"{len(blocks)} found" if blocks else "Nothing like it. Fewer letters find more."
        self.query_one(Static).update(note)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_walk(self, by: int) -> None:
        listed = self.query_one(OptionList)
        (listed.action_cursor_down if by > 0 else listed.action_cursor_up)()

    def action_choose(self) -> None:
        listed = self.query_one(OptionList)
        if listed.highlighted is not None:
            self.dismiss(listed.get_option_at_index(listed.highlighted).id)

    def action_leave(self) -> None:
        self.dismiss(None)


def _option(block: Block) -> Option:
    told = (block.title, "$foreground"), (block.category, "$accent"), (block.meta.get("source", ""), "$muted")
    pieces = [(f"{printable_line(str(words))}  ", style) for words, style in told]
    return Option(Content.assemble(*pieces), id=block.id)
