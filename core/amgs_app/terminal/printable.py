r"""Make text safe to print: control characters, direction marks and lone surrogates are escaped as Python does (`\x1b`,
`\u202e`).

The only place for this. All text for people passes here: tables, CSV, errors, progress, figures and the screen. JSON
uses its own escapes.
"""

from __future__ import annotations

import re

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0 controls except line feed and tab, DEL, C1 controls, direction overrides and isolates, lone surrogates."""


def printable(text: str) -> str:
    """Escape what could control a terminal; line feeds and tabs stay."""
    return text if text.isprintable() else UNSAFE.sub(_escape_character, text)


def printable_line(text: str) -> str:
    """Escape likewise and collapse white space, for one line."""
    return printable(" ".join(text.split()))


def in_json(text: str) -> str:
    """Escape the same characters in JSON, which itself requires only the first 32 to be escaped."""
    return text if text.isprintable() else UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape_character(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
