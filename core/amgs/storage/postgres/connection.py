"""Connections of a store in PostgreSQL: a connection that writes, holding the namespace's lease for a transaction at a
time, and a pool that reads.

Any number of programs can open a namespace; they write in turn.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Self

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import errors
from psycopg.sql import SQL, Identifier
from psycopg_pool import ConnectionPool

from amgs.errors import StoreError, StoreTooNewError
from amgs.storage.connection import OfferedColumn, SqlConnection
from amgs.storage.migrations import LATEST
from amgs.storage.postgres import values
from amgs.storage.postgres.address import Address
from amgs.storage.postgres.sharing import Outbox, SharedChangeLog, begin_lease, hold_lease
from amgs.storage.postgres.values import (
    OFFERED_TYPES,
    array_of,
    columns_of,
    migrate,
    translate_statement,
    translating,
    version_of,
)
from amgs.types import StoreChange
from amgs.types.health import NamespaceSize

_SETTING = "amgs.namespace"
"""Session setting for row policies of an earlier version, which show rows only if it names the namespace."""
_READERS = 8
"""Connections that read in parallel; further readers wait."""
_OLDEST = 16
"""Least version of PostgreSQL."""
_WAIT = 30.0
"""Seconds to wait for a connection."""
_SIZES_KEPT = 60.0
"""Seconds for which sizes of other namespaces are cached, since the server looks at files for them."""


_NAMESPACES = """
SELECT substr(n.nspname, 6),
    max(CASE WHEN c.relname = 'memory_blocks' AND c.reltuples >= 0 THEN c.reltuples::bigint END),
    sum(pg_total_relation_size(c.oid))::bigint
FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
WHERE starts_with(n.nspname, 'amgs_') AND n.nspname = coalesce(?, n.nspname) AND has_schema_privilege(n.oid, 'USAGE')
GROUP BY n.nspname HAVING bool_or(c.relname = 'memory_blocks') AND bool_or(c.relname = 'change_counter')
ORDER BY n.nspname
"""
"""SQL: all namespaces that the role may use, from the catalogue only, without reading their tables."""


class PostgresConnection(SqlConnection):
    """An open store on a server. Create it with `PostgresConnection.open`."""

    def __init__(self, writer: psycopg.Connection[Any], address: Address, *, read_only: bool) -> None:
        super().__init__(address.shown, read_only=read_only)
        self._writer = writer
        self._address = address
        self._ear: psycopg.Connection[Any] | None = None
        self._neighbours: tuple[float, tuple[NamespaceSize, ...]] = (-_SIZES_KEPT, ())
        self._outbox = Outbox(self)
        self.edge_changes = SharedChangeLog(self._outbox.edges)
        self.clock_changes = SharedChangeLog(self._outbox.clocks)
        self._pool: ConnectionPool[psycopg.Connection[Any]] = ConnectionPool(
            address.connection,
            kwargs=_options(address),
            configure=values.register,
            check=_check_alive,
            min_size=0,
            max_size=_READERS,
            timeout=_WAIT,
            num_workers=1,
            open=True,
        )

    @classmethod
    def open(cls, path: str, *, read_only: bool = False, create: bool = True) -> Self:
        """Open or create the store of a namespace and migrate its schema.

        path: `postgresql://user@host/database?namespace=name`. create: if False, a missing store is an error. Raises
        UsageError for an invalid address, StoreLockedError if the schema must be migrated while another program keeps
        writing, StoreTooNewError, StoreCorruptError, or StoreError for anything else.
        """
        address = Address.of(path)
        writer = connect_namespace(address)
        try:
            with translating(address.shown):
                _check_server(writer, address)
                version = version_of(writer, address.schema)
                if not version and (read_only or not create):
                    raise StoreError(
                        f"There is no store at {address.shown}.", way_out="Check the address.", about="missing"
                    )
                _check_version(address, version)
                if version < LATEST:
                    if read_only:
                        raise StoreError(
                            f"{address.shown} has schema {version} and must be migrated to {LATEST}.",
                            way_out="Open it once for writing.",
                        )
                    with hold_lease(writer, address):
                        version = version_of(writer, address.schema)  # another program may have migrated it meanwhile
                        _check_version(address, version)
                        if version < LATEST:
                            migrate(writer, address.schema, version)
            store = cls(writer, address, read_only=read_only)
            store.created = not version
            return store
        except BaseException:
            writer.close()
            raise

    def close(self) -> None:
        """Close the store; a second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._pool.close()
            self._writer.close()
            if self._ear is not None:
                self._ear.close()

    @property
    def schema_version(self) -> int:
        with self._translate(), self._reader() as connection:
            return version_of(connection, self._address.schema)

    def namespaces(self, *, own: bool = False) -> tuple[NamespaceSize, ...]:
        asked, sizes = self._neighbours
        if own or time.monotonic() - asked > _SIZES_KEPT:
            rows = self.rows(_NAMESPACES, [self._address.schema if own else None])
            sizes = tuple(NamespaceSize(str(name), blocks, int(size)) for name, blocks, size in rows)
        if not own and sizes is not self._neighbours[1]:
            self._neighbours = time.monotonic(), sizes
        return sizes

    # --- reading ----------------------------------------------------------------------------------------

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._translate(), self._reader() as connection, connection.cursor(binary=True) as cursor:
            return cursor.execute(_read(sql), list(parameters)).fetchall()

    def columns(self, sql: str, parameters: Sequence[Any] = (), *, whole: bool = False) -> dict[str, NDArray[Any]]:
        with self._translate(), self._reader() as connection, connection.cursor(binary=True) as cursor:
            if whole and (copied := _copy_columns(cursor, _read(sql), list(parameters))) is not None:
                return copied
            rows = cursor.execute(_read(sql), list(parameters)).fetchall()
            described = cursor.description or []
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(described)
        return {field.name: array_of(field.type_code, column) for field, column in zip(described, columns, strict=True)}

    @contextmanager
    def _one_state(self) -> Iterator[None]:
        with self._translate():
            connection = self._take_connection()
        try:
            with self._translate():
                # The snapshot is taken by the first statement that reads, not by BEGIN.
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1")
            self._local.reader = connection
            yield
        finally:
            self._local.reader = None
            with suppress(psycopg.Error):  # closed meanwhile, or ended by the error that is on its way
                connection.execute("ROLLBACK")
            self._pool.putconn(connection)

    @contextmanager
    def _reader(self) -> Iterator[psycopg.Connection[Any]]:
        """Yield the connection with which this thread reads: the writer, its snapshot's, or any of the pool."""
        if self._closed:
            raise self._build_closed_error()
        own = self._writer if self._owned else getattr(self._local, "reader", None)
        if own is not None:
            yield own
            return
        connection = self._take_connection()
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    def _take_connection(self) -> psycopg.Connection[Any]:
        if self._closed:
            raise self._build_closed_error()
        return self._pool.getconn()

    # --- writing ----------------------------------------------------------------------------------------

    @property
    def shared(self) -> bool:
        return True

    def can_follow(self, since: int) -> bool:
        return self._outbox.follows(since)

    def changes(self, since: int, limit: int) -> tuple[StoreChange, ...]:
        return self._outbox.changes(since, limit)

    def hear(self, seconds: float) -> None:
        with self._translate():
            if self._ear is None or self._ear.closed:
                self._ear = connect_namespace(self._address)
                self._ear.execute(SQL("LISTEN {}").format(Identifier(self._address.schema)))
            for _ in self._ear.notifies(timeout=seconds, stop_after=1):
                pass

    @contextmanager
    def consolidating(self) -> Iterator[None]:
        with ExitStack() as stack:
            with self._translate():
                connection = stack.enter_context(connect_namespace(self._address))
                stack.enter_context(hold_lease(connection, self._address, "consolidates"))
            yield

    def _reconnect(self) -> None:
        self._writer = connect_namespace(self._address)

    def _begin(self) -> None:
        if self._writer.closed:
            self._reconnect()
        with self._translate():
            try:
                version = begin_lease(self._writer, self._address)
            except psycopg.OperationalError:
                if not self._writer.closed:
                    raise
                # The server was restarted; no transaction has begun.
                self._reconnect()
                version = begin_lease(self._writer, self._address)
        try:
            _check_version(self._address, version)
        except BaseException:
            self._roll_back()
            raise

    def _log_changes(self, revision: int) -> None:
        self._outbox.append(revision, _program(), self.edge_changes.noted, self.clock_changes.noted)

    def _write(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        with self._translate():
            self._writer.execute(_read(sql), list(parameters))

    def _commit(self) -> None:
        # NOTIFY inside the transaction would make the commits of all namespaces wait for each other.
        statement = f'COMMIT; NOTIFY "{self._address.schema}"' if self._dirty else "COMMIT"
        with self._translate():
            self._writer.execute(statement.encode())

    def _roll_back(self) -> None:
        with suppress(psycopg.Error):
            self._writer.execute("ROLLBACK")

    @contextmanager
    def offer_columns(self, name: str, columns: Mapping[str, OfferedColumn]) -> Iterator[None]:
        self._in_transaction()
        kinds = [OFFERED_TYPES[column.type] for column in columns.values()]
        fields = SQL(", ").join(
            SQL("{} {}").format(Identifier(field), SQL(kind)) for field, kind in zip(columns, kinds, strict=True)
        )
        with self._translate():
            temporary = Identifier("pg_temp", name)
            self._writer.execute(SQL("CREATE TEMP TABLE {} ({})").format(Identifier(name), fields))
            copy = SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(temporary)
            with self._writer.cursor() as cursor, cursor.copy(copy) as into:
                into.set_types(kinds)
                for row in zip(*map(_values, columns.values()), strict=True):
                    into.write_row(row)
        yield
        with self._translate():
            self._writer.execute(SQL("DROP TABLE {}").format(temporary))

    def copy_into(self, table: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows into a table, inside a transaction.

        columns: names and types. Times are microseconds since 1970, JSON is text.
        """
        self._in_transaction()
        self._dirty = self._structural = True
        names = SQL(", ").join(Identifier(name) for name, _ in columns)
        copy = SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(Identifier(table), names)
        with self._translate(), self._writer.cursor() as cursor, cursor.copy(copy) as into:
            into.set_types([kind for _, kind in columns])
            for row in rows:
                into.write_row(row)

    def compact(self, wait: float, last: tuple[str, Sequence[Any]]) -> bool:
        if self._inside:
            return False
        with self._lock, self._translate():
            if self.read_only or self._closed:
                raise StoreError(f"{self.path} cannot be written.", way_out="Open it for writing.")
            with hold_lease(self._writer, self._address):
                return self._vacuum(wait, last)

    def _vacuum(self, wait: float, last: tuple[str, Sequence[Any]]) -> bool:
        """Rewrite all tables, then run the last statement; False if a lock took longer than `wait` seconds."""
        tables = self._writer.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", [self._address.schema]
        ).fetchall()
        self._writer.execute(f"SET lock_timeout = {int(wait * 1000)}".encode())
        try:
            for (table,) in tables:
                self._writer.execute(SQL("VACUUM (FULL) {}").format(Identifier(table)))
        except errors.LockNotAvailable:
            return False
        finally:
            self._writer.execute("SET lock_timeout = 0")
        self._writer.execute(_read(last[0]), list(last[1]))
        return True

    @contextmanager
    def _translate(self) -> Iterator[None]:
        with translating(self.path):
            yield


def _options(address: Address) -> dict[str, Any]:
    return {
        "autocommit": True,
        "options": f"-c search_path={address.schema} -c {_SETTING}={address.namespace}",
        "application_name": f"amgs {_program()}"[:63],
        "connect_timeout": 10,
    }


def _program() -> str:
    return f"{os.getpid()} on {socket.gethostname()}"


def connect_namespace(address: Address) -> psycopg.Connection[Any]:
    """Return a new connection whose search path is the namespace."""
    with translating(address.shown):
        connection = psycopg.connect(address.connection, **_options(address))
        values.register(connection)
        return connection


def _check_alive(connection: psycopg.Connection[Any]) -> None:
    """Check a pooled connection: raise if the server has closed it, which shows as unread data."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        connection.execute("SELECT 1")


def _check_server(connection: psycopg.Connection[Any], address: Address) -> None:
    if connection.info.server_version < _OLDEST * 10_000:
        raise StoreError(
            f"{address.shown} is on PostgreSQL {connection.info.server_version // 10_000}, and needs {_OLDEST}.",
            way_out=f"Move the database to PostgreSQL {_OLDEST} or later; nothing was changed.",
        )
    row = connection.execute("SHOW server_encoding").fetchone()
    if row is None or row[0] != "UTF8":
        raise StoreError(
            f"{address.shown} keeps its texts as {row[0] if row else 'nothing'}, not as UTF-8.",
            way_out="Choose, or create, a database with ENCODING 'UTF8'.",
        )


def _check_version(address: Address, version: int) -> None:
    if version > LATEST:
        raise StoreTooNewError(
            f"{address.shown} has schema {version}; this program knows schemas up to {LATEST}.",
            way_out="Update the program, or choose another store.",
        )


def _read(sql: str) -> bytes:
    return translate_statement(sql).encode()


def _copy_columns(cursor: psycopg.Cursor[Any], sql: bytes, parameters: list[Any]) -> dict[str, NDArray[Any]] | None:
    """Read the columns of a query by COPY; None if its rows differ in width."""
    cursor.execute(b"SELECT * FROM (" + sql + b") AS asked LIMIT 0", parameters)
    described = cursor.description or []
    sent = bytearray()
    # Without parameters a statement is sent verbatim, so doubled % must be undone.
    asked = sql if parameters else sql.replace(b"%%", b"%")
    with cursor.copy(b"COPY (" + asked + b") TO STDOUT (FORMAT BINARY)", parameters) as copy:
        for part in copy:
            sent += part
    columns = columns_of(sent, [field.type_code for field in described])
    if columns is None:
        return None
    return {field.name: column for field, column in zip(described, columns, strict=True)}


def _values(column: OfferedColumn) -> Sequence[Any]:
    values = column.values
    return values.tolist() if isinstance(values, np.ndarray) else values
