"""How each client carries a request out: at once, or while others run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from amgs import extras
from amgs.client.ask import Ask
from amgs.client.connection import ADDRESS, TIMEOUT, ServiceConnection, connection, lost
from amgs.client.exchange import Lost, Sent, Step, Wait, steps

if TYPE_CHECKING:
    from typing import Self

    import httpx2

R = TypeVar("R")


class _Transport:
    """What both have: a connection, what waits, and the HTTP library's client, which only one of its users closes."""

    _connection: ServiceConnection
    _sleep: Any
    _http: Any
    _owns: bool

    def using(self, *, namespace: str | None = None, idempotency_key: str | None = None) -> Self:
        """This client for another namespace, or with a key of one's own for one request that must not be done twice,
        even when this program ends before the answer comes and sends it again. Closing it closes nothing.
        """
        made = object.__new__(type(self))
        made._connection = self._connection.using(namespace, idempotency_key)
        made._sleep, made._http, made._owns = self._sleep, self._http, False
        return made


class BlockingTransport(_Transport):
    """For a program that waits for each answer."""

    def __init__(
        self,
        base_url: str = ADDRESS,
        *,
        token: str = "",
        namespace: str = "",
        timeout: float | None = TIMEOUT,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] | None = None,
    ) -> None:
        """base_url: where `amgs serve` listens. token: from `amgs token new`; none is needed where the service asks for
        none. namespace: the token's first unless given. timeout: seconds for one attempt, None to wait without end.
        retries: how often a request is tried again. sleep, chance: what waits, and numbers in [0, 1) that spread the
        waits. Raises UsageError for an address that is none, MissingExtraError without the extra `client`.
        """
        self._connection = connection(base_url, token, namespace, timeout, retries, chance)
        self._sleep = sleep
        with extras.explained():
            import httpx2
        self._http = httpx2.Client(base_url=self._connection.base_url, timeout=timeout, trust_env=False)
        self._owns = True

    def send(self, ask: Ask[R]) -> R:
        """The answer to a request; raises what the engine in the process would raise, or ServiceError."""
        held = self._connection
        run = steps(ask, held.headers(ask), held.rules, held.chance, held.base_url)
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
            response: httpx2.Response = self._http.request(**_as_sent(step))
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
    """For a program that does other things while it waits."""

    def __init__(
        self,
        base_url: str = ADDRESS,
        *,
        token: str = "",
        namespace: str = "",
        timeout: float | None = TIMEOUT,
        retries: int = 3,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] | None = None,
    ) -> None:
        """base_url: where `amgs serve` listens. token: from `amgs token new`; none is needed where the service asks for
        none. namespace: the token's first unless given. timeout: seconds for one attempt, None to wait without end.
        retries: how often a request is tried again. sleep, chance: what waits, and numbers in [0, 1) that spread the
        waits. Raises UsageError for an address that is none, MissingExtraError without the extra `client`.
        """
        self._connection = connection(base_url, token, namespace, timeout, retries, chance)
        self._sleep = sleep
        with extras.explained():
            import httpx2
        self._http = httpx2.AsyncClient(base_url=self._connection.base_url, timeout=timeout, trust_env=False)
        self._owns = True

    async def send(self, ask: Ask[R]) -> R:
        """The answer to a request; raises what the engine in the process would raise, or ServiceError."""
        held = self._connection
        run = steps(ask, held.headers(ask), held.rules, held.chance, held.base_url)
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
            response: httpx2.Response = await self._http.request(**_as_sent(step))
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


def _as_sent(step: Sent) -> dict[str, Any]:
    return {
        "method": step.method,
        "url": step.path,
        "params": step.query,
        "content": step.body,
        "headers": dict(step.headers),
    }
