"""The last commit of a store, noted in a small file beside it: what was there is known without the database.

DuckDB takes a write-ahead file that was cut for one that ends there, and says nothing of what came after the cut;
zeroed bytes in it pass its checksums once in a while. The note is written after the commit is on disk, so it may lag
behind the store (a process killed in between) and never runs ahead of it. A store that is behind its note has lost
changes; a write-ahead file whose noted part reads otherwise was damaged.

What lies in the write-ahead file is written into the store's own file now and then. Until then DuckDB holds it in
memory, with every text that an update has replaced, so that the memory of a program that stays open would grow with
each of its acts until `BULK` is full.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
import zlib
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

_BYTES = 256
"""One record of fixed length, overwritten in place: after a kill it is the old one or the new one."""
_HEAD = 64
"""Bytes by which one write-ahead file is told from the next: its version, and the checksum of its first entry."""
_PART = 1 << 20


@dataclass(frozen=True, slots=True)
class LastCommit:
    """State of a store at its last commit.

    store: its own id. changes: its change counter. operation: its latest journal entry.
    """

    store: str
    changes: int
    operation: int

    def beyond(self, state: LastCommit) -> str:
        """Return what `state`, the store as it is now, lacks of this, in words; empty when it lacks nothing."""
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
class Written:
    """A part of a write-ahead file: its size in bytes, and the CRC-32 of its head and of all of it."""

    size: int = 0
    head: int = 0
    whole: int = 0


class WriteAhead:
    """The write-ahead file of one store, followed as it grows: what was committed to it never changes until a
    checkpoint begins another, which has another head.
    """

    def __init__(self, store: Path) -> None:
        self.path = Path(f"{store}.wal")
        self._known = Written()

    def written(self) -> Written:
        """Return all of it as it is now; each byte is read once."""
        try:
            with self.path.open("rb") as file:
                head = zlib.crc32(file.read(_HEAD))
                size = file.seek(0, os.SEEK_END)
                known = self._known if size >= self._known.size and head == self._known.head else Written()
                file.seek(known.size)
                whole = _checksum(file, size - known.size, known.whole)
                self._known = Written(size, head, whole)
        except OSError:
            self._known = Written()
        return self._known

    def differs(self, noted: Written) -> bool:
        """Return whether the part that was noted is there and reads otherwise."""
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
    while size > 0 and (part := file.read(min(size, _PART))):
        so_far, size = zlib.crc32(part, so_far), size - len(part)
    return so_far


_HELD_HERE: Final[set[str]] = set()
"""The notes of the stores that this process has open."""
_HOLDING: Final = threading.Lock()


class Note:
    """The file beside one store."""

    def __init__(self, store: Path) -> None:
        self.path = Path(f"{store}.counter")
        self._write_ahead = WriteAhead(store)
        self._file: int | None = None
        self._holds = False

    def hold(self, *, shared: bool) -> bool:
        """Be the one who has the store open, or one of those who read it, until `close`; False where another process
        is. To be asked before the database is opened.

        DuckDB reads the head of its file before it locks it: what another process changes between, as it closes the
        store, would be missing. Where there is no such file and none can be made, DuckDB's lock has to do; and a
        process does not wait for itself.
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
                    raise BlockingIOError  # removed meanwhile by who left it empty
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
        """Return what was noted; None where there is no note, or none that can be trusted."""
        note = self._read_note()
        try:
            return LastCommit(str(note["store"]), int(note["changes"]), int(note["operation"]))
        except (KeyError, TypeError, ValueError):
            return None

    def finds_damage(self) -> bool:
        """Return whether the write-ahead file is no longer what was committed to it. To be asked before the database is
        opened, which reads it.
        """
        try:
            return self._write_ahead.differs(Written(*(int(part) for part in self._read_note()["ahead"])))
        except (KeyError, TypeError, ValueError):
            return False

    def _read_note(self) -> dict[str, Any]:
        try:
            with self.path.open("rb") as file:
                body, _, check = file.read(_BYTES).rstrip().rpartition(b" ")
            note = json.loads(body) if int(check, 16) == zlib.crc32(body) else None
        except (OSError, ValueError):
            return {}
        return note if isinstance(note, dict) else {}

    def write(self, commit: LastCommit) -> None:
        """Note a commit that is on disk. Without room, or without leave to write, the note lags behind."""
        body = json.dumps({**asdict(commit), "ahead": astuple(self._write_ahead.written())}).encode()
        record = (body + b" %08x" % zlib.crc32(body)).ljust(_BYTES - 1) + b"\n"
        with contextlib.suppress(OSError):
            if self._file is None:
                self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            os.pwrite(self._file, record, 0)

    def close(self) -> None:
        """Let go of the file, which goes where nothing was noted in it, and of the store."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                if self._holds and not os.fstat(self._file).st_size:
                    self.path.unlink()
            os.close(self._file)
            self._file = None
        if self._holds:
            self._holds = False
            _HELD_HERE.discard(os.path.realpath(self.path))


MIB: Final = 1 << 20
BULK: Final = 128 * MIB
"""Bytes at which DuckDB itself writes them: at 16 MiB every batch of a bulk load rewrote most of the table."""
LEAST: Final = 4 * MIB
"""Bytes under which nothing is written however small the store is."""
SHARE: Final = 2
"""Beyond `LEAST`, a store waits for this part of its own size: what is rewritten stays in proportion to the changes."""
BATCH: Final = 8
"""A commit of more than this part of what is waited for is a batch of a load, and others follow it."""

SETTINGS: Final = (
    f"SET checkpoint_threshold = '{BULK // MIB}MiB'",
    # The pages that a query has left go back to the system when nobody asks for the next, too.
    "SET allocator_background_threads = true",
)
"""What a connection is opened with."""


class WriteAheadSize:
    """Size of the write-ahead file of one store, in bytes."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._ahead = Path(f"{store}.wal")
        self._before = _size(self._ahead)

    def due(self) -> bool:
        """Return whether to write it into the store now. To be asked after each commit."""
        ahead = _size(self._ahead)
        added, self._before = ahead - self._before, ahead
        return due(_size(self._store), ahead, added)

    def written(self) -> None:
        """It was written into the store."""
        self._before = _size(self._ahead)


def due(store: int, ahead: int, added: int) -> bool:
    """Return whether a store of so many bytes takes in what waits. ahead: bytes that wait. added: by the last commit;
    below 0 where DuckDB has begun another file.
    """
    enough = max(LEAST, store // SHARE)
    return ahead >= enough and added <= enough // BATCH


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
