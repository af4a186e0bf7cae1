"""The socket beside a store: while a program that stays has the store open, others use the memory through it.

Whoever may write the store may connect, and nobody else: it is the owner's alone. One that a killed program left behind
refuses, and is removed by the next who has the store.
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
"""What a service is called that is reached by such a socket."""
READS: Final = "reads"
"""The token of who opens the store for reading alone; without it, one may do there what the file allows."""
_LONGEST: Final = 100
"""Bytes of a path that the system takes for a socket on all systems."""
_CREDENTIALS: Final = struct.Struct("3i")


def socket_of(store: Path) -> Path:
    """Return where the socket of a store lies: beside it, or under a short name in the user's folder for such things
    where that path is too long.
    """
    place = store.resolve()
    path = place.with_name(f"{place.name}{ENDING}")
    if len(os.fsencode(path)) <= _LONGEST:
        return path
    name = hashlib.sha256(os.fsencode(place)).hexdigest()[:16]
    return _short_folder() / f"{name}{ENDING}"


def holder_of(store: Path) -> int | None:
    """Return the number of the process that answers at the socket of a store; None where none does, or somebody
    else's.
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
    """Take connections at the socket of a store that this process has open; None where that cannot be done."""
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
    """Remove the socket of a store where nobody answers; to be called by who has the store open."""
    path = socket_of(store)
    if path.is_socket() and holder_of(store) is None:
        with suppress(OSError):
            path.unlink()


def _short_folder() -> Path:
    return Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"amgs-{os.geteuid()}"
