"""Files of a store, handled without the database; the note of its last commit, by which lost changes are
noticed; and the lock for threads that read them. Of the functions, only `cut_ahead` and `remove` change a
file.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import shutil
import stat
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from amgs.errors import StoreCorruptError, StoreError

_MARK = slice(8, 12)
_DUCKDB = b"DUCK"
"""Bytes of every DuckDB file after its first checksum."""


def check(path: Path, *, create: bool) -> None:
    """Raise StoreError unless the path is a DuckDB file, or is free and may be created."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        mode = 0
    except OSError as error:
        raise _unreadable(path, error, "Check the path and its permissions.") from error
    if stat.S_ISREG(mode):
        _check_mark(path)
        return
    if mode:
        what = "a folder" if stat.S_ISDIR(mode) else "not an ordinary file"
        raise StoreError(f"{path} is {what}.", title="Not a memory store", way_out="Give the name of a file.")
    if not stat.S_ISDIR(folder := _mode(path.parent)):
        raise StoreError(
            f"There is no store at {path}: {path.parent} {'is not a folder' if folder else 'does not exist'}.",
            way_out="Check the path, or create the folder first.",
        )
    if not create:
        left = f": only {path.name}.counter is left of a store" if is_gone(path) else ""
        raise StoreError(f"There is no store at {path}{left}.", way_out="Check the path.", about="missing")
    ahead = Path(f"{path}.wal")
    if _mode(ahead):
        raise StoreCorruptError(
            f"{path} is missing, but its write-ahead file {ahead.name} is there.",
            way_out=f"Restore {path.name}, or remove {ahead.name} to begin a new memory.",
        )


@contextlib.contextmanager
def lock_for_creation(path: Path) -> Iterator[None]:
    """Let a single process at a time create a store at the path, since a new file is empty for a moment.

    Does not wait for an existing store, nor where the folder cannot be locked.
    """
    with contextlib.ExitStack() as stack:
        if not _size(path):
            with contextlib.suppress(OSError):
                folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
                stack.callback(os.close, folder)
                fcntl.flock(folder, fcntl.LOCK_EX)
        yield


