"""The model's server behind the gateway: send requests and return answers unchanged; and unpack request bodies
(Codex compresses its own with zstd).
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import httpx2

from amgs.bounds import check_address

LARGEST: Final = 64 * 1024 * 1024
"""Most bytes of a decompressed body; a few kilobytes can expand to gigabytes."""


def unpack(content: bytes, encoding: str) -> bytes | None:
    """Decompress a body by its `Content-Encoding`; None if the encoding is unknown, the data damaged or too large."""
    from backports import zstd

    try:
        for name in reversed([coding.strip().lower() for coding in encoding.split(",") if coding.strip()]):
            if name == "zstd":
                content = zstd.ZstdFile(io.BytesIO(content)).read(LARGEST + 1)
            elif name in ("gzip", "x-gzip", "deflate"):
                content = _inflate(content)
            elif name != "identity":
                return None
            if len(content) > LARGEST:
                return None
    except (zstd.ZstdError, EOFError, zlib.error, gzip.BadGzipFile):
        return None
    return content


def _inflate(content: bytes) -> bytes:
    """Return what gzip, in a single part or several, or deflate, with its head or bare, holds; up to a byte too much.
    Raises EOFError, zlib.error and gzip.BadGzipFile.
    """
    if not content or content.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=io.BytesIO(content)).read(LARGEST + 1)
    unpacking = zlib.decompressobj(zlib.MAX_WBITS)
    try:
        unpacked = unpacking.decompress(content, LARGEST + 1)
    except zlib.error:
        unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
        unpacked = unpacking.decompress(content, LARGEST + 1)
    if not unpacking.eof and len(unpacked) <= LARGEST:
        raise EOFError
    return unpacked


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
"""Headers that concern one connection or its bytes, and are not forwarded (RFC 9110, 7.6.1)."""
_OWN: Final = "amgs-"
CONNECT_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class UpstreamAnswer:
    """An answer whose head has arrived. pieces: its bytes as they come; must be read or closed."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncGenerator[bytes]

    @property
    def streams(self) -> bool:
        """Return whether the answer is server-sent events."""
        return self.headers.get("content-type", "").startswith("text/event-stream")


class Upstream:
    """Client of the model's server.

    address: such as `https://api.example.com` or `http://127.0.0.1:8000/v1`; if it ends in `/v1`, that part of the
    request's path is dropped. transport: replaces the network in tests.
    """

    def __init__(self, address: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        check_address(
            address,
            "a model's server",
            "Give an address such as https://api.openai.com; agents send their own key with each request.",
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
        """Forward a request. Raises httpx2.HTTPError if there is no answer."""
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
        """Close all connections."""
        await self._client.aclose()


async def _pieces(response: httpx2.Response) -> AsyncGenerator[bytes]:
    try:
        async for piece in response.aiter_bytes():
            yield piece
    finally:
        await response.aclose()


def select_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers to forward: without those of a connection (also named by `Connection`) and our own."""
    named = ",".join(value for name, value in headers.items() if name.lower() == "connection")
    gone = _HOP.union(header.strip().lower() for header in named.split(","))
    return {
        name: value for name, value in headers.items() if name.lower() not in gone and not name.lower().startswith(_OWN)
    }
