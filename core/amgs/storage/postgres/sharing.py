"""Share a namespace between programs: leases, by which they write in turn, and the outbox, by which they follow."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal

import psycopg
from psycopg import errors

from amgs.errors import StoreLockedError
from amgs.storage.connection import ChangeLog, Key, StoragePart
from amgs.storage.postgres.address import Address
from amgs.storage.signature import signature
from amgs.types import EdgeKey, StoreChange

Act = Literal["writes", "consolidates"]
_DOING: Final = {"writes": "written", "consolidates": "consolidated"}
_SECONDS: Final = 30.0
"""Seconds to wait for a lease."""


def begin_lease(connection: psycopg.Connection[Any], address: Address) -> int:
    """Begin a transaction that holds the write lease until it ends; return the schema version, which another program
    may have raised.

    Raises StoreLockedError if others write for too long.
    """
    statements = (
        f"BEGIN; SET LOCAL lock_timeout = '{_SECONDS:g}s'; SELECT pg_advisory_xact_lock({_key(address)}); "
        "SET LOCAL lock_timeout = 0; SELECT value FROM meta WHERE key = 'schema_version'"
    )
    try:
        answers = connection.execute(statements.encode())
    except BaseException as error:
        with suppress(psycopg.Error):
            connection.execute("ROLLBACK")
        if isinstance(error, errors.LockNotAvailable):
            raise _busy(connection, address) from error
        raise
    while answers.nextset():
        pass
    row = answers.fetchone()
    return int(row[0]) if row is not None else 0


@contextmanager
def hold_lease(connection: psycopg.Connection[Any], address: Address, act: Act = "writes") -> Iterator[None]:
    """Hold a lease while the block runs, outside a transaction. Raises StoreLockedError.

    A lease is an advisory lock of the server, so it ends with the connection, however that ends. Waiting programs
    follow in order.
    """
    connection.execute(f"SET lock_timeout = '{_SECONDS:g}s'".encode())
    try:
        connection.execute(f"SELECT pg_advisory_lock({_key(address, act)})".encode())
    except errors.LockNotAvailable as error:
        raise _busy(connection, address, act) from error
    finally:
        with suppress(psycopg.Error):
            connection.execute("SET lock_timeout = 0")
    try:
        yield
    finally:
        with suppress(psycopg.Error):
            connection.execute(f"SELECT pg_advisory_unlock({_key(address, act)})".encode())


def _key(address: Address, act: Act = "writes") -> str:
    """Return SQL for the number of a lease's lock."""
    return f"hashtextextended('amgs {act} {address.namespace}', 0)"


def _busy(connection: psycopg.Connection[Any], address: Address, act: Act = "writes") -> StoreLockedError:
    """Return the error that another program holds the lease, with its process."""
    row = connection.execute(
        "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = "
        "'advisory' AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = "
        f"current_database()) AND (l.classid::bigint << 32 | l.objid::bigint) = {_key(address, act)}".encode()
    ).fetchone()
    process = str(row[0]).removeprefix("amgs ") if row is not None and row[0] else ""
    return StoreLockedError(
        f"{address.shown} was being {_DOING[act]} by {f'process {process}' if process else 'others'} for {_SECONDS:g} "
        "seconds; nothing was changed.",
        title="The store is busy",
        way_out="Try again when that is done.",
    )


KEPT: Final = 4096
"""Number of changes that are stored."""
_MOST: Final = 5000
"""Most keys of a change; with more, reading all rows again is as fast."""
_FORGOTTEN_EVERY: Final = 256
_SAID: Final = ("operation", "caller", "client", "server")


class SharedChangeLog(ChangeLog[Key]):
    """Keys changed by all programs, read from the outbox. keys_since: returns those after a revision."""

    def __init__(self, keys_since: Callable[[int], frozenset[Key] | None]) -> None:
        super().__init__()
        self._told = keys_since

    def commit(self, revision: int) -> None:
        """Do nothing: the transaction writes the keys itself."""

    def after(self, since: int) -> frozenset[Key] | None:
        return self._told(since)


class Outbox(StoragePart):
    """The table of a namespace, as seen in the snapshot of the reading thread.

    Each change is written with the edges and clocks that it touched, so that several programs can follow each other.
    Only the latest changes are stored; a program that missed more rebuilds its indexes. The table is not part of the
    memory and is not exported.
    """

    def append(
        self, revision: int, program: str, edges: frozenset[EdgeKey] | None, clocks: frozenset[str] | None
    ) -> None:
        """Store what the present transaction touched, and who made the change."""
        execute = self._execute
        details = json.dumps({"program": program, **signature()})
        row = [revision, details, _encode_keys(edges), _encode_keys(clocks)]
        execute("INSERT INTO outbox VALUES (?, ?, ?, ?)", row, structural=False)
        if revision % _FORGOTTEN_EVERY == 0:
            execute("DELETE FROM outbox WHERE revision <= ?", [revision - KEPT], structural=False)

    def changes(self, since: int, limit: int) -> tuple[StoreChange, ...]:
        """Return the first stored changes after a revision."""
        rows = self._rows(
            "SELECT revision, told FROM outbox WHERE revision > ? ORDER BY revision LIMIT ?", [since, limit]
        )
        return tuple(_change(int(revision), json.loads(details)) for revision, details in rows)

    def edges(self, since: int) -> frozenset[EdgeKey] | None:
        """Return the keys of all edges written after a revision; None if not all are known."""
        keys = self._keys("edges", since)
        return None if keys is None else frozenset((str(s), str(t), str(r)) for s, t, r in keys)

    def clocks(self, since: int) -> frozenset[str] | None:
        """Return the ids of all blocks reinforced after a revision; None if not all are known."""
        keys = self._keys("clocks", since)
        return None if keys is None else frozenset(map(str, keys))

    def follows(self, since: int) -> bool:
        """Return whether all changes after a revision are stored and none was a bulk load."""
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
