"""A lock for many readers, or one thread that needs the database file alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadGate:
    """Any number of readers pass at once, unless it is shut."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._shut = False

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Hold the gate open while the block runs, waiting while it is shut. A thread must not enter twice."""
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
        """Shut the gate; yield whether all readers left within `wait` seconds, and if so keep it shut while the block
        runs.
        """
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
