"""Check and handle the files of a store without the database.

Only `cut_ahead` and `remove` change anything.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import shutil
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

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
        left = f": only {path.name}.counter is left of one" if is_gone(path) else ""
        raise StoreError(f"There is no store at {path}{left}.", way_out="Check the path.", about="missing")
    ahead = Path(f"{path}.wal")
    if _mode(ahead):
        raise StoreCorruptError(
            f"{path} is missing, but its write-ahead file {ahead.name} is there.",
            way_out=f"Restore {path.name}, or remove {ahead.name} to begin a new memory.",
        )


@contextlib.contextmanager
def lock_for_creation(path: Path) -> Iterator[None]:
    """Let only one process at a time create a store at the path, since a new file is empty for a moment.

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
    """Return whether neither a store nor any file that belongs to one is at the path."""
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
