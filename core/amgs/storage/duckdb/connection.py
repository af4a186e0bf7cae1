"""Connection of a store in a DuckDB file: a writer, a cursor for each thread that reads, and the note of the last
commit.
"""

from __future__ import annotations

import os
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from weakref import WeakSet

import duckdb
import numpy as np
from numpy.typing import NDArray

from amgs.errors import StoreCorruptError, StoreError, StoreTooNewError
from amgs.storage.connection import ChangeLog, OfferedColumn, SqlConnection, mask_missing
from amgs.storage.duckdb import files
from amgs.storage.duckdb.files import LastCommit, Note, ReadGate, WriteAheadSize
from amgs.storage.duckdb.opening import connect_file, set_up, translate_error
from amgs.storage.duckdb.schema import migrate, schema_version
from amgs.storage.migrations import LATEST

MEMORY = ":memory:"

_WRITTEN = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM|MERGE INTO) (\w+) ")
_MOST_QUERIES = 32
"""Queries of a table whose rows are cached."""

_OPENING = threading.Lock()


@dataclass(eq=False)
class ThreadReader:
    """A thread's cursor. latest: its transaction is open, and of the latest state; busy: within a snapshot. counters:
    of that state, once read.

    After a snapshot the transaction stays open until something is committed, so that the next one runs no statement.
    """

    cursor: duckdb.DuckDBPyConnection
    latest: bool = False
    busy: bool = False
    counters: tuple[int, int] | None = None

    def end(self) -> None:
        """End the transaction."""
        self.latest, self.counters = False, None
        with suppress(duckdb.Error):  # closed meanwhile, or ended by an error that is on its way
            self.cursor.execute("ROLLBACK")


