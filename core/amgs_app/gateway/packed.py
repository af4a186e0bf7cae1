"""Bodies of requests that an agent has compressed: Codex packs its own with zstd."""

from __future__ import annotations

import zlib
from typing import Final

LARGEST: Final = 64 * 1024 * 1024
"""Bytes that a body may have once it is unpacked; one of kilobytes can hold gigabytes."""


def unpack(content: bytes, encoding: str) -> bytes | None:
    """What a body of this `Content-Encoding` holds; None where that is not read, is damaged, or is too much."""
    import zstandard

    try:
        for name in reversed([each.strip().lower() for each in encoding.split(",") if each.strip()]):
            if name == "zstd":
                with zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True) as reader:
                    content = reader.read(LARGEST + 1)
            elif name in ("gzip", "x-gzip", "deflate"):
                unpacking = zlib.decompressobj(32 + zlib.MAX_WBITS)
                content = unpacking.decompress(content, LARGEST + 1)
                if not unpacking.eof:
                    return None
            elif name != "identity":
                return None
            if len(content) > LARGEST:
                return None
    except (zstandard.ZstdError, zlib.error):
        return None
    return content
