"""The one place that makes a text safe to print: nothing that it holds can steer the terminal.

Control characters, marks that turn the direction of writing, and halves of surrogate pairs are written out as Python
writes them (`\\x1b`, `\\u202e`). Everything that people read passes here: tables, CSV, errors, progress, pictures and
the screen. JSON escapes them in its own way.
"""

from __future__ import annotations

import re

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0 but for line feed and tab, DEL, C1, overrides and isolates of direction, lone surrogates."""


def printable(text: str) -> str:
    """Return the text with what could steer a terminal written out; line feeds and tabs stay."""
    return text if text.isprintable() else UNSAFE.sub(_escape_character, text)


def printable_line(text: str) -> str:
    """Return the same on one line: runs of white space become one blank."""
    return printable(" ".join(text.split()))


def in_json(text: str) -> str:
    """JSON with the same characters escaped; JSON itself asks for the first 32 alone."""
    return text if text.isprintable() else UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape_character(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
