"""Connect to a served memory of the same version: send calls in the exact format, with the files that they name.

`server/table_routes.py` is the other end; a server never opens its own files for a client.
"""

from __future__ import annotations

import io
import json
import os
import re
import socket
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from amgs import extras, wire
from amgs.bounds import check_address
from amgs.client.ask import Lost, build_refusal, unreachable
from amgs.client.transport import lost
from amgs.errors import Cancelled, InputError, NotFoundError, ServiceError, UsageError
from amgs.incoming import lies_there, real_path
from amgs.problems import error_of
from amgs.types import Progress
from amgs_app.results.service_event import ServiceEvent

if TYPE_CHECKING:
    from amgs_app.calls.call import Call


SILENCE_SECONDS: Final = 20.0
"""A working server sends a line each second; after this silence it counts as gone."""
CONNECT_SECONDS: Final = 5.0
LOOK: Final = "AMGS-Look"
"""Header of requests that a screen makes by itself."""
CLIENT: Final = "AMGS-Client"
"""Header with a client's own id, by which it recognises its requests among the events."""
_NAMESPACE: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class AttachedConnection:
    """One client of a served memory. Several threads may use it; it connects on first use.

    address: `http://127.0.0.1:8420`, followed by `/NAME` for a namespace other than the token's first.
    """

    def __init__(self, address: str, token: str = "", socket_path: Path | None = None) -> None:
        """socket_path: socket file beside a store, used instead of the network. Raises UsageError for an invalid
        address.
        """
        self.base, self.namespace = place_of(address)
        self.name = urlsplit(self.base).netloc + (f"/{self.namespace}" if self.namespace else "")
        self.client = f"{socket.gethostname()}-{os.getpid()}-{id(self):x}"[-64:]
        headers = {CLIENT: self.client}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if self.namespace:
            headers["AMGS-Namespace"] = self.namespace
        self._own = threading.local()
        self._listening: Any = None
        with extras.explain_missing():
            import httpx2
        timeout = httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
        way = None if socket_path is None else httpx2.HTTPTransport(uds=str(socket_path))
        self._http = httpx2.Client(base_url=self.base, headers=headers, timeout=timeout, trust_env=False, transport=way)

    def close(self) -> None:
        """Close all connections, and wake a thread that listens for events."""
        listening = self._listening and self._listening.get_extra_info("socket")
        if listening is not None:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads from it
        self._http.close()

    @contextmanager
    def looking(self) -> Iterator[None]:
        """While the block runs, mark this thread's requests as the screen's own, which notify no watcher."""
        before = getattr(self._own, "looks", False)
        self._own.looks = True
        try:
            yield
        finally:
            self._own.looks = before

    def carry_out(
        self, identifier: str, payload: Mapping[str, Any], progress: Progress | None = None
    ) -> dict[str, Any]:
        """Run an operation at the server; return the last line of its answer: `result`, and what the server adds to it.

        Raises what the engine there raised, UnreachableError if nobody answers, and Cancelled if `progress` was
        cancelled; the server then stops at its next progress report.
        """
        headers = {"Content-Type": wire.MEDIA_TYPE} | ({LOOK: "1"} if getattr(self._own, "looks", False) else {})
        path, body = f"/v1/operations/{identifier}", wire.dumps(payload)
        with self._reaching(), self._http.stream("POST", path, content=body, headers=headers) as answer:
            if answer.status_code != 200:
                answer.read()
                raise build_refusal(answer.status_code, answer.content)
            for line in answer.iter_lines():
                if progress is not None and progress.cancelled:
                    raise Cancelled("Stopped.", way_out="Committed changes are saved.")
                message = json.loads(line) if line else {}
                if "problem" in message:
                    raise error_of(message["problem"])
                if "result" in message:
                    return wire.loads(line)  # type: ignore[no-any-return]
                if "progress" in message and progress is not None:
                    progress(*message["progress"])
        raise unreachable(self.base, Lost("it ended before it answered", arrived=True))

    def events(self, after: str = "") -> Iterator[ServiceEvent | None]:
        """Yield events from now on, or after a change number; None first, once the stream is open.

        Ends when the server ends the stream. Raises UnreachableError if nobody answers, ServiceError if it refuses.
        """
        headers = {"Last-Event-ID": after} if after else {}
        with self._reaching(), self._http.stream("GET", "/v1/events", headers=headers) as answer:
            if answer.status_code != 200:
                answer.read()
                raise build_refusal(answer.status_code, answer.content)
            self._listening = answer.extensions.get("network_stream")
            yield None
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    try:
                        yield ServiceEvent.from_json(json.loads(line.removeprefix("data:")))
                    except (ValueError, KeyError, TypeError) as error:
                        raise ServiceError(
                            "The events cannot be read: they are those of another version.",
                            way_out="Use the same version on both sides.",
                        ) from error

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Turn network errors into UnreachableError."""
        import httpx2

        try:
            yield
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise unreachable(self.base, lost(error)) from error


def place_of(address: str) -> tuple[str, str]:
    """Return the service's address and the namespace in `http://127.0.0.1:8420/notes`, "" if there is none.

    Raises UsageError for an invalid address.
    """
    way_out = "Write it as http://127.0.0.1:8420, and give the token apart."
    parts = check_address(address if "://" in address else f"http://{address}", "a served memory", way_out)
    namespace = parts.path.strip("/")
    if namespace and not _NAMESPACE.fullmatch(namespace):
        raise UsageError(
            f"{parts.path!r} is no name for a namespace.",
            way_out="Write it as http://127.0.0.1:8420/notes, in small letters.",
        )
    return f"{parts.scheme}://{parts.netloc}", namespace


_PASSED_OVER: Final = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file or folder that a parameter names.

    given: the path as the client typed it. made: the operation writes it.
    """

    parameter: str
    number: int
    given: str
    name: str
    made: bool = False

    @property
    def place(self) -> str:
        """Path within the temporary folder."""
        return f"{self.parameter}/{self.number}/{self.name}"