def find_lock_holder(path: Path) -> str:
    """Return the id of the process that holds DuckDB's lock on a file; "" if there is none or it cannot be told."""
    form = "hhqqi"  # type, from where, first byte, bytes, process
    try:
        with path.open("rb") as file:
            asked = struct.pack(form, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, _, _, _, process = struct.unpack(form, fcntl.fcntl(file, fcntl.F_GETLK, asked))
    except OSError:
        return ""
    return "" if kind == fcntl.F_UNLCK else str(process)


def cut_ahead(path: Path, at: int) -> str:
    """Truncate the write-ahead file of a store at a byte, after copying it; return what was done, in words.

    Raises OSError, with nothing truncated.
    """
    ahead = Path(f"{path}.wal")
    names = (path.with_name(f"{ahead.name}.torn{n or ''}") for n in itertools.count())
    copy = next(name for name in names if not os.path.lexists(name))
    shutil.copyfile(ahead, copy)
    size = _size(ahead)
    with ahead.open("r+b") as file:
        file.truncate(at)
        os.fsync(file.fileno())
    return f"the write-ahead file was torn at byte {at:,}: {size - at:,} bytes were cut off, {copy.name} is a copy"


def is_new(path: Path) -> bool:
    """Return whether neither a store nor any file that belongs to a store is at the path."""
    return not any(os.path.lexists(part) for part in _parts(path))


def is_gone(path: Path) -> bool:
    """Return whether a store was removed from the path while the note beside it stayed."""
    return not os.path.lexists(path) and _size(Path(f"{path}.counter")) > 0


def remove(path: Path) -> None:
    """Delete a closed store and all files that belong to it, as far as possible."""
    for part in _parts(path):
        with contextlib.suppress(OSError):
            if stat.S_ISDIR(_mode(part)):
                shutil.rmtree(part)
            else:
                part.unlink(missing_ok=True)


def _parts(path: Path) -> tuple[Path, ...]:
    return path, *(path.with_name(f"{path.name}{end}") for end in (".wal", ".counter", ".index", ".part"))


def _mode(path: Path) -> int:
    """Return the file mode at a path; 0 for nothing or an invalid path."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _size(path: Path) -> int:
    """Return the size of a file; 0 if there is none."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def _check_mark(path: Path) -> None:
    """Raise StoreError unless the file begins as a DuckDB database does."""
    try:
        with path.open("rb") as file:
            start = file.read(_MARK.stop)
    except OSError as error:
        raise _unreadable(path, error, "Check its read permission.") from error
    if start[_MARK] == _DUCKDB:
        return
    if Path(f"{path}.counter").exists() or Path(f"{path}.index").is_dir():
        raise StoreCorruptError(
            f"The first bytes of {path} are not those of a database.",
            way_out="Restore a backup. The file was not changed.",
        )
    what = "not a DuckDB database" if start else "empty"
    raise StoreError(
        f"{path} is {what}, so it is not a memory store. It was not changed.",
        title="Not a memory store",
        way_out="Check the path.",
    )


def _unreadable(path: Path, error: OSError, way_out: str) -> StoreError:
    return StoreError(f"{path} cannot be read: {error.strerror or error}.", way_out=way_out)


_BYTES = 256
"""Length of the only record, which is overwritten in place; after a kill it is the old record or the new record."""
_HEAD = 64
"""Bytes that distinguish write-ahead files: version, and checksum of the first entry."""
_PART = 1 << 20


@dataclass(frozen=True, slots=True)
class LastCommit:
    """State of a store at its last commit.

    store: its id. changes: change counter. operation: latest journal entry.

    It stands in a small file beside the store. DuckDB accepts a truncated write-ahead file without a word about what is
    missing, and zeroed bytes sometimes pass its checksums. The note is written after the commit is on disk, so it may
    lag behind the store but never runs ahead: a store behind its note has lost changes, and a write-ahead file whose
    noted part reads differently is damaged.
    """

    store: str
    changes: int
    operation: int

    def beyond(self, state: LastCommit) -> str:
        """Return in words what `state` (the store now) lacks of this commit; "" if nothing."""
        lost = self.changes - state.changes
        if self.store != state.store or lost <= 0:
            return ""
        changes = "the last change" if lost == 1 else f"the last {lost:,} changes"
        first, last = state.operation + 1, self.operation
        if last < first:
            return f"{changes} (none in the journal)"
        entries = f"journal entry #{last}" if first == last else f"journal entries #{first}–#{last}"
        return f"{changes}, {entries}"


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A part of a write-ahead file: size in bytes, and CRC-32 of its head and of all of it."""

    size: int = 0
    head: int = 0
    whole: int = 0


class WriteAhead:
    """The write-ahead file of a store.

    What was committed to it never changes, until a checkpoint starts a new file with another head; so each byte is read
    only once.

    Until it is merged into the store, DuckDB holds its content in memory, so that a long-running program would grow
    with every change.
    """

    def __init__(self, store: Path) -> None:
        self.path = Path(f"{store}.wal")
        self._known = WrittenPart()

    def measure_written(self) -> WrittenPart:
        """Return size and checksums of the whole file now."""
        try:
            with self.path.open("rb") as file:
                head = zlib.crc32(file.read(_HEAD))
                size = file.seek(0, os.SEEK_END)
                known = self._known if size >= self._known.size and head == self._known.head else WrittenPart()
                file.seek(known.size)
                whole = _checksum(file, size - known.size, known.whole)
                self._known = WrittenPart(size, head, whole)
        except OSError:
            self._known = WrittenPart()
        return self._known

    def differs(self, noted: WrittenPart) -> bool:
        """Return whether the noted part exists and reads differently."""
        try:
            with self.path.open("rb") as file:
                head, size = zlib.crc32(file.read(_HEAD)), file.seek(0, os.SEEK_END)
                if size < noted.size or head != noted.head or noted.size < _HEAD:
                    return False
                file.seek(0)
                return _checksum(file, noted.size) != noted.whole
        except OSError:
            return False


def _checksum(file: BinaryIO, size: int, so_far: int = 0) -> int:
    """Return the CRC-32 of the next `size` bytes, continuing `so_far`."""
    while size > 0 and (part := file.read(min(size, _PART))):
        so_far, size = zlib.crc32(part, so_far), size - len(part)
    return so_far


_HELD_HERE: Final[set[str]] = set()
"""Notes locked by this process."""
_HOLDING: Final = threading.Lock()


class Note:
    """The note file of a store, whose lock also stands for the store's."""

    def __init__(self, store: Path) -> None:
        self.path = Path(f"{store}.counter")
        self._write_ahead = WriteAhead(store)
        self._file: int | None = None
        self._holds = False

    def lock(self, *, shared: bool) -> bool:
        """Lock the store for writing, or for shared reading, until `close`; False if another process has it.

        Must be taken before the database is opened: DuckDB reads the head of its file before locking it, and would miss
        what another process changes in between. If the note cannot be created, DuckDB's lock must do. A process does
        not wait for itself.
        """
        with _HOLDING:
            name = os.path.realpath(self.path)
            if name in _HELD_HERE:
                return True
            try:
                way = os.O_RDONLY if shared else os.O_RDWR | os.O_CREAT
                self._file = os.open(self.path, way | os.O_CLOEXEC, 0o644)
                fcntl.flock(self._file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
                if not os.path.samestat(os.fstat(self._file), self.path.stat()):
                    raise BlockingIOError  # removed meanwhile by a process that closed an empty store
            except BlockingIOError:
                self.close()
                return False
            except OSError:
                self.close()
                return True
            self._holds = True
            _HELD_HERE.add(name)
            return True

    def read(self) -> LastCommit | None:
        """Return the noted commit; None if there is no note or it is damaged."""
        note = self._read_note()
        try:
            return LastCommit(str(note["store"]), int(note["changes"]), int(note["operation"]))
        except (KeyError, TypeError, ValueError):
            return None

    def finds_damage(self) -> bool:
        """Return whether the write-ahead file differs from what was committed. Must be called before the database reads
        it.
        """
        try:
            return self._write_ahead.differs(WrittenPart(*(int(part) for part in self._read_note()["ahead"])))
        except (KeyError, TypeError, ValueError):
            return False

    def _read_note(self) -> dict[str, Any]:
        """Return the note's record; {} if it is missing or its checksum is wrong."""
        try:
            with self.path.open("rb") as file:
                body, _, check = file.read(_BYTES).rstrip().rpartition(b" ")
            note = json.loads(body) if int(check, 16) == zlib.crc32(body) else None
        except (OSError, ValueError):
            return {}
        return note if isinstance(note, dict) else {}

    def write(self, commit: LastCommit) -> None:
        """Note a commit that is on disk. If that fails, the note lags behind, which is harmless."""
        body = json.dumps({**asdict(commit), "ahead": astuple(self._write_ahead.measure_written())}).encode()
        record = (body + b" %08x" % zlib.crc32(body)).ljust(_BYTES - 1) + b"\n"
        with contextlib.suppress(OSError):
            if self._file is None:
                self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            os.pwrite(self._file, record, 0)

    def close(self) -> None:
        """Release the lock, and delete the file if nothing was noted in it."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                if self._holds and not os.fstat(self._file).st_size:
                    self.path.unlink()
            os.close(self._file)
            self._file = None
        if self._holds:
            self._holds = False
            _HELD_HERE.discard(os.path.realpath(self.path))

    __del__ = close


MIB: Final = 1 << 20
BULK: Final = 128 * MIB
"""Size of the write-ahead file at which DuckDB itself merges it: at 16 MiB every batch of a bulk load rewrote most of
the table.
"""
LEAST: Final = 4 * MIB
"""Size below which the write-ahead file is never merged."""
SHARE: Final = 2
"""Above LEAST, the file is merged when it exceeds this fraction (1/SHARE) of the store, so that work stays proportional
to changes.
"""
BATCH: Final = 8
"""A commit larger than this fraction of that size is part of a bulk load; merging waits, since more will follow."""

SETTINGS: Final = (
    f"SET checkpoint_threshold = '{BULK // MIB}MiB'",
    # Memory of finished queries is returned to the system even if no further query follows.
    "SET allocator_background_threads = true",
)
"""Settings of every connection."""


class WriteAheadSize:
    """Tracks the size of a store's write-ahead file."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._ahead = Path(f"{store}.wal")
        self._before = _size_or_nothing(self._ahead)

    def due(self) -> bool:
        """Return whether to merge it into the store now. Must be called after every commit."""
        ahead = _size_or_nothing(self._ahead)
        added, self._before = ahead - self._before, ahead
        return due(_size_or_nothing(self._store), ahead, added)

    def record_merge(self) -> None:
        """Record that it was merged."""
        self._before = _size_or_nothing(self._ahead)


def due(store: int, ahead: int, added: int) -> bool:
    """Return whether to merge the write-ahead file.

    store, ahead: sizes in bytes. added: bytes of the last commit; negative if DuckDB has started a new file.
    """
    enough = max(LEAST, store // SHARE)
    return ahead >= enough and added <= enough // BATCH


def _size_or_nothing(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


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
