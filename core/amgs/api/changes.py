"""`memory.changes`: changes of a memory that several programs share, by any of them."""

from __future__ import annotations

from amgs import bounds
from amgs.api.context import MemoryContext
from amgs.types import StoreChange


class Changes:
    """See the module. The latest 4,096 changes are available; they contain no text of the memory."""

    def __init__(self, context: MemoryContext) -> None:
        self._storage = context.storage

    @property
    def shared(self) -> bool:
        """Return whether other programs may change the memory while it is open, as in PostgreSQL."""
        return self._storage.shared

    def since(self, counter: int, limit: int = 500) -> tuple[StoreChange, ...]:
        """Return the first available changes after a value of the change counter; none for a file."""
        return self._storage.changes(counter, bounds.count("A limit", limit) or 0)

    def wait(self, seconds: float) -> None:
        """Wait until any program announces a change, or `seconds` have passed; call `since` either way, since
        announcements may be missed.

        For a single thread, in a shared memory. Raises StoreError if the database is gone.
        """
        self._storage.hear(seconds)