def files_of(call: Call[Any]) -> tuple[SentFile, ...]:
    """Return the files that a call names; a text that is no existing path is not a file.

    They are sent with it, since a server never opens its own files for a client.
    """
    files: list[SentFile] = []
    for parameter in call.operation.parameters:
        value = call.arguments.get(parameter.name)
        if parameter.takes not in ("file", "folder") or value in (None, [], ()):
            continue
        named = value if isinstance(value, (list, tuple)) else [value]
        if all(isinstance(path, Path) or lies_there(Path(path)) for path in named):
            files += [
                SentFile(parameter.name, number, str(path), real_path(Path(path).expanduser()).name, parameter.writes)
                for number, path in enumerate(named)
            ]
    return tuple(files)


def pack_files(call: Call[Any], files: tuple[SentFile, ...]) -> bytes:
    """Return the files as a tar with their times; missing ones are left out, and the server reports them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for file in files:
            path = Path(file.given).expanduser()
            for inner in _below(path) if lies_there(path) else ():
                _add(archive, inner, file.place + inner.as_posix()[len(path.as_posix()) :], call.operation.name)
    return out.getvalue()


def _below(path: Path) -> Iterator[Path]:
    """Yield a path and everything below it, except hidden files, build output and virtual environments."""
    yield path
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if name[0] != "."]
        names = [name for name in names if name[0] != "."]
        if Path(folder).name in _PASSED_OVER or "pyvenv.cfg" in names:
            below[:], names = [], [name for name in names if name == "pyvenv.cfg"]
        yield from (Path(folder, name) for name in (*below, *names))


def _add(archive: tarfile.TarFile, path: Path, name: str, operation: str) -> None:
    """Add a file to the archive, empty if only its name matters. Raises InputError if it cannot be read."""
    from amgs.ingest.readers.registry import reader_of

    try:
        info = archive.gettarinfo(path, name)
        if not info.isreg():
            archive.addfile(info)
            return
        if operation == "export" or (operation == "ingest" and reader_of(path.name) is None):
            info.size = 0  # it will be overwritten, or only its ending matters
        with path.open("rb") as data:
            archive.addfile(info, data)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", way_out="Check its permissions.") from error


@dataclass(slots=True)
class UnpackedFiles:
    """The files of a call in a temporary folder of the server."""

    folder: Path
    files: tuple[SentFile, ...]
    _before: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, files: tuple[SentFile, ...], data: bytes) -> UnpackedFiles:
        """Unpack the archive. Raises NotFoundError for a name that leads out of the folder, InputError for an invalid
        archive.
        """
        for file in files:
            if file.name in ("", ".", "..") or len(PurePosixPath(file.place).parts) != 3:
                raise NotFoundError("A file has no such name.", way_out="Use the same version on both sides.")
            (folder / file.place).parent.mkdir(parents=True, exist_ok=True)
        try:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
                plain = [member for member in archive if member.isreg() or member.isdir()]
                archive.extractall(folder, plain, filter="data")
        except (tarfile.TarError, OSError) as error:
            raise InputError("The files cannot be read.", way_out="Use the same version on both sides.") from error
        instance = cls(folder, files)
        instance._before = instance._state()
        return instance

    def read_changed(self) -> dict[str, bytes]:
        """Return the files that changed since unpacking, by their place."""
        changed = [name for name, state in self._state().items() if self._before.get(name) != state]
        return {name: (self.folder / name).read_bytes() for name in changed}

    def restore_client_paths(self, line: bytes) -> bytes:
        """Replace temporary paths by the client's own in a line of JSON."""
        for file in self.files:
            named = (str(self.folder / file.place), file.given)
            here, there = (json.dumps(path, ensure_ascii=False)[1:-1].encode() for path in named)
            line = line.replace(here, there)
        return line

    def _state(self) -> dict[str, tuple[int, int]]:
        """Return modification time and size of every file that the operation may write."""
        paths = [self.folder / file.place for file in self.files if file.made]
        every = [path for top in paths for path in (top, *top.rglob("*")) if path.is_file()]
        return {
            path.relative_to(self.folder).as_posix(): (path.stat().st_mtime_ns, path.stat().st_size) for path in every
        }


def write_received(files: tuple[SentFile, ...], written: dict[str, bytes]) -> None:
    """Write the files that the server sent back. Raises InputError for a file that was not asked for or cannot be
    written.
    """
    for place, data in written.items():
        mine = (file for file in files if file.made and f"{place}/".startswith(f"{file.place}/"))
        mine = (file for file in files if file.made and f"{place}/".startswith(f"{file.place}/"))
        file = next(mine, None)
        below = PurePosixPath(place[len(file.place) :].lstrip("/")) if file else PurePosixPath()
        if file is None or ".." in below.parts:
            raise InputError("The server wrote what nobody asked for.", way_out="Use the same version on both sides.")
        path = Path(file.given).expanduser() / below
        beside = path.with_name(f"{path.name}.part")
        try:
            if below.parts:
                path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data)
            beside.replace(path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise InputError(
                f"{path} cannot be written: {error.strerror}.", way_out="Choose a folder that is there and has room."
            ) from error
