"""Wait for a store that another process has open."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from amgs.errors import StoreLockedError

LOOK_SECONDS: Final = 0.05
"""How often a store that another process has open is tried again."""
T = TypeVar("T")


def wait_for_store(
    path: Path | str,
    open_store: Callable[[], T],
    patience: float,
    look: Callable[[StoreLockedError, float], None] | None = None,
) -> T:
    """Call `open_store` until no other process has the store open, and return its result.

    look: called after each refusal with the error and the seconds waited; it may raise. Raises StoreLockedError where
    the same process keeps the store for more than `patience` seconds (several quick ones in turn may take longer), and
    at once where this process has it open, or the store is not a file.
    """
    waits = isinstance(path, Path) or "://" not in path
    holder, waited = "", 0.0
    while True:
        try:
            return open_store()
        except StoreLockedError as error:
            if error.process != holder:
                holder, waited = error.process, 0.0
            if look is not None:
                look(error, waited)
            if waited >= patience or not waits or holder == str(os.getpid()):
                raise
        threading.Event().wait(LOOK_SECONDS)
        waited += LOOK_SECONDS