class Connection(SqlConnection):
    """An open store in a file. Create it with `Connection.open`."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, path: str, *, read_only: bool, note: Note | None = None
    ) -> None:
        super().__init__(path, read_only=read_only)
        self._writer = connection
        self._readers_lock = threading.Lock()
        self._gate = ReadGate()
        self._readers = WeakSet[ThreadReader]()
        self._keeps_snapshots = True
        self._alone = True
        """False once this program has opened the file twice: nothing is cached from then on."""
        self._written = set[str]()
        """Tables that the running transaction wrote; "" is any."""
        self._cached = defaultdict[str, dict[str, list[tuple[Any, ...]]]](dict)
        self._highest: dict[str, int] = {}
        self._last: LastCommit | None = None
        self._sound = True
        self._note = note
        self._ahead = WriteAheadSize(Path(path)) if path != MEMORY else None

    @classmethod
    def open(cls, path: Path | str, *, read_only: bool = False, create: bool = True, accept_loss: bool = False) -> Self:
        """Open or create the store and migrate its schema. A refused store is not changed.

        path: a file in an existing folder, or ":memory:". create: if False, a missing store is an error. accept_loss:
        open a store that has lost its last changes. Raises StoreLockedError, StoreTooNewError, StoreCorruptError, or
        StoreError for anything else.
        """
        name, is_new, cut, note = str(path), False, "", None
        if name == MEMORY:
            connection = duckdb.connect(name)
        else:
            note = Note(Path(name))
            with files.lock_for_creation(Path(name)):
                is_new = files.is_new(Path(name))
                try:
                    connection, cut = connect_file(
                        name, note, read_only=read_only, create=create, accept_loss=accept_loss
                    )
                except BaseException:
                    note.close()
                    raise
        store = cls(connection, name, read_only=read_only, note=note)
        store.created, store.cut = is_new, cut
        try:
            set_up(connection)
            version = schema_version(connection)
            if version > LATEST:
                raise StoreTooNewError(
                    f"{name} has schema {version}; this program knows schemas up to {LATEST}.",
                    way_out="Update the program, or choose another store.",
                )
            store._compare_with_note(version, accept_loss=accept_loss)
            if version < LATEST:
                if read_only:
                    raise StoreError(
                        f"{name} has schema {version} and must be migrated to {LATEST}.",
                        way_out="Open it once for writing.",
                    )
                migrate(connection, version)
            changes, structure = store.counters
            store.edge_changes = ChangeLog(structure)
            store.clock_changes = ChangeLog(changes)
            if note is not None and not read_only:
                store._last = store._state()
                store._note_commit(store._last)
                store._compare_openings()
        except duckdb.Error as error:
            store._close_unchanged()
            raise translate_error(error, name) from error
        except BaseException:
            store._close_unchanged()
            raise
        return store

    def _compare_openings(self) -> None:
        """Keep nothing from now on if this program has the file open for writing already, and let that opening keep
        nothing either: neither hears of the other's commits.
        """
        with _OPENING:
            others = self._others()
            for opening in (self, *others) if others else ():
                with opening._ending_snapshots():
                    opening._alone, opening._last = False, None
            _OPEN.add(self)

    def _others(self) -> list[Connection]:
        """Return the other openings of the file for writing in this program."""
        real = os.path.realpath(self.path)
        return [
            other for other in _OPEN if other is not self and not other._closed and os.path.realpath(other.path) == real
        ]

    def close(self) -> None:
        """Close the store; a second call does nothing. A store found damaged stays on disk as it is."""
        with self._lock, self._readers_lock:
            if self._closed:
                return
            self._closed = True
            for reader in self._readers:
                reader.cursor.close()
            if not self._sound:
                with suppress(duckdb.Error):
                    self._writer.execute("PRAGMA disable_checkpoint_on_shutdown")
            self._writer.close()
            if self._note is not None:
                self._note.close()

    def _close_unchanged(self) -> None:
        """Close a refused store; its files stay byte for byte."""
        self._sound = False
        self.close()

    def _compare_with_note(self, version: int, *, accept_loss: bool) -> None:
        """Raise StoreCorruptError if the store lacks committed changes, according to the note beside it.

        accept_loss: record the loss in `lost` instead.
        """
        noted = None if self._note is None else self._note.read()
        if self._note is None or noted is None:
            return
        # In a database without a single table, the store that was here is known by its note alone.
        state = self._state() if version else LastCommit(noted.store, 0, 0)
        missing = noted.beyond(state)
        if missing and not accept_loss:
            raise StoreCorruptError(
                f"Gone from {self.path}: {missing}. "
                "The file or its write-ahead file was cut short, or is an older copy.",
                title="The store has lost changes",
                way_out="Restore a complete backup, or accept the loss and continue with what is left.",
                about="loss",
            )
        self.lost = missing

    def _note_commit(self, commit: LastCommit) -> None:
        """Write the note beside the file, unless the store was never changed."""
        if self._note is not None and commit.changes:
            self._note.write(commit)

    def _state(self) -> LastCommit:
        """Return the store's id, change counter and latest journal entry, as the writer sees them."""
        row = self._writer.execute(
            "SELECT (SELECT value FROM meta WHERE key = 'store_id'), value, "
            "(SELECT coalesce(max(id), 0) FROM operations) FROM change_counter"
        ).fetchone()
        if row is None:
            raise StoreCorruptError(f"{self.path} has no change counter.", way_out="Restore a backup.")
        return LastCommit(str(row[0]), int(row[1]), int(row[2]))

    @property
    def file(self) -> Path | None:
        return None if self.path == MEMORY else Path(self.path)

    # --- reading ----------------------------------------------------------------------------------------

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self._passing(), self._translate():
            return self._cursor().execute(sql, list(parameters)).fetchall()

    def columns(self, sql: str, parameters: Sequence[Any] = (), *, whole: bool = False) -> dict[str, NDArray[Any]]:
        """Return the columns of a query as arrays (n,); NULLs are masked. `whole` makes no difference for a file."""
        del whole
        with self._passing(), self._translate():
            return dict(self._cursor().execute(sql, list(parameters)).fetchnumpy())

    def read_cached_rows(self, table: str, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if self._owned or not self._inside:
            return self.rows(sql, parameters)
        reader, key = self._reader(), f"{sql} {parameters}"
        with self._readers_lock:
            known = self._cached[table].get(key) if reader.latest else None
        if known is None:
            known = self.rows(sql, parameters)
            with self._readers_lock:
                if reader.latest:  # nothing was committed since
                    rows = self._cached[table]
                    if len(rows) >= _MOST_QUERIES:
                        rows.clear()
                    rows[key] = known
        return known

    def highest(self, table: str, column: str) -> int:
        if not (self._owned and self._alone):
            return super().highest(table, column)
        if table not in self._highest:
            self._highest[table] = super().highest(table, column)
        return self._highest[table]

    def note_highest(self, table: str, number: int) -> None:
        self._highest[table] = number

    @property
    def committed_changes(self) -> int:
        # No statement is run, since a server calls this for every answer, from its event loop.
        return self.change_counter if self._last is None else self._last.changes

    @property
    def schema_version(self) -> int:
        with self._passing():
            return schema_version(self._cursor())

    @property
    def counters(self) -> tuple[int, int]:
        if not self._inside or self._owned:
            return super().counters
        reader = self._reader()
        if reader.counters is None:
            reader.counters = super().counters
        return reader.counters

    @contextmanager
    def _one_state(self) -> Iterator[None]:
        with self._gate.passing():
            reader = self._reader()
            with self._readers_lock:
                current, reader.latest, reader.busy = reader.latest, self._keeps_snapshots, True
            try:
                if not current:
                    reader.counters = None
                    with self._translate():
                        reader.cursor.execute("BEGIN TRANSACTION")
                yield
            except BaseException:
                reader.latest = False  # it may have ended the transaction
                raise
            finally:
                with self._readers_lock:
                    reader.busy = False
                    if not reader.latest:
                        reader.end()

    @contextmanager
    def _ending_snapshots(self) -> Iterator[None]:
        """End the transactions that snapshots left open, and let none be left open while the block commits: later they
        would be of an earlier state than others', and would hinder a checkpoint.
        """
        with self._readers_lock:
            self._keeps_snapshots = False
            for reader in self._readers:
                if reader.latest and not reader.busy:
                    reader.end()
                reader.latest = False
            for table in self._cached if "" in self._written else self._written:
                self._cached[table] = {}
        try:
            yield
        finally:
            self._keeps_snapshots = self._alone

    # --- writing ----------------------------------------------------------------------------------------

    def _begin(self) -> None:
        with self._translate():
            self._writer.execute("BEGIN TRANSACTION")
        self._written.clear()

    def execute(
        self, sql: str, parameters: Sequence[Any] = (), *, structural: bool = True, counted: bool = True
    ) -> None:
        if match := _WRITTEN.match(sql):
            self._highest.pop(match[1], None)
        else:
            self._highest.clear()
        self._written.add(match[1] if match else "")
        super().execute(sql, parameters, structural=structural, counted=counted)

    def revision(self) -> int:
        self._in_transaction()
        if self._last is None or not self._written.isdisjoint(("change_counter", "")):
            return super().revision()
        return self._last.changes + 1

    def _write(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        with self._translate():
            self._writer.execute(sql, list(parameters))

    def _commit(self) -> None:
        with self._translate():
            after = self._state_after() if self._dirty and self._note is not None else None
            with self._ending_snapshots():
                self._writer.execute("COMMIT")
        if after is not None:
            self._last = after if self._alone else None
            self._checkpoint_if_due()
            self._note_commit(after)

    def _state_after(self) -> LastCommit:
        """Return what `_state` does, for a transaction that raised the change counter; from memory where it wrote
        neither the store's id nor the counter.
        """
        if self._last is None or not self._written.isdisjoint(("meta", "change_counter", "")):
            return self._state()
        return LastCommit(self._last.store, self._last.changes + 1, self.highest("operations", "id"))

    def _checkpoint_if_due(self) -> None:
        """Write the write-ahead file into the store's file if it has grown enough."""
        if self._ahead is None or not self._ahead.due():
            return
        # Another transaction may prevent it until the next commit. Any other failure will show in the next
        # statement; what was committed is on disk already.
        with suppress(duckdb.Error):
            self._writer.execute("CHECKPOINT")
            self._ahead.record_merge()

    def _roll_back(self) -> None:
        self._highest.clear()
        # The statement that failed may have ended the transaction already.
        with suppress(duckdb.Error):
            self._writer.execute("ROLLBACK")

    @contextmanager
    def offer_columns(self, name: str, columns: Mapping[str, OfferedColumn]) -> Iterator[None]:
        self._in_transaction()
        # The type of a column of objects is that of all its values, not of a sample.
        self._writer.execute(f"SET pandas_analyze_sample = {1 << 62}")
        self._writer.register(name, {field: _prepare_column(column) for field, column in columns.items()})
        try:
            yield
        finally:
            self._writer.unregister(name)

    # --- the file -----------------------------------------------------------------------------------------

    def compact(self, wait: float, last: tuple[str, Sequence[Any]]) -> bool:
        """Rewrite the file without free pages and deleted rows; return whether that was done.

        last: a statement run in the new file. False, with nothing done, if a reader needs longer than `wait` seconds or
        this program has the file open twice. A process killed meanwhile leaves the old file or the new file.
        """
        if self._inside or self._others():
            return False
        with self._lock, self._gate.shut(wait) as shut:
            if not shut:
                return False
            if self.read_only or self._closed:
                raise StoreError(f"{self.path} cannot be written.", way_out="Open it for writing.")
            if self.path == MEMORY:
                with self._translate(), self._ending_snapshots():
                    self._writer.execute(*last)
                return True
            part = Path(f"{self.path}.part")
            with self._translate(), self._ending_snapshots():
                try:
                    self._copy_to(part, last)
                except BaseException:
                    part.unlink(missing_ok=True)
                    raise
                self._replace_by(part)
        return True

    def _copy_to(self, part: Path, last: tuple[str, Sequence[Any]]) -> None:
        """Copy the database into a new file, run the last statement there, and sync it to disk."""
        part.unlink(missing_ok=True)
        name = str(self._writer.execute("SELECT current_database()").fetchall()[0][0])
        quoted, target = name.replace('"', '""'), str(part).replace("'", "''")
        self._writer.execute("FORCE CHECKPOINT")
        self._writer.execute(f"ATTACH '{target}' AS rewritten")
        try:
            self._writer.execute(f'COPY FROM DATABASE "{quoted}" TO rewritten')
        finally:
            self._writer.execute("DETACH rewritten")
        with duckdb.connect(str(part)) as copy:
            copy.execute(*last)
            copy.execute("FORCE CHECKPOINT")
        with part.open("rb") as file:
            os.fsync(file.fileno())

    def _replace_by(self, part: Path) -> None:
        """Close the database, replace its file by the new file, and open that."""
        with self._readers_lock:
            for reader in self._readers:
                reader.cursor.close()
            self._readers.clear()
            self._local = threading.local()
            self._writer.close()
            try:
                part.replace(self.path)
            finally:
                self._writer = duckdb.connect(self.path)
                set_up(self._writer)
        self._note_commit(self._state())

    # --- inside -----------------------------------------------------------------------------------------

    @contextmanager
    def _passing(self) -> Iterator[None]:
        """Hold the gate open for a read, so that the file is not replaced meanwhile; writers and snapshots hold it
        already.
        """
        if self._inside:
            yield
            return
        with self._gate.passing():
            reader = self._reader()
            with self._readers_lock:
                if reader.latest:
                    reader.end()
            yield

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """Return the writer inside this thread's transaction, else this thread's own reader."""
        return self._writer if self._owned else self._reader().cursor

    def _reader(self) -> ThreadReader:
        """Return this thread's own reader."""
        if self._closed:
            raise self._build_closed_error()
        reader: ThreadReader | None = getattr(self._local, "reader", None)
        if reader is None:
            # Not the writers' lock, so that a reader need not wait for a transaction.
            with self._readers_lock:
                if self._closed:
                    raise self._gone()
                reader = ThreadReader(self._writer.cursor())
                self._readers.add(reader)
            self._local.reader = reader
        return reader

    @contextmanager
    def _translate(self) -> Iterator[None]:
        """Turn DuckDB's errors into the engine's, and remember whether the file is damaged."""
        try:
            yield
        except duckdb.Error as error:
            store_error = translate_error(error, self.path)
            self._sound = self._sound and not isinstance(store_error, StoreCorruptError)
            if getattr(self._local, "still", False):
                self._local.reader.latest = False  # the error has ended the transaction
            raise store_error from error


_OPEN = WeakSet[Connection]()
"""Files opened for writing by this program."""


def _prepare_column(column: OfferedColumn) -> NDArray[Any]:
    """Return a column in the form that DuckDB scans: numbers as an array, texts and vectors as objects."""
    if isinstance(column.values, np.ndarray):
        return column.values
    dtype = _NUMBERS.get(column.type)
    if dtype is not None:
        return mask_missing(column.values, dtype)
    objects = np.empty(len(column.values), dtype=object)
    for row, value in enumerate(column.values):  # at once, vectors of equal length would become a matrix
        objects[row] = value
    return objects


_NUMBERS: dict[str, type[np.generic]] = {
    "BIGINT": np.int64,
    "INTEGER": np.int64,
    "TIMESTAMP": np.int64,
    "DOUBLE": np.float64,
}
