"""A block's identity: the SHA-256 of its canonical content, and of nothing else (AMGS §12)."""

from __future__ import annotations

import hashlib
import re

_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")


def canonical(content: str) -> str:
    """Return the canonical form: LF line ends, no outer white space, runs of blank lines collapsed to one.

    Idempotent: canonical(canonical(x)) == canonical(x).
    """
    unified = content.replace("\r\n", "\n").replace("\r", "\n")
    return _BLANK_LINES.sub("\n\n", unified).strip()


def block_id(content: str) -> str:
    """Return the block's id, 64 lower-case hexadecimal digits: the SHA-256 of its canonical content in UTF-8.

    Lone surrogates, which no encoding can carry, are hashed as they would be escaped.
    """
    return hashlib.sha256(canonical(content).encode("utf-8", "surrogatepass")).hexdigest()


_PIECE = re.compile(r"(?:#\d+){1,2}$")


def file_of(source: str) -> str:
    """Return the file of a source, without the number of a part or turn: `C# notes.md` of `C# notes.md#2`. A source
    that is nothing but such a number is its own.
    """
    return _PIECE.sub("", source) or source


def piece_of(source: str) -> str:
    """Return the number of the part or turn in a source, `2` or `3#1`; empty for a whole file."""
    return source[len(file_of(source)) + 1 :]
