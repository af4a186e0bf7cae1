"""Where a store is served: its server writes the address into a file beside the store, and holds a lock on the file.

The system lets go of the lock when the server ends, however it ends, so that an address is never told of one that is
gone.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

ENDING = ".served"


def announce(path: Path, address: str) -> IO[str] | None:
    """Write the address and hold it until what is returned is closed; None where nothing can be written there."""
    import fcntl

    try:
        file = path.open("a+", encoding="utf-8")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.truncate(0)
        file.write(address)
        file.flush()
    except OSError:
        return None
    return file


def address_at(path: Path | None) -> str:
    """The address that a living server has written; "" where there is none."""
    import fcntl

    if path is None:
        return ""
    try:
        with path.open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read(200).strip()
    except OSError:
        pass
    return ""
