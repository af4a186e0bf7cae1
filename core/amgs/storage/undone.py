"""What an undo found and what it left, so that redo can put it back."""

from __future__ import annotations

from typing import Protocol

from amgs.types import Edge, EdgeKey


class UndoneStorage(Protocol):
    """Blocks and edges around an undo."""

    def keep_found(self, operation: int) -> None:
        """Before an undo: the operation's blocks and edges as they are, and every edge at those blocks."""
        ...

    def keep_left(self, operation: int) -> None:
        """After an undo: the same as it is now. Of the edges that are not the operation's own, those that went stay."""
        ...

    def forget(self, operation: int) -> None:
        """Drop what was kept of an undo."""
        ...

    def kept(self, operation: int) -> bool:
        """Whether what an undo found was kept; an earlier version kept nothing."""
        ...

    def moved(self, operation: int) -> tuple[str, ...]:
        """Blocks and edges of an operation that are no longer as its undo left them; clocks may have run on."""
        ...

    def taken(self, operation: int) -> tuple[str, ...]:
        """Blocks that the operation had taken out of the store and its undo brought back."""
        ...

    def pruned(self, operation: int) -> tuple[str, ...]:
        """Blocks that were pruned when the undo found them."""
        ...

    def put_blocks_back(self, operation: int) -> tuple[str, ...]:
        """Blocks as the undo found them; returns those that had left. One that stayed keeps its clock."""
        ...

    def edges(self, operation: int, *, own: bool) -> tuple[Edge, ...]:
        """The edges that the undo found and that are to come back: its own, or those that went with a block."""
        ...

    def edges_brought_back(self, operation: int) -> tuple[EdgeKey, ...]:
        """The operation's edges that were not there when its undo began: the undo put them back."""
        ...
