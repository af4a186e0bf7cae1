"""Log of the data that changes of a namespace touch, written with the change itself: several programs write and follow
one another by it.

The latest changes are kept; who missed more derives everything anew. The table is of the namespace and no part of the
memory: exports leave it out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from amgs.storage.connection import ChangeLog, Key, StoragePart
from amgs.storage.signature import signature
from amgs.types import EdgeKey, StoreChange

if TYPE_CHECKING:
    pass

KEPT: Final = 4096
"""Changes that can be told by revision."""
_MOST: Final = 5000
"""Keys of one change; with more, reading all rows again is no slower."""
_FORGOTTEN_EVERY: Final = 256
_SAID: Final = ("operation", "caller", "client", "server")


class SharedChangeLog(ChangeLog[Key]):
    """The keys that all programs changed. told: gives those after a revision."""

    def __init__(self, keys_since: Callable[[int], frozenset[Key] | None]) -> None:
        super().__init__()
        self._told = keys_since

    def commit(self, revision: int) -> None:
        """Nothing to do: the transaction itself keeps what it changed."""

    def after(self, since: int) -> frozenset[Key] | None:
        return self._told(since)


class Outbox(StoragePart):
    """The table `outbox` of one namespace. Reads are of the state that the reading thread sees."""

    def append(
        self, revision: int, program: str, edges: frozenset[EdgeKey] | None, clocks: frozenset[str] | None
    ) -> None:
        """Keep what a change touched, and who made it; inside its transaction."""
        execute = self._execute
        details = json.dumps({"program": program, **signature()})
        row = [revision, details, _encode_keys(edges), _encode_keys(clocks)]
        execute("INSERT INTO outbox VALUES (?, ?, ?, ?)", row, structural=False)
        if revision % _FORGOTTEN_EVERY == 0:
            execute("DELETE FROM outbox WHERE revision <= ?", [revision - KEPT], structural=False)

    def changes(self, since: int, limit: int) -> tuple[StoreChange, ...]:
        """Return the first changes after a revision that are kept."""
        rows = self._rows(
            "SELECT revision, told FROM outbox WHERE revision > ? ORDER BY revision LIMIT ?", [since, limit]
        )
        return tuple(_change(int(revision), json.loads(details)) for revision, details in rows)

    def edges(self, since: int) -> frozenset[EdgeKey] | None:
        """Return the keys of all edges that were written after a revision, None where they are not known."""
        keys = self._keys("edges", since)
        return None if keys is None else frozenset((str(s), str(t), str(r)) for s, t, r in keys)

    def clocks(self, since: int) -> frozenset[str] | None:
        """Return the ids of all blocks whose clocks were set after a revision, None where they are not known."""
        keys = self._keys("clocks", since)
        return None if keys is None else frozenset(map(str, keys))

    def follows(self, since: int) -> bool:
        """Return whether each change after a revision is kept, and none of them filled the store from elsewhere."""
        known, whole, now = self._rows(
            "SELECT count(*), count(*) FILTER (WHERE edges IS NULL AND clocks IS NULL), (SELECT value FROM "
            "change_counter) FROM outbox WHERE revision > ?",
            [since],
        )[0]
        return int(known) == max(int(now) - since, 0) and not whole

    def _keys(self, column: str, since: int) -> list[Any] | None:
        rows = self._rows(
            f"SELECT o.revision, o.{column}, c.value FROM change_counter c LEFT JOIN outbox o ON o.revision > ?",
            [since],
        )
        outbox_rows = [row for row in rows if row[0] is not None]
        if len(outbox_rows) != max(int(rows[0][2]) - since, 0) or any(row[1] is None for row in outbox_rows):
            return None
        return [key for row in outbox_rows for key in json.loads(row[1])]


def _change(revision: int, details: dict[str, Any]) -> StoreChange:
    words = {name: str(details.get(name, "")) for name in _SAID}
    return StoreChange(revision, str(details.get("program", "")), **words)


def _encode_keys(keys: Collection[str | Sequence[str]] | None) -> str | None:
    return None if keys is None or len(keys) > _MOST else json.dumps(sorted(keys))
