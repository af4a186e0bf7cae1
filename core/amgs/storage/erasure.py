"""What a store can do so that a text is nowhere in it any more."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol


class ErasureStorage(Protocol):
    """Rows that tell of blocks, beside the blocks and edges themselves; and the file that they lay in."""

    def take(self, ids: Collection[str], tells: Callable[[str], bool]) -> dict[str, int]:
        """Delete what is kept of these blocks outside `memory_blocks` and `edges`: logs, the journal's rows, what an
        undo kept, reviews, past searches and assemblies, caches. Inside a transaction; leaves the store `unfinished`.

        tells: whether a free text (a summary, a query) gives away what they said; such a text is blanked.
        Gives the number of rows deleted or blanked by table. Forecasts stay, which hold figures and ids alone.
        """
        ...

    def holds(self, word: str) -> bool:
        """Whether a block of the store has this word or a longer one, whatever the case."""
        ...

    @property
    def unfinished(self) -> bool:
        """Whether rows were taken and the file was not written anew since, so that it may still hold their bytes."""
        ...

    def compact(self, wait: float = 5.0) -> bool:
        """Write the file anew without freed pages, as large as what it holds; it needs that much room on the disk.

        Waits at most so many seconds for readers in other threads; False, and nothing is done, where one of them is not
        through then. Raises StoreError when there is no room.
        """
        ...
