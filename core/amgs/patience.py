"""Waiting for a store that another process has open."""

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
    """Return what opens a store, as soon as no other process has it open. look: what is done about each refusal, after
    so many seconds; it may raise.

    Raises StoreLockedError where one and the same process keeps it for longer than `patience` seconds (behind many that
    are quick, all get their turn), and at once where this one does, or it is no file.
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
