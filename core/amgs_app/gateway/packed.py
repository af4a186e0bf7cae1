"""Decompress request bodies; Codex compresses its own with zstd."""

from __future__ import annotations

import io
import zlib
from typing import Final

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
    except (zstd.ZstdError, EOFError, zlib.error):
        return None
    return content


def _inflate(content: bytes) -> bytes:
    """Return what gzip, in one part or several, or deflate, with its head or bare, holds; up to a byte too much. Raises
    EOFError and zlib.error.
    """
    parts: list[bytes] = []
    left, size = content, 0
    while left and size <= LARGEST:
        unpacking = zlib.decompressobj(32 + zlib.MAX_WBITS)
        try:
            parts.append(unpacking.decompress(left, LARGEST + 1 - size))
        except zlib.error:
            if parts:
                raise
            unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
            parts.append(unpacking.decompress(left, LARGEST + 1))
        size += len(parts[-1])
        if not unpacking.eof and size <= LARGEST:
            raise EOFError
        left = unpacking.unused_data
    return b"".join(parts)
