"""Readers pass; whoever must be alone with the database file shuts the gate and waits until they are through."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadGate:
    """Any number pass at once, or one has shut it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._shut = False

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Inside, the gate is not shut; waits while it is. Not to be entered twice by one thread."""
        with self._changed:
            while self._shut:
                self._changed.wait()
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def shut(self, wait: float) -> Iterator[bool]:
        """Yield whether everybody was through within `wait` seconds; if so, nobody passes inside."""
        with self._changed:
            self._shut = True
            alone = self._changed.wait_for(lambda: not self._inside, wait)
            if not alone:
                self._shut = False
                self._changed.notify_all()
        try:
            yield alone
        finally:
            with self._changed:
                self._shut = False
                self._changed.notify_all()
