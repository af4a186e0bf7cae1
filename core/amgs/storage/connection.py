"""Connection of an open store, for both databases: transactions, snapshots and the change counter.

Writes happen inside `with storage.transaction():`, reads anywhere. A read inside a transaction sees that transaction;
any other read sees the last committed state. A revision is the value of the change counter with which a row was
written.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.errors import UNWRITABLE, StoreError, StoreLockedError

if TYPE_CHECKING:
    from amgs.types import EdgeKey, StoreChange
    from amgs.types.health import NamespaceSize


_KEPT = 20_000
"""Most keys that are remembered; with more changes, reading all rows again is as fast."""

Key = TypeVar("Key", bound=Hashable)


class ChangeLog(Generic[Key]):
    """Remembers the keys of changed rows by revision, so that indexes can read only what changed.

    Keys are recorded before the commit: a key too many is harmless, a key too few is not.
    """

    def __init__(self, known_from: int = 0) -> None:
        """known_from: the revision at which the session begins."""
        self._lock = threading.Lock()
        self._open: set[Key] | None = set()
        self._kept: deque[tuple[int, frozenset[Key]]] = deque()
        self._known_from = known_from

    def begin(self) -> None:
        """Start collecting keys for a new transaction."""
        self._open = set()

    def note(self, keys: Iterable[Key]) -> None:
        """Record that rows with these keys are written or deleted."""
        if self._open is not None:
            self._open.update(keys)

    def forget(self) -> None:
        """Record that any row may have changed."""
        self._open = None

    @property
    def noted(self) -> frozenset[Key] | None:
        """Keys of the running transaction; None if any row may have changed."""
        return None if self._open is None else frozenset(self._open)

    def commit(self, revision: int) -> None:
        """Store the collected keys under the revision that is about to be committed."""
        with self._lock:
            if self._open is None:
                self._kept.clear()
                self._known_from = revision
            elif self._open:
                self._kept.append((revision, frozenset(self._open)))
            while self._kept and sum(len(keys) for _, keys in self._kept) > _KEPT:
                self._known_from = self._kept.popleft()[0]

    def after(self, since: int) -> frozenset[Key] | None:
        """Return the keys changed after a revision; None if they are not all known."""
        with self._lock:
            if since < self._known_from:
                return None
            return frozenset().union(*(keys for revision, keys in self._kept if revision > since))


class OfferedColumn(NamedTuple):
    """A column of values that a statement reads as part of a table.

    type: its name in the export format. Times are microseconds since 1970, a vector is a float32 array, NULL is None.
    """

    type: str
    values: Sequence[Any] | NDArray[Any]


def mask_missing(values: Sequence[Any] | NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """Return numbers as an array (n,), masked where they are None."""
    if isinstance(values, np.ndarray) or None not in values:
        return np.asarray(values, dtype=dtype)
    missing = [value is None for value in values]
    return np.ma.masked_array([0 if value is None else value for value in values], missing, dtype=dtype)


class SqlConnection(ABC):
    """What both databases offer to the parts of a store."""

    def __init__(self, path: str, *, read_only: bool) -> None:
        self.path = path
        """Where the store lies: a file, the address of a database without its secrets, or ":memory:"."""
        self.read_only = read_only
        self._lock = threading.RLock()
        self._owner: int | None = None
        self._dirty = False
        self._structural = False
        self._local = threading.local()
        self._closed = False
        self.edge_changes: ChangeLog[EdgeKey] = ChangeLog()
        self.clock_changes: ChangeLog[str] = ChangeLog()
        self.lost = ""
        """What was missing when the store was opened, where that was accepted; in words."""
        self.cut = ""
        """What was cut off when the store was opened, of which nothing was acknowledged; in words."""
        self.created = False
        """Whether opening created it."""

    @abstractmethod
    def close(self) -> None:
        """Close the store; a second call does nothing. A store found damaged is not written to."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def file(self) -> Path | None:
        """The store's file; None for a store on a server or in memory."""
        return None

    def namespaces(self, *, own: bool = False) -> tuple[NamespaceSize, ...]:
        """Return the namespaces of the database that this user may open, with sizes from the catalogue; empty for a
        file.

        own: only this store's.
        """
        del own
        return ()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    @abstractmethod
    def schema_version(self) -> int:
        """Schema version of the open store."""

    # --- reading ----------------------------------------------------------------------------------------

    @abstractmethod
    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""

    @abstractmethod
    def columns(self, sql: str, parameters: Sequence[Any] = (), *, whole: bool = False) -> dict[str, NDArray[Any]]:
        """Return the columns of a query as arrays (n,), which is fast for many rows; NULLs are masked.

        whole: most rows of a table are read, so a server may stream them.
        """

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the single value of a query; None if it has no row."""
        rows = self.rows(sql, parameters)
        return rows[0][0] if rows else None

    def read_cached_rows(self, table: str, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query of one table that is seldom written, from memory where they are known."""
        del table
        return self.rows(sql, parameters)

    def highest(self, table: str, column: str) -> int:
        """Return the highest number in a column, 0 without rows; inside a transaction from memory if known."""
        return int(self.value(f"SELECT coalesce(max({column}), 0) FROM {table}"))

    def note_highest(self, table: str, number: int) -> None:  # noqa: B027
        """Take note of the highest number in a table's column, which was just written."""

    @property
    def change_counter(self) -> int:
        """Number of committed writing transactions."""
        return int(self.value("SELECT value FROM change_counter"))

    @property
    def committed_changes(self) -> int:
        """Change counter after the last commit, even if this thread reads an older snapshot."""
        return self.change_counter

    @property
    def structure_counter(self) -> int:
        """Change counter at the last change that indexes must follow, which excludes reinforcements, logs
        and caches.
        """
        return int(self.value("SELECT structure FROM change_counter"))

    @property
    def counters(self) -> tuple[int, int]:
        """Change counter and structure counter, from a single query."""
        value, structure = self.rows("SELECT value, structure FROM change_counter")[0]
        return int(value), int(structure)

    # One program alone writes, unless a backend says otherwise.

    @property
    def shared(self) -> bool:
        """Return whether other programs may write to the store while it is open."""
        return False

    def can_follow(self, since: int) -> bool:
        """Return whether all changes since this change counter can be read by revision.

        False after another program bulk-loaded the store, or when more changed than is remembered.
        """
        del since
        return True

    def changes(self, since: int, limit: int) -> tuple[StoreChange, ...]:
        """Return the first changes after a change counter, by any program, as far as they are stored; empty unless the
        store is shared.
        """
        del since, limit
        return ()

    def hear(self, seconds: float) -> None:
        """Wait for another program's change of a shared store, at most `seconds`.

        For a single thread. Notices can be missed, so check the counter afterwards. Raises StoreError if the server is
        gone.
        """
        del seconds

    @contextmanager
    def consolidating(self) -> Iterator[None]:
        """Hold the lock of consolidation while the block runs. Raises StoreLockedError if another program holds it."""
        yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read a committed state while the block runs, whatever other threads write. Inside a snapshot or transaction
        of this thread it joins that.
        """
        if self._inside:
            yield
            return
        with self._one_state():
            self._local.still = True
            try:
                yield
            finally:
                self._local.still = False

    # --- writing ----------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all writes of the block together, or none; inside another transaction it joins that."""
        with self._lock:
            if self._owned:
                yield
                return
            if self.read_only:
                raise StoreError(
                    f"{self.path} was opened for reading only.", way_out="Open it for writing.", about="reading"
                )
            if self._closed:
                raise self._build_closed_error()
            self._begin()
            self._owner, self._dirty, self._structural = threading.get_ident(), False, False
            try:
                self.edge_changes.begin()
                self.clock_changes.begin()
                yield
                if self._dirty:
                    self._log_changes(self.revision())
                    if self._structural:
                        self._write("UPDATE change_counter SET structure = value + 1")
                    self._write("UPDATE change_counter SET value = value + 1")
                self._commit()
            except BaseException:
                self._roll_back()
                raise
            finally:
                self._owner = None

    def log(self) -> AbstractContextManager[None, bool]:
        """Return a transaction for writes that are not worth failing for: they are dropped if the disk is full or
        read-only, or another program keeps writing.
        """
        return cast("AbstractContextManager[None, bool]", self._logging())

    @contextmanager
    def _logging(self) -> Iterator[None]:
        try:
            with self.transaction():
                yield
        except StoreError as error:
            if error.about not in UNWRITABLE and not isinstance(error, StoreLockedError):
                raise

    def execute(
        self, sql: str, parameters: Sequence[Any] = (), *, structural: bool = True, counted: bool = True
    ) -> None:
        """Run a writing statement inside a transaction.

        structural: derived indexes must follow it; False for logs, clocks and caches. counted: it raises the change
        counter; False for what a screen remembers.
        """
        self._in_transaction()
        self._dirty = self._dirty or counted
        self._structural = self._structural or (structural and counted)
        self._write(sql, parameters)

    @abstractmethod
    def offer_columns(self, name: str, columns: Mapping[str, OfferedColumn]) -> AbstractContextManager[None]:
        """Make columns of equal length readable as the table `name` while the block runs, inside a transaction."""

    def revision(self) -> int:
        """Return the revision that the running transaction will have, which its rows are stamped with."""
        self._in_transaction()
        return self.change_counter + 1

    @abstractmethod
    def compact(self, wait: float, last: tuple[str, Sequence[Any]]) -> bool:
        """Rewrite the database so that nothing of deleted rows is left; return whether that was done.

        last: a statement run with it. False, with nothing done, if a reader needs longer than `wait` seconds.
        """

    # --- of each backend ----------------------------------------------------------------------------------

    @abstractmethod
    def _one_state(self) -> AbstractContextManager[None]:
        """Read a committed state while the block runs."""

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _write(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement in the running transaction."""

    def _log_changes(self, revision: int) -> None:
        """Store the changed keys under this revision."""
        self.edge_changes.commit(revision)
        self.clock_changes.commit(revision)

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _roll_back(self) -> None:
        """Roll back; errors are ignored, since the error that led here matters more."""

    # --- inside -----------------------------------------------------------------------------------------

    @property
    def _inside(self) -> bool:
        """Return whether this thread is in a transaction or snapshot."""
        return self._owned or getattr(self._local, "still", False)

    @property
    def _owned(self) -> bool:
        """Return whether the running transaction is this thread's."""
        return self._owner == threading.get_ident()

    def _in_transaction(self) -> None:
        if not self._owned:
            raise RuntimeError("a store is written inside `with store.transaction():`")

    def _build_closed_error(self) -> StoreError:
        return StoreError(f"{self.path} is closed.", way_out="Open it again.")


# --- values between Python and the tables -----------------------------------------------------------------


def to_stored_time(instant: datetime) -> datetime:
    """Convert a time to the naive UTC timestamp that tables hold."""
    return as_utc(instant).replace(tzinfo=None)


def microseconds(instants: Sequence[datetime]) -> list[int]:
    """Convert times to microseconds since 1970, for bulk inserts: (n,)."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return [(as_utc(i) - epoch) // timedelta(microseconds=1) for i in instants]


class StoragePart:
    """Base of the parts of a store: a family of tables."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection
        self._rows, self._columns = connection.rows, connection.columns
        self._value, self._execute = connection.value, connection.execute

    def _count(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Return the number that a query yields."""
        return int(self._value(sql, parameters))

    def _note(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a writing statement that derived indexes need not follow: for logs, clocks and caches."""
        self._execute(sql, parameters, structural=False)
