"""The ledger of hard pruning of a store that lies in no file: what left it, whole, in a table of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

LEDGER = "deleted_blocks"
"""The table's name."""


class DeletedBlockStorage(Protocol):
    """Blocks as they were deleted, the earliest first; only erasing a block takes its lines out."""

    def add(self, lines: Mapping[str, Mapping[str, Any]], at: datetime) -> None:
        """Keep what is deleted now, by id; inside the transaction that deletes it."""
        ...

    def lines(self) -> tuple[Mapping[str, Any], ...]:
        """Everything that was kept."""
        ...
