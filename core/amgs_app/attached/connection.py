"""Connection to a served memory. A call goes to its operation's route in the exact format; progress comes back as
lines, then the result.

Both sides must have the same version. `server/exact_routes.py` is the other end.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from amgs import extras, wire
from amgs.addresses import check_address
from amgs.client.exchange import Lost, refused, unreachable
from amgs.client.transport import lost
from amgs.errors import Cancelled, ServiceError, UsageError
from amgs.problems import error_of
from amgs.types import Progress
from amgs_app.results.service_event import ServiceEvent

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
        with extras.explained():
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
                raise refused(answer.status_code, answer.content)
            for line in answer.iter_lines():
                if progress is not None and progress.cancelled:
                    raise Cancelled("Stopped.", way_out="Committed changes are kept.")
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
                raise refused(answer.status_code, answer.content)
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
    """Return the service's address and the namespace in `http://127.0.0.1:8420/notes`, "" without one.

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
