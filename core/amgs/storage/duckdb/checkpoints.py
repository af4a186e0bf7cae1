"""When what lies in the write-ahead file is written into the store's own file.

Until then DuckDB holds it in memory, with every text that an update has replaced, so that the memory of a program that
stays open would grow with each of its acts until `BULK` is full.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

MIB: Final = 1 << 20
BULK: Final = 128 * MIB
"""Bytes at which DuckDB itself writes them: at 16 MiB every batch of a bulk load rewrote most of the table."""
LEAST: Final = 4 * MIB
"""Bytes under which nothing is written however small the store is."""
SHARE: Final = 2
"""Beyond `LEAST`, a store waits for this part of its own size: what is rewritten stays in proportion to the changes."""
BATCH: Final = 8
"""A commit of more than this part of what is waited for is a batch of a load, and others follow it."""

SETTINGS: Final = (
    f"SET checkpoint_threshold = '{BULK // MIB}MiB'",
    # The pages that a query has left go back to the system when nobody asks for the next, too.
    "SET allocator_background_threads = true",
)
"""What a connection is opened with."""


class WriteAheadSize:
    """How much waits in the write-ahead file of one store, in bytes."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._ahead = Path(f"{store}.wal")
        self._before = _size(self._ahead)

    def due(self) -> bool:
        """Whether to write it into the store now. To be asked after each commit."""
        ahead = _size(self._ahead)
        added, self._before = ahead - self._before, ahead
        return due(_size(self._store), ahead, added)

    def written(self) -> None:
        """It was written into the store."""
        self._before = _size(self._ahead)


def due(store: int, ahead: int, added: int) -> bool:
    """Whether a store of so many bytes takes in what waits. ahead: bytes that wait. added: by the last commit; below 0
    where DuckDB has begun another file.
    """
    enough = max(LEAST, store // SHARE)
    return ahead >= enough and added <= enough // BATCH


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
