"""The model's own server behind the gateway: requests go on to it, and its answers come back as they are."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import httpx2

from amgs.addresses import check_address

_HOP: Final = frozenset(
    (
        "connection",
        "proxy-connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "host",
        "content-length",
        "accept-encoding",
        "content-encoding",
    )
)
"""Headers that are about one connection, or about the bytes on it (RFC 9110, 7.6.1)."""
_OWN: Final = "amgs-"
CONNECT_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class UpstreamAnswer:
    """An answer that has begun. pieces: its bytes as they come; they have to be read or closed."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncGenerator[bytes]

    @property
    def streams(self) -> bool:
        """Return whether the answer is server-sent events."""
        return self.headers.get("content-type", "").startswith("text/event-stream")


class Upstream:
    """Server of the model.

    address: `https://api.example.com` or `http://127.0.0.1:8000/v1`; its path precedes the path of a request, without
    the latter's `/v1` where the address has one. transport: another connection, for tests.
    """

    def __init__(self, address: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        check_address(
            address,
            "a model's server",
            "Give one such as https://api.openai.com; agents send their own key with each request.",
        )
        self.address = address.rstrip("/")
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            transport=transport,
            trust_env=False,
            follow_redirects=False,
        )

    async def ask(
        self, method: str, path: str, query: str, headers: Mapping[str, str], content: bytes
    ) -> UpstreamAnswer:
        """Send a request on. Raises httpx2.HTTPError when there is no answer."""
        if self.address.endswith("/v1") and path.startswith("/v1/"):
            path = path.removeprefix("/v1")
        encoded = {name: headers[name] for name in ("content-encoding",) if name in headers}
        request = self._client.build_request(
            method,
            self.address + quote(path, safe="/:@!$&'()*+,;=~") + (f"?{query}" if query else ""),
            headers={**select_headers(headers), **encoded, "accept-encoding": "identity"},
            content=content or None,
        )
        response = await self._client.send(request, stream=True)
        return UpstreamAnswer(response.status_code, select_headers(response.headers), _pieces(response))

    async def close(self) -> None:
        """End all connections."""
        await self._client.aclose()


async def _pieces(response: httpx2.Response) -> AsyncGenerator[bytes]:
    try:
        async for piece in response.aiter_bytes():
            yield piece
    finally:
        await response.aclose()


def select_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that go on: neither about one connection, also those that `Connection` names, nor for the gateway."""
    named = ",".join(value for name, value in headers.items() if name.lower() == "connection")
    gone = _HOP.union(header.strip().lower() for header in named.split(","))
    return {
        name: value for name, value in headers.items() if name.lower() not in gone and not name.lower().startswith(_OWN)
    }
