"""Leases of a namespace: one program writes at a time, and one consolidates; waiting programs follow in order.

A lease is an advisory lock of the server, so it ends with the connection, however that ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal

import psycopg
from psycopg import errors

from amgs.errors import StoreLockedError
from amgs.storage.postgres.address import Address

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
    """Hold a lease while the block runs, outside a transaction. Raises StoreLockedError."""
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
