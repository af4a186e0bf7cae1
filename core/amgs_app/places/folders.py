"""Default folders of stores, checkpoints and models; which store a run uses, the address that serves it, and its
socket file; and where snapshots go.

A server locks the file with its address; the system releases the lock when the server ends in any way, so the
address of a dead server is never used.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import stat
import struct
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from amgs.errors import StoreError, UsageError
from amgs_app.places.corpus import Corpus
from amgs_app.places.paths import check_place

if TYPE_CHECKING:
    from amgs_app.settings import PathSettings
    from amgs_app.terminal.output import Symbols


SOCKET_ENDING: Final = ".socket"
LOCAL: Final = "http://localhost:8420"
"""Base address of a service reached by such a socket."""
READS: Final = "reads"
"""Token of a program that opens the store read-only; without it, all rights are granted."""
_LONGEST: Final = 100
"""Longest path, in bytes, that every system accepts for a socket."""
_CREDENTIALS: Final = struct.Struct("3i")


def socket_of(store: Path) -> Path:
    """Return the path of a store's socket: beside it, or in the user's runtime folder if that path is too long.

    Only its owner may connect, as for the store itself. A socket left by a killed program refuses connections, and the
    next program that opens the store removes it.
    """
    place = store.resolve()
    path = place.with_name(f"{place.name}{SOCKET_ENDING}")
    if len(os.fsencode(path)) <= _LONGEST:
        return path
    name = hashlib.sha256(os.fsencode(place)).hexdigest()[:16]
    return _short_folder() / f"{name}{SOCKET_ENDING}"


def holder_of(store: Path) -> int | None:
    """Return the id of the process that answers at a store's socket; None if there is none, or the file belongs to
    another user.
    """
    path = socket_of(store)
    try:
        owner = path.lstat().st_uid
        if owner not in (os.geteuid(), store.stat().st_uid):
            return None
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(1.0)
            asking.connect(str(path))
            credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except (OSError, ValueError):
        return None
    return int(_CREDENTIALS.unpack(credentials)[0])


def listen_beside(store: Path) -> socket.socket | None:
    """Listen at the socket of a store that this process has open; None if that fails."""
    path = socket_of(store)
    listener = socket.socket(socket.AF_UNIX)
    try:
        if path.parent == _short_folder():
            path.parent.mkdir(mode=0o700, exist_ok=True)
            status = path.parent.lstat()
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
                raise PermissionError(path.parent)
        path.unlink(missing_ok=True)
        os.fchmod(listener.fileno(), 0o600)  # as the file it makes: at no time may others connect
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen()
    except OSError:
        listener.close()
        return None
    return listener


def remove_left(store: Path) -> None:
    """Remove a store's socket file if nobody answers there; only for a process that has the store open."""
    path = socket_of(store)
    if path.is_socket() and holder_of(store) is None:
        with suppress(OSError):
            path.unlink()


def _short_folder() -> Path:
    """Return this user's folder for sockets with short names."""
    return Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"amgs-{os.geteuid()}"


def data_folder(paths: PathSettings) -> Path:
    """Return the folder of stores and the shell's history: from the settings, else the user's data folder. Raises
    StoreError without a home folder.
    """
    folder = _own_folder(paths)
    if not folder.is_absolute():  # a `~` that nothing stands for
        raise StoreError("There is no home folder for a memory: HOME is not set.", way_out="Set HOME.", about="place")
    return folder


def _own_folder(paths: PathSettings) -> Path:
    """Return the data folder, which may be relative if HOME is not set."""
    import platformdirs

    if paths.data:
        return Path(paths.data).expanduser()
    return Path(platformdirs.user_data_dir("amgs", appauthor=False))


def checkpoint_folder(paths: PathSettings) -> Path:
    """Return the folder of the user's own checkpoints; it need not exist."""
    return Path(paths.checkpoints).expanduser() if paths.checkpoints else _own_folder(paths) / "checkpoints"


def model_cache(paths: PathSettings) -> Path | None:
    """Return the folder of unpacked models; None if the settings switch it off."""
    import platformdirs

    if paths.cache.lower() == "off":
        return None
    if paths.cache:
        return Path(paths.cache).expanduser()
    folder = Path(platformdirs.user_cache_dir("amgs", appauthor=False))
    return folder / "models" if folder.is_absolute() else None


OWN_STORE = "memory.duckdb"
"""The user's own memory in the data folder, used if neither a store nor a corpus is named."""


def find_store(
    named: str | None, corpus: Corpus, paths: PathSettings, *, own: bool, corpus_is_named: bool
) -> Path | str:
    """Return the store named by --store; else, in the data folder, the corpus's store for --corpus, the user's own
    memory if it exists, or the sample's store.

    own: the user's own memory even if it does not exist yet. Raises UsageError for an invalid path.
    """
    if named is not None:
        from amgs.storage.opening import MEMORY, is_address

        if named == MEMORY or is_address(named):
            return named
        check_place(Path(named), example="notes")
        return Path(named)
    folder = data_folder(paths)
    if not corpus_is_named and (own or os.path.exists(folder / OWN_STORE)):  # noqa: PTH110 - False where it may not look
        return folder / OWN_STORE
    return folder / corpus.store_name


def has_own_memory(paths: PathSettings) -> bool:
    """Return whether the user has a memory of their own."""
    return (data_folder(paths) / OWN_STORE).exists()


ENDING = ".served"


def announce(path: Path, address: str) -> IO[str] | None:
    """Write a server's address to the file and lock it until the returned file is closed; None if it
    cannot be written.
    """
    import fcntl

    try:
        file = path.open("a+", encoding="utf-8")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.truncate(0)
        file.write(address)
        file.flush()
    except OSError:
        return None
    return file


def address_at(path: Path | None) -> str:
    """Return the address of the running server in the file; "" if there is none."""
    import fcntl

    if path is None:
        return ""
    try:
        with path.open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read(200).strip()
    except OSError:
        pass
    return ""


DEFAULT_SIZE = (120, 40)
LEAST_SIZE = (20, 4)
MOST_SIZE = 1000


@dataclass(slots=True)
class Target:
    """Where snapshots go.

    check: compare with the files in the folder instead of writing; differences: texts of the mismatches; same, changed:
    names of the compared snapshots. chosen: the folder was named by the operator.
    """

    folder: Path = Path()
    chosen: bool = False
    size: tuple[int, int] = DEFAULT_SIZE
    symbols: Symbols = "braille"
    check: bool = False
    differences: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    def summary(self) -> str:
        """Return the counts in words: `9 same, 1 differs`."""
        differ = len(self.changed)
        return f"{len(self.same)} same" + (f", {differ} {'differs' if differ == 1 else 'differ'}" if differ else "")


def read_size(text: str) -> tuple[int, int]:
    """Parse `120x40` as columns and lines; raises UsageError."""
    match = re.fullmatch(r"(\d+)[x×](\d+)", text.strip())
    if match is None or int(match[1]) < LEAST_SIZE[0] or int(match[2]) < LEAST_SIZE[1]:
        least = "{}x{}".format(*LEAST_SIZE)
        raise UsageError(f"Invalid size: {text!r}.", way_out=f"Give columns x lines, such as 120x40, at least {least}.")
    return min(int(match[1]), MOST_SIZE), min(int(match[2]), MOST_SIZE)


def read_symbols(text: str) -> Symbols:
    """Return the character set for pictures; raises UsageError for an unknown name."""
    for known in ("braille", "block", "ascii"):
        if text == known:
            return known
    raise UsageError(f"Unknown symbols: {text!r}.", way_out="Available: braille, block, ascii.")
