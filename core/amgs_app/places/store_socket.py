"""The socket file beside a store, through which other programs use a store that is open in this process.

Only its owner may connect, as for the store itself. A socket left by a killed program refuses connections, and the next
program that opens the store removes it.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import struct
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

ENDING: Final = ".socket"
LOCAL: Final = "http://localhost:8420"
"""Base address of a service reached by such a socket."""
READS: Final = "reads"
"""Token of a program that opens the store read-only; without it, all rights are granted."""
_LONGEST: Final = 100
"""Longest path, in bytes, that every system accepts for a socket."""
_CREDENTIALS: Final = struct.Struct("3i")


def socket_of(store: Path) -> Path:
    """Return the path of a store's socket: beside it, or in the user's runtime folder if that path is too long."""
    place = store.resolve()
    path = place.with_name(f"{place.name}{ENDING}")
    if len(os.fsencode(path)) <= _LONGEST:
        return path
    name = hashlib.sha256(os.fsencode(place)).hexdigest()[:16]
    return _short_folder() / f"{name}{ENDING}"


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
