"""Taking back what happened later, in a copy of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from amgs.types import EdgeKey


class AsOfStorage(Protocol):
    """The store wound back to an instant; only ever asked of a copy."""

    def later_operations(self, at: datetime, last: int | None) -> tuple[int, ...]:
        """Operations that stand and came after the last one that counts, or after the instant; newest first."""
        ...

    def drop_later_blocks(self, at: datetime, last: int | None) -> None:
        """Take out blocks that came after the last one that counts, or were created after the instant."""
        ...

    def rewind_reinforcement(self, at: datetime, kept: Mapping[str, int]) -> None:
        """Take out later events, and put the clock and the counter of each block that had some to what is left.

        kept: for a source of events at the very instant, how many of its events a block keeps; others keep all.
        """
        ...

    def set_edge_clocks(self, keys: Sequence[EdgeKey], walked: Mapping[EdgeKey, datetime]) -> None:
        """Put the clocks of edges to their last walk, or to what they were made with."""
        ...
