"""Limit what a client can take of the server: request size, rate and queue; and log each request as a line of JSON."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.exceptions import HTTPException

from amgs.errors import BusyError, TooMuchError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

access = logging.getLogger("amgs.access")

LARGEST: Final = 32 * 1024 * 1024
"""Largest request body, in bytes."""
A_SECOND: Final = 500.0
"""Average requests per second of a caller."""
READ_SECONDS: Final = 60.0
"""Seconds after which a read request fails as too slow."""
MOST_WAITING: Final = 64
"""Requests that may queue for a namespace; more would wait for seconds."""
_CALLERS: Final = 10_000
_ID: Final = re.compile(rb"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of requests.

    largest: bytes of a body. a_second: average requests per second of a caller; twice as many may come at once.
    read_seconds: after which a read request fails as too slow.
    """

    largest: int = LARGEST
    a_second: float = A_SECOND
    read_seconds: float = READ_SECONDS

    @property
    def at_once(self) -> float:
        """Requests of a caller that may come at once."""
        return max(1.0, 2 * self.a_second)


class Rates:
    """Rate limit per caller, as a token bucket. Safe to use from any thread.

    a_second: rate at which a bucket refills. at_once: its size. perf: a clock in seconds.
    """

    def __init__(self, a_second: float, at_once: float, perf: Callable[[], float] = time.perf_counter) -> None:
        self._a_second, self._at_once, self._perf = a_second, at_once, perf
        self._lock = threading.Lock()
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> None:
        """Count a request; raises TooMuchError, with the seconds to wait, if the bucket is empty."""
        now = self._perf()
        with self._lock:
            if len(self._left) > _CALLERS:
                self._left.clear()
            left, then = self._left.get(caller, (self._at_once, now))
            left = min(self._at_once, left + (now - then) * self._a_second)
            if left < 1:
                self._left[caller] = (left, now)
                wait = math.ceil((1 - left) / self._a_second)
            else:
                self._left[caller] = (left - 1, now)
                wait = 0
        if wait:
            raise TooMuchError(
                f"One caller may ask {self._a_second:g} times a second.",
                way_out="Ask more slowly, or for more at once.",
                retry_after=wait,
            )


class Turns:
    """Fair queue: a fixed number of requests run at once, and waiting callers alternate. For a single event loop.

    at_once: how many run at once. most: how many may wait.
    """

    def __init__(self, at_once: int, most: int = MOST_WAITING) -> None:
        self._free, self._most = at_once, most
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it while the block runs.

        Raises BusyError if too many wait; the caller with the most waiting requests is refused first.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait(caller)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, caller: str) -> None:
        """Queue a request of the caller until its turn comes, refusing the longest queue's last request if too many
        wait.
        """
        if sum(map(len, self._waiting.values())) >= self._most:
            longest = max(self._waiting.values(), key=len)
            if len(longest) <= len(self._waiting.get(caller, ())) + 1:
                raise _busy()
            refused = longest.pop()
            if not refused.done():
                refused.set_exception(_busy())
        mine = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._pass_on()  # the turn came while the request was cancelled
            raise

    def _pass_on(self) -> None:
        """Give the turn to the next caller in the rotation, or free it."""
        while self._waiting:
            caller = next(iter(self._waiting))
            queue = self._waiting.pop(caller)
            request = queue.popleft()
            if queue:
                self._waiting[caller] = queue  # the others first
            if not request.done():
                request.set_result(None)
                return
        self._free += 1


def _busy() -> BusyError:
    return BusyError(
        "Too many requests wait already.", way_out="Ask again a little later, or more slowly.", retry_after=1
    )


class RequestLog:
    """Middleware that gives each request an id (`X-Request-Id`), refuses bodies that are too large, and logs it."""

    def __init__(self, app: ASGIApp, largest: int = LARGEST, perf: Callable[[], float] = time.perf_counter) -> None:
        self._app, self._largest, self._perf = app, largest, perf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        request_id = headers.get(b"x-request-id", b"")
        id = request_id if _ID.fullmatch(request_id) else secrets.token_hex(8).encode()
        begun, status, read = self._perf(), 500, 0
        length = headers.get(b"content-length", b"")
        too_large = length.isdigit() and int(length[:20]) > self._largest

        async def receive_within_limit() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if too_large or read > self._largest:
                raise HTTPException(413, f"A request has at most {self._largest:,} bytes")
            return message

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", id)]
            await send(message)

        try:
            await self._app(scope, receive_within_limit, send_with_id)
        finally:
            if access.isEnabledFor(logging.INFO):
                access.info(_line(scope, id, status, self._perf() - begun))


def _line(scope: Scope, id: bytes, status: int, seconds: float) -> str:
    """Return a request's line of the access log, as JSON."""
    state: dict[str, Any] = scope.get("state", {})
    record = {
        "id": id.decode(),
        "caller": state.get("caller", ""),
        "namespace": state.get("namespace", ""),
        "method": scope["method"],
        "operation": state.get("operation") or getattr(scope.get("route"), "operation_id", None) or "",
        "status": status,
        "ms": round(seconds * 1000, 1),
    }
    return json.dumps(record)
