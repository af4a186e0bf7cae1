"""What a client knows of its service: the address, the token, the namespace, and when to try again."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from amgs.client.ask import Ask, given, plain, whole
from amgs.client.exchange import Lost, Rules
from amgs.errors import UsageError

if TYPE_CHECKING:
    import httpx2

ADDRESS: Final = "http://127.0.0.1:8420"
"""Where `amgs serve` listens unless it is told otherwise."""
TIMEOUT: Final = 60.0
"""Seconds to wait for an answer; a consolidation of many texts takes longer."""


@dataclass(frozen=True, slots=True)
class ServiceConnection:
    """What each request is sent with. timeout: seconds for one attempt, None to wait without end.

    chance: numbers in [0, 1) that spread the waits of many clients. new_key: an idempotency key nobody used before.
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
        """The same for another namespace, or with a key of the caller's own."""
        return replace(
            self,
            namespace=self.namespace if namespace is None else namespace,
            key=self.key if key is None else key,
        )

    def headers(self, ask: Ask[Any]) -> dict[str, str]:
        """The headers of a request: who asks, in which namespace, and the key of one that must not be done twice."""
        made = {}
        if self.token:
            made["Authorization"] = f"Bearer {self.token}"
        if self.namespace:
            made["AMGS-Namespace"] = self.namespace
        if self.key or not ask.repeatable:
            made["Idempotency-Key"] = self.key or self.new_key()
        return made


def connection(
    base_url: str,
    token: str,
    namespace: str,
    timeout: float | None,
    retries: int,
    chance: Callable[[], float] | None,
) -> ServiceConnection:
    """What the arguments of a client say; raises UsageError for an address that is none."""
    if not base_url.startswith(("http://", "https://")):
        raise UsageError(
            f"{base_url!r} is not the address of a service.", way_out=f"An address looks like {ADDRESS}."
        )
    if retries < 0:
        raise UsageError("Retries cannot be fewer than none.", way_out="Give 0 to try once.")
    spread = chance or (lambda: secrets.randbelow(1000) / 1000)
    return ServiceConnection(base_url.rstrip("/"), token, namespace, timeout, Rules(retries + 1), spread)


def lost(error: httpx2.TransportError | httpx2.InvalidURL) -> Lost:
    """What an exception of the HTTP library says; raises UsageError for an address that is none."""
    import httpx2

    if isinstance(error, httpx2.InvalidURL):
        raise UsageError(f"The address is not one: {error}.", way_out=f"Try {ADDRESS}.") from error
    told = str(error).strip().rstrip(".")
    if isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)):
        return Lost(told or "nothing listens there", arrived=False)
    if isinstance(error, httpx2.TimeoutException):
        return Lost("no answer came in time", arrived=True)
    return Lost(told or "the connection broke", arrived=True)


def call(name: str, /, *, packages: Collection[str] = (), writes: bool = True, **arguments: Any) -> Ask[Any]:
    """Any operation of the service by its name, such as `frame compare`, with its parameters.

    Answers in plain JSON, as the command line prints with `--format json`; with packages (`{"amgs"}`), as frozen
    values of theirs. writes: False for a request that changes nothing, which needs no idempotency key.
    """
    path = f"/v1/operations/{'_'.join(name.split())}"
    read = whole if packages else plain
    return Ask("POST", path, given(arguments), read, repeatable=not writes, packages=packages)
