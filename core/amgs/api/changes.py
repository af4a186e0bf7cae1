"""`memory.changes`: what is changed in a memory that several programs share, whichever of them does it."""

from __future__ import annotations

from amgs import bounds
from amgs.api.context import MemoryContext
from amgs.types import StoreChange


class Changes:
    """See the module. The latest 4,096 changes can be told; they hold no text of the memory."""

    def __init__(self, context: MemoryContext) -> None:
        self._storage = context.storage

    @property
    def shared(self) -> bool:
        """Return whether other programs may change the memory while it is open, as in PostgreSQL."""
        return self._storage.shared

    def since(self, counter: int, limit: int = 500) -> tuple[StoreChange, ...]:
        """Return the first changes after a value of the change counter, as far as they are kept; in a file none are."""
        return self._storage.changes(counter, bounds.count("A limit", limit) or 0)

    def wait(self, seconds: float) -> None:
        """Return when a change is announced, by whatever program, or after some seconds: an announcement may be missed,
        so ask `since` either way. For one thread of a shared memory. Raises StoreError where the database is gone.
        """
        self._storage.hear(seconds)
