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
