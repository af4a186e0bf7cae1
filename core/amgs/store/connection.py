"""One open store: the connection, its lock, transactions and the change counter.

Writing functions of this package run inside `with store.transaction():`; reading functions run anywhere. A
read in another thread sees the last committed state, a read inside a transaction sees the transaction.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.errors import (
    AmgsError,
    StoreCorruptError,
    StoreError,
    StoreLockedError,
    StoreTooNewError,
    UsageError,
)
from amgs.store.migrations import LATEST, migrate, schema_version

MEMORY = ":memory:"

_OTHER_PROCESS = re.compile(r"\(PID (\d+)\)")
_TOO_NEW = re.compile(r"version number|newer version", re.IGNORECASE)
_NO_ROOM = re.compile(r"no space left|file too large|disk quota|out of disk", re.IGNORECASE)
_NOT_ALLOWED = re.compile(r"permission denied|read-only file system", re.IGNORECASE)
_DAMAGED = re.compile(
    r"corrupt|checksum|not a valid DuckDB|read enough bytes|deserialize|failure while replaying",
    re.IGNORECASE,
)


class Store:
    """An open store. Make one with `Store.open`; close it, or use it as a context manager."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str, *, read_only: bool) -> None:
        self._writer = connection
        self.path = path
        self.read_only = read_only
        self._lock = threading.RLock()
        self._readers_lock = threading.Lock()
        self._owner: int | None = None
        self._dirty = False
        self._structural = False
        self._readers: list[duckdb.DuckDBPyConnection] = []
        self._local = threading.local()
        self._closed = False

    @classmethod
    def open(cls, path: Path | str, *, read_only: bool = False) -> Store:
        """Open or create the store and bring its schema up to date.

        path: a file, whose directory is made when it is missing, or ":memory:".
        Raises StoreLockedError, StoreTooNewError, StoreCorruptError, or StoreError for anything else.
        """
        name = str(path)
        if name != MEMORY:
            _prepare(Path(name), read_only=read_only)
        try:
            connection = duckdb.connect(name, read_only=read_only)
        except (duckdb.Error, UnicodeError) as error:
            raise _translated(error, name) from error
        store = cls(connection, name, read_only=read_only)
        try:
            # At 16 MB, DuckDB's own limit, every batch of a bulk load rewrote most of the table.
            connection.execute("SET checkpoint_threshold = '128MB'")
            version = schema_version(connection)
            if version > LATEST:
                raise StoreTooNewError(
                    f"{name} has schema {version}; this program knows up to {LATEST}.",
                    way_out="Update the program, or give another file with --store.",
                )
            if version < LATEST:
                if read_only:
                    raise StoreError(
                        f"{name} has schema {version} and must be brought to {LATEST}.",
                        way_out="Open it once for writing.",
                    )
                migrate(connection, version)
        except duckdb.Error as error:
            store.close()
            raise _translated(error, name) from error
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close the store; a second call does nothing."""
        with self._lock, self._readers_lock:
            if self._closed:
                return
            self._closed = True
            for reader in self._readers:
                reader.close()
            self._writer.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        return self._closed

    # --- reading ----------------------------------------------------------------------------------------

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self._translate():
            return self._cursor().execute(sql, list(parameters)).fetchall()

    def columns(self, sql: str, parameters: Sequence[Any] = ()) -> dict[str, NDArray[Any]]:
        """The query's columns as arrays of length n: the fast way for many rows.

        NULLs come as masked arrays.
        """
        with self._translate():
            return dict(self._cursor().execute(sql, list(parameters)).fetchnumpy())

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The single value of a query, None when it has no row."""
        found = self.rows(sql, parameters)
        return found[0][0] if found else None

    @property
    def change_counter(self) -> int:
        """Rises by one with every committed writing transaction."""
        return int(self.value("SELECT value FROM change_counter"))

    @property
    def structure_counter(self) -> int:
        """The change counter at the last change that indexes must follow.

        Not reinforcement, logs or caches.
        """
        return int(self.value("SELECT structure FROM change_counter"))

    @property
    def counters(self) -> tuple[int, int]:
        """The change counter and the structure counter, in one look."""
        value, structure = self.rows("SELECT value, structure FROM change_counter")[0]
        return int(value), int(structure)

    @property
    def schema_version(self) -> int:
        return schema_version(self._cursor())

    # --- writing ----------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes inside commit together or not at all; one inside another joins it."""
        with self._lock:
            if self._owner == threading.get_ident():
                yield
                return
            if self.read_only:
                raise StoreError(f"{self.path} was opened for reading only.", way_out="Open it for writing.")
            if self._closed:
                raise self._gone()
            with self._translate():
                self._writer.execute("BEGIN TRANSACTION")
            self._owner, self._dirty, self._structural = threading.get_ident(), False, False
            try:
                yield
                with self._translate():
                    if self._structural:
                        self._writer.execute("UPDATE change_counter SET structure = value + 1")
                    if self._dirty:
                        self._writer.execute("UPDATE change_counter SET value = value + 1")
                    self._writer.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            finally:
                self._owner = None

    def execute(
        self, sql: str, parameters: Sequence[Any] = (), *, structural: bool = True, counted: bool = True
    ) -> None:
        """Run a writing statement; only inside a transaction.

        structural: whether derived indexes must follow it; logs, clocks and caches are not. counted: whether
        the change counter rises; what a screen remembers is no change of the memory.
        """
        self._in_transaction()
        self._dirty = self._dirty or counted
        self._structural = self._structural or (structural and counted)
        with self._translate():
            self._writer.execute(sql, list(parameters))

    @contextmanager
    def arrays(self, name: str, table: Any) -> Iterator[None]:
        """Offer an Arrow table under `name` to the statements inside; only inside a transaction."""
        self._in_transaction()
        self._writer.register(name, table)
        try:
            yield
        finally:
            self._writer.unregister(name)

    def revision(self) -> int:
        """What the change counter will be when the running transaction commits.

        The stamp of the rows it writes.
        """
        self._in_transaction()
        return self.change_counter + 1

    # --- inside -----------------------------------------------------------------------------------------

    def _in_transaction(self) -> None:
        if self._owner != threading.get_ident():
            raise RuntimeError("a store is written inside `with store.transaction():`")

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        if self._closed:
            raise self._gone()
        if self._owner == threading.get_ident():
            return self._writer
        reader: duckdb.DuckDBPyConnection | None = getattr(self._local, "reader", None)
        if reader is None:
            # Not the writers' lock: who only reads does not wait for a transaction to end.
            with self._readers_lock:
                if self._closed:
                    raise self._gone()
                reader = self._writer.cursor()
                self._readers.append(reader)
            self._local.reader = reader
        return reader

    def _gone(self) -> StoreError:
        return StoreError(f"{self.path} is closed.", way_out="Open it again.")

    def _roll_back(self) -> None:
        try:
            self._writer.execute("ROLLBACK")
        except duckdb.Error:
            # The statement that failed has already ended the transaction; its own error is the one to show.
            return

    @contextmanager
    def _translate(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise _translated(error, self.path) from error


def _prepare(path: Path, *, read_only: bool) -> None:
    """Make the directory of a new store, or say why it cannot be made."""
    if path.is_dir():
        raise StoreError(f"{path} is a directory.", way_out="Give the name of a file.")
    if read_only and not path.exists():
        raise StoreError(
            f"{path} does not exist.", way_out="Ingest something first, or give another file with --store."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{path.parent} cannot be made: {error.strerror or error}.",
            way_out="Give another file with --store.",
        ) from error


def _translated(error: Exception, path: str) -> AmgsError:
    """The engine's error for a DuckDB error."""
    text = str(error).strip().split("\n", 1)[0]
    if "lock on file" in text:
        held = _OTHER_PROCESS.search(text)
        who = f"process {held[1]}" if held else "another process"
        stop = f"Close it (or end process {held[1]})" if held else "Close it"
        return StoreLockedError(
            f"{path} is held by {who}, and a store has one writer at a time.",
            way_out=f"{stop}, or give another file with --store.",
        )
    if _TOO_NEW.search(text):
        return StoreTooNewError(
            f"{path}: {text}", way_out="Update the program, or give another file with --store."
        )
    if _DAMAGED.search(text) or isinstance(error, duckdb.FatalException | duckdb.InternalException):
        return StoreCorruptError(
            f"{path} cannot be read: {text}",
            way_out="Move the file away and ingest again, or put back a copy; nothing was changed.",
        )
    if "surrogate" in text:
        return UsageError(
            "A text holds half a surrogate pair, which no encoding can carry.",
            way_out="Leave that character out.",
        )
    if _NO_ROOM.search(text):
        return StoreError(
            f"{path} cannot grow: {text}",
            title="The disk is full",
            way_out="Make room and do it again; the store is as it was before.",
        )
    if _NOT_ALLOWED.search(text):
        return StoreError(
            f"{path} cannot be opened for writing: {text}",
            way_out="Check who may write to the file and its folder, or give another file with --store.",
        )
    return StoreError(
        f"{path}: {text}", way_out="Nothing was changed; `verify` says whether the store is sound."
    )


# --- values between Python and the tables -----------------------------------------------------------------


def stored(instant: datetime) -> datetime:
    """An aware instant as the naive UTC TIMESTAMP that the tables hold."""
    return as_utc(instant).replace(tzinfo=None)


def microseconds(instants: Sequence[datetime]) -> list[int]:
    """Instants as microseconds since 1970, for bulk inserts: (n,)."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return [(as_utc(i) - epoch) // timedelta(microseconds=1) for i in instants]
