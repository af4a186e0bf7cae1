"""Connection to the service: address, token, namespace, and sending requests, blocking or asynchronously."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from amgs import extras
from amgs.bounds import check_address
from amgs.client.ask import Ask, Lost, Rules, Sent, Step, Wait, steps
from amgs.errors import UsageError

if TYPE_CHECKING:
    from typing import Self

    import httpx2


ADDRESS: Final = "http://127.0.0.1:8420"
"""Default address of `amgs serve`."""
TIMEOUT: Final = 60.0
"""Seconds to wait for an answer; consolidating many texts takes longer."""


@dataclass(frozen=True, slots=True)
class ServiceConnection:
    """Connection settings.

    timeout: seconds for an attempt, None for no limit. chance: returns numbers in [0, 1) that randomise waits. new_key:
    returns a new idempotency key.
    """

    base_url: str
    token: str = field(repr=False)
    namespace: str
    timeout: float | None
    rules: Rules
    chance: Callable[[], float] = field(repr=False)
    new_key: Callable[[], str] = field(default=lambda: secrets.token_hex(16), repr=False)
    key: str = ""

    def using(self, namespace: str | None, key: str | None) -> ServiceConnection:
        """Return the settings for another namespace, or with the caller's own key."""
        return replace(
            self, namespace=self.namespace if namespace is None else namespace, key=self.key if key is None else key
        )

    def headers(self, ask: Ask[Any]) -> dict[str, str]:
        """Return the headers of a request: token, namespace, and the idempotency key, if needed."""
        fields = {}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        if self.namespace:
            fields["AMGS-Namespace"] = self.namespace
        if self.key or not ask.repeatable:
            fields["Idempotency-Key"] = self.key or self.new_key()
        return fields


def connection(
    base_url: str, token: str, namespace: str, timeout: float | None, retries: int, chance: Callable[[], float] | None
) -> ServiceConnection:
    """Return connection settings for a client's arguments; raises UsageError for an invalid address."""
    check_address(base_url, "a service", f"It looks like {ADDRESS}; give the token apart.")
    if retries < 0:
        raise UsageError("Retries cannot be fewer than none.", way_out="Give 0 to try once.")
    spread = chance or (lambda: secrets.randbelow(1000) / 1000)
    return ServiceConnection(base_url.rstrip("/"), token, namespace, timeout, Rules(retries + 1), spread)


def lost(error: httpx2.TransportError | httpx2.InvalidURL) -> Lost:
    """Return the result for an exception of the HTTP library; raises UsageError for an invalid address."""
    import httpx2

    if isinstance(error, httpx2.InvalidURL):
        raise UsageError(f"Invalid address: {error}.", way_out=f"Try {ADDRESS}.") from error
    reason = str(error).strip().rstrip(".")
    if isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)):
        return Lost(reason or "nothing listens there", arrived=False)
    if isinstance(error, httpx2.TimeoutException):
        return Lost("no answer came in time", arrived=True)
    return Lost(reason or "the connection broke", arrived=True)


R = TypeVar("R")


class _Transport:
    """Base of both transports: connection settings, a wait function, and the HTTP library's client, which is closed
    only by its creator.
    """

    _waits: Callable[[float], Any]
    """Waits for some seconds."""
    _library: str
    """Name of the HTTP library's client class."""

    def __init__(
        self,
        base_url: str = ADDRESS,
        *,
        token: str = "",
        namespace: str = "",
        timeout: float | None = TIMEOUT,
        retries: int = 3,
        sleep: Callable[[float], Any] | None = None,
        chance: Callable[[], float] | None = None,
    ) -> None:
        """Create a client; nothing is sent yet.

        base_url: address of `amgs serve`. token: from `amgs token new`; only if the service needs it. namespace:
        default: the token's first. timeout: seconds for an attempt, None for no limit. retries: number of further
        attempts. sleep, chance: wait function, and random numbers in [0, 1) for waits.

        Raises UsageError for an invalid address, MissingExtraError without the extra `client`.
        """
        self._connection = connection(base_url, token, namespace, timeout, retries, chance)
        self._sleep = sleep or self._waits
        with extras.explain_missing():
            import httpx2
        self._http = getattr(httpx2, self._library)(
            base_url=self._connection.base_url, timeout=timeout, trust_env=False
        )
        self._owns = True

    def using(self, *, namespace: str | None = None, idempotency_key: str | None = None) -> Self:
        """Return this client for another namespace, or with your own key for a request, so that it has no second effect
        even if a restarted program sends it again. Closing it closes nothing.
        """
        client = object.__new__(type(self))
        client._connection = self._connection.using(namespace, idempotency_key)
        client._sleep, client._http, client._owns = self._sleep, self._http, False
        return client


class BlockingTransport(_Transport):
    """Waits for each answer."""

    _waits, _library = staticmethod(time.sleep), "Client"

    def send(self, ask: Ask[R]) -> R:
        """Return the answer to a request; raises the engine's errors, or ServiceError."""
        service = self._connection
        run = steps(ask, service.headers(ask), service.rules, service.chance, service.base_url)
        try:
            step = next(run)
            while True:
                step = run.send(self._do(step))
        except StopIteration as stop:
            answer: R = stop.value
            return answer

    def _do(self, step: Step) -> httpx2.Response | Lost | None:
        if isinstance(step, Wait):
            self._sleep(step.seconds)
            return None
        import httpx2

        try:
            response: httpx2.Response = self._http.request(**_build_request_arguments(step))
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            return lost(error)
        return response

    def close(self) -> None:
        """Close the connections."""
        if self._owns:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class AwaitedTransport(_Transport):
    """Awaits answers."""

    _waits, _library = staticmethod(asyncio.sleep), "AsyncClient"

    async def send(self, ask: Ask[R]) -> R:
        """Return the answer to a request; raises the engine's errors, or ServiceError."""
        service = self._connection
        run = steps(ask, service.headers(ask), service.rules, service.chance, service.base_url)
        try:
            step = next(run)
            while True:
                step = run.send(await self._do(step))
        except StopIteration as stop:
            answer: R = stop.value
            return answer

    async def _do(self, step: Step) -> httpx2.Response | Lost | None:
        if isinstance(step, Wait):
            await self._sleep(step.seconds)
            return None
        import httpx2

        try:
            response: httpx2.Response = await self._http.request(**_build_request_arguments(step))
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            return lost(error)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        if self._owns:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()


def _build_request_arguments(step: Sent) -> dict[str, Any]:
    return {
        "method": step.method,
        "url": step.path,
        "params": step.query,
        "content": step.body,
        "headers": dict(step.headers),
    }
