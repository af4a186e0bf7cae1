"""The connection of one open store, whatever database is behind it: transactions, snapshots and the change counter.

Parts are written inside `with storage.transaction():` and read anywhere. A read in another thread sees the last
committed state, a read inside a transaction sees the transaction.
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
    from amgs.types.topology import NamespaceSize


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
        """Begin a transaction."""
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
        """Keys of the running transaction, None where any row may be changed."""
        return None if self._open is None else frozenset(self._open)

    def commit(self, revision: int) -> None:
        """Store the keys of a transaction about to commit as this revision."""
        with self._lock:
            if self._open is None:
                self._kept.clear()
                self._known_from = revision
            elif self._open:
                self._kept.append((revision, frozenset(self._open)))
            while self._kept and sum(len(keys) for _, keys in self._kept) > _KEPT:
                self._known_from = self._kept.popleft()[0]

    def after(self, since: int) -> frozenset[Key] | None:
        """Return the keys of all transactions after a revision, None where some of them are not known."""
        with self._lock:
            if since < self._known_from:
                return None
            return frozenset().union(*(keys for revision, keys in self._kept if revision > since))


class OfferedColumn(NamedTuple):
    """A column that a statement reads. type: its name in the export format; an instant is microseconds since 1970, a
    vector an array of float32, NULL None.
    """

    type: str
    values: Sequence[Any] | NDArray[Any]


def mask_missing(values: Sequence[Any] | NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """Return numbers as an array of length n, masked where they are None."""
    if isinstance(values, np.ndarray) or None not in values:
        return np.asarray(values, dtype=dtype)
    missing = [value is None for value in values]
    return np.ma.masked_array([0 if value is None else value for value in values], missing, dtype=dtype)


class SqlConnection(ABC):
    """Database interface for the parts of a store."""

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
        self.made = False
        """Whether opening it made it: there was none before."""

    @abstractmethod
    def close(self) -> None:
        """Close the store; a second call does nothing. One that was found damaged is left as it is."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def file(self) -> Path | None:
        """File of the store, beside which its companions lie; None for any other store."""
        return None

    def namespaces(self, *, own: bool = False) -> tuple[NamespaceSize, ...]:
        """Return the namespaces of the database that whoever is connected may use, by name, as the catalogue has them:
        none of them is read. own: this store's alone. Nothing for a store that is in no database.
        """
        del own
        return ()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    @abstractmethod
    def schema_version(self) -> int:
        """Latest schema that this program knows: opening a store migrates it to this one."""

    # --- reading ----------------------------------------------------------------------------------------

    @abstractmethod
    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""

    @abstractmethod
    def columns(self, sql: str, parameters: Sequence[Any] = (), *, whole: bool = False) -> dict[str, NDArray[Any]]:
        """Return the query's columns as arrays of length n: the fast way for many rows.

        NULLs come as masked arrays. whole: most rows of a table are asked for, so that they are best read in bulk.
        """

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the single value of a query, None when it has no row."""
        rows = self.rows(sql, parameters)
        return rows[0][0] if rows else None

    @property
    def change_counter(self) -> int:
        """Rises by one with every committed writing transaction."""
        return int(self.value("SELECT value FROM change_counter"))

    @property
    def committed_changes(self) -> int:
        """Change counter after the last commit, whatever state this thread reads."""
        return self.change_counter

    @property
    def structure_counter(self) -> int:
        """Change counter at the last change that indexes must follow.

        Not reinforcement, logs or caches.
        """
        return int(self.value("SELECT structure FROM change_counter"))

    @property
    def counters(self) -> tuple[int, int]:
        """Change counter and structure counter, in one query."""
        value, structure = self.rows("SELECT value, structure FROM change_counter")[0]
        return int(value), int(structure)

    # One program alone writes, unless a backend says otherwise.

    @property
    def shared(self) -> bool:
        """Return whether other programs may write to the store while it is open."""
        return False

    def followed(self, since: int) -> bool:
        """Return whether all that changed since a value of the change counter can be told by revision. Where other
        programs write too, it cannot after one filled the store from elsewhere, or after more changes than are kept.
        """
        del since
        return True

    def changes(self, since: int, limit: int) -> tuple[StoreChange, ...]:
        """Return the first changes after a value of the change counter, whoever made them, as far as they are kept; of
        a store that is not shared none are.
        """
        del since, limit
        return ()

    def hear(self, seconds: float) -> None:
        """Wait until a change of a shared store is announced, by whatever program, for some seconds at most. One thread
        hears; a notice may be missed, so look at the counter afterwards. Raises StoreError where the server is gone.
        """
        del seconds

    @contextmanager
    def consolidating(self) -> Iterator[None]:
        """Be the one program that consolidates the store, over many transactions. Raises StoreLockedError where another
        goes on doing so.
        """
        yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Yield whatever this thread reads inside is of one committed state, however others go on. One inside another,
        or inside a transaction of this thread, joins it.
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
        """Commit all writes inside together or not at all; one inside another joins it."""
        with self._lock:
            if self._owned:
                yield
                return
            if self.read_only:
                raise StoreError(
                    f"{self.path} was opened for reading only.", way_out="Open it for writing.", about="reading"
                )
            if self._closed:
                raise self._gone()
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
        """Return a transaction for what is worth keeping and not worth failing for. It is left out on a disk that is
        full or cannot be written, and while another program goes on writing.
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
        """Run a writing statement; only inside a transaction.

        structural: whether derived indexes must follow it; logs, clocks and caches are not. counted: whether
        the change counter rises; what a screen remembers is no change of the memory.
        """
        self._in_transaction()
        self._dirty = self._dirty or counted
        self._structural = self._structural or (structural and counted)
        self._write(sql, parameters)

    @abstractmethod
    def offer_columns(self, name: str, columns: Mapping[str, OfferedColumn]) -> AbstractContextManager[None]:
        """Offer columns of equal length as a table `name` to the statements inside; only inside a transaction."""

    def revision(self) -> int:
        """Return what the change counter will be when the running transaction commits.

        The stamp of the rows it writes.
        """
        self._in_transaction()
        return self.change_counter + 1

    @abstractmethod
    def compact(self, wait: float, last: tuple[str, Sequence[Any]]) -> bool:
        """Leave nothing of deleted rows where the store is kept; `last`: a statement and its parameters, carried out
        with it. False, and nothing is done, where a reader takes longer than `wait` seconds.
        """

    # --- of each backend ----------------------------------------------------------------------------------

    @abstractmethod
    def _one_state(self) -> AbstractContextManager[None]:
        """Inside, what this thread reads is of one committed state."""

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _write(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement in the running transaction."""

    def _log_changes(self, revision: int) -> None:
        """Store the changes of a transaction about to commit as this revision."""
        self.edge_changes.commit(revision)
        self.clock_changes.commit(revision)

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _roll_back(self) -> None:
        """End the transaction; an error in this is not raised: the one that led here is the one to show."""

    # --- inside -----------------------------------------------------------------------------------------

    @property
    def _inside(self) -> bool:
        """Return whether this thread is in a transaction or a snapshot."""
        return self._owned or getattr(self._local, "still", False)

    @property
    def _owned(self) -> bool:
        """Return whether the running transaction is this thread's."""
        return self._owner == threading.get_ident()

    def _in_transaction(self) -> None:
        if not self._owned:
            raise RuntimeError("a store is written inside `with store.transaction():`")

    def _gone(self) -> StoreError:
        return StoreError(f"{self.path} is closed.", way_out="Open it again.")


# --- values between Python and the tables -----------------------------------------------------------------


def stored(instant: datetime) -> datetime:
    """Return an aware instant as the naive UTC TIMESTAMP that the tables hold."""
    return as_utc(instant).replace(tzinfo=None)


def microseconds(instants: Sequence[datetime]) -> list[int]:
    """Instants as microseconds since 1970, for bulk inserts: (n,)."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return [(as_utc(i) - epoch) // timedelta(microseconds=1) for i in instants]


class StoragePart:
    """One table family of a store."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection
        self._rows, self._columns = connection.rows, connection.columns
        self._value, self._execute = connection.value, connection.execute

    def _count(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Read the single number of a query."""
        return int(self._value(sql, parameters))

    def _note(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a writing statement that no derived index must follow: of a log, a clock or a cache."""
        self._execute(sql, parameters, structural=False)
