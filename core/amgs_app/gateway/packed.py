"""Bodies of requests that an agent has compressed: Codex packs its own with zstd."""

from __future__ import annotations

import io
import zlib
from typing import Final

LARGEST: Final = 64 * 1024 * 1024
"""Bytes that a body may have once it is unpacked; one of kilobytes can hold gigabytes."""


def unpack(content: bytes, encoding: str) -> bytes | None:
    """Return what a body of this `Content-Encoding` holds; None where that is not read, is damaged, or is too much."""
    from backports import zstd

    try:
        for name in reversed([coding.strip().lower() for coding in encoding.split(",") if coding.strip()]):
            if name == "zstd":
                content = zstd.ZstdFile(io.BytesIO(content)).read(LARGEST + 1)
            elif name in ("gzip", "x-gzip", "deflate"):
                unpacking = zlib.decompressobj(32 + zlib.MAX_WBITS)
                content = unpacking.decompress(content, LARGEST + 1)
                if not unpacking.eof:
                    return None
            elif name != "identity":
                return None
            if len(content) > LARGEST:
                return None
    except (zstd.ZstdError, EOFError, zlib.error):
        return None
    return content
