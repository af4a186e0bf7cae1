"""What was changed, by revision: so that who holds all rows of a table need not read them all again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

_KEPT = 20_000
"""Keys; with more changed, reading all rows again is no slower."""

Key = TypeVar("Key", bound=Hashable)


class ChangeLog(Generic[Key]):
    """Notes keys inside a transaction, and keeps them from the moment before it commits: one too many is harmless, one
    too few is not.
    """

    def __init__(self, known_from: int = 0) -> None:
        """known_from: the revision at which the session begins."""
        self._lock = threading.Lock()
        self._open: set[Key] | None = set()
        self._kept: deque[tuple[int, frozenset[Key]]] = deque()
        self._known_from = known_from

    def begin(self) -> None:
        """A transaction begins."""
        self._open = set()

    def note(self, keys: Iterable[Key]) -> None:
        """Rows with these keys are written or taken out."""
        if self._open is not None:
            self._open.update(keys)

    def forget(self) -> None:
        """Any row may be changed now."""
        self._open = None

    @property
    def noted(self) -> frozenset[Key] | None:
        """The keys of the running transaction, None where any row may be changed."""
        return None if self._open is None else frozenset(self._open)

    def commit(self, revision: int) -> None:
        """The transaction is about to commit as this revision."""
        with self._lock:
            if self._open is None:
                self._kept.clear()
                self._known_from = revision
            elif self._open:
                self._kept.append((revision, frozenset(self._open)))
            while self._kept and sum(len(keys) for _, keys in self._kept) > _KEPT:
                self._known_from = self._kept.popleft()[0]

    def after(self, since: int) -> frozenset[Key] | None:
        """The keys of all transactions after a revision, None where some of them are not known."""
        with self._lock:
            if since < self._known_from:
                return None
            return frozenset().union(*(keys for revision, keys in self._kept if revision > since))
