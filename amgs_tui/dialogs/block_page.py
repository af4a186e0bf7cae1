"""A block to read, with the keys that begin what can be done to it by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding

from amgs_tui.dialogs.reader import TextReader

if TYPE_CHECKING:
    from amgs.types import Block
    from amgs_tui.dialogs.reader import Page
    from amgs_tui.host import Host


class BlockPage(TextReader):
    """A page about one block. Its keys close it and open the command line with the block's id, to be finished there."""

    BINDINGS: ClassVar[list[Any]] = [
        Binding("t", "begin('block tag {id} --add ')", "tag", id="reader.tag", tooltip="Tag the block"),
        Binding("n", "begin('block note \"')", "note", id="reader.note", tooltip="Write a note on the block"),
        Binding(
            "e",
            "begin('edge add {id} ')",
            "edge",
            id="reader.edge",
            tooltip="Add an edge from the block to another",
        ),
    ]

    def __init__(self, host: Host, block: Block, page: Page) -> None:
        super().__init__("Block", page, "↑ ↓ scroll · t tag · n note · e edge · esc closes")
        self._host = host
        self._block = block

    def action_begin(self, line: str) -> None:
        """Select the block and open the command line with the beginning of a line about it."""
        self.dismiss(None)
        self._host.pick(self._block.id)
        self._host.command(line.format(id=self._block.id[:12]))
