"""What every reader returns for a file: its text, as passages of a document or as turns of a conversation."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any


class UnfitError(ValueError):
    """A file that its reader cannot read; the message completes "it was not ingested: …"."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document that is not split if it fits into a piece: a paragraph, table, code fence, function.

    [start, end): characters of the text. path: headings above it, outermost first, including its own. level: depth of
    the section that begins with it, from 1; else 0. heading: it is only a heading. lines: if too long, split it between
    lines (code, tables), not sentences.
    """

    start: int
    end: int
    path: tuple[str, ...] = ()
    level: int = 0
    heading: bool = False
    lines: bool = False


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of a conversation. at: when it was said, None if unknown."""

    speaker: str
    text: str
    at: datetime | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ParsedDocument:
    """A file as read: either passages, in order without overlap, or turns.

    first_line: line of the file at which the text begins, 0 if the text was generated from the file. front: front
    matter. meta: metadata from the format. date: as written, or a time.
    """

    text: str
    passages: tuple[Passage, ...] = ()
    turns: tuple[Utterance, ...] = ()
    title: str = ""
    date: datetime | str | None = None
    front: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    first_line: int = 0
    form: str = "text"

    @cached_property
    def _breaks(self) -> list[int]:
        return [i for i, c in enumerate(self.text) if c == "\n"]

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and last line of the file for [start, end) of the text; (0, 0) if unknown."""
        if self.first_line:
            first, last = (bisect_right(self._breaks, at - 1) for at in (start, max(start, end - 1)))
            return self.first_line + first, self.first_line + last
        return 0, 0


def prepend_title(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    """Return a path of headings that begins with the document's title."""
    return path if not title or path[:1] == (title,) else (title, *path)


class Outline:
    """The current path of headings while a document is read from top to bottom."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """Add a heading of this level, closing equal and deeper ones; return the path."""
        self.leave(level)
        self._open.append((level, title))
        return self.path

    def leave(self, level: int) -> None:
        """Close the headings of this level and deeper."""
        self._open = [(depth, name) for depth, name in self._open if depth < level]

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(name for _, name in self._open)


_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOKED_AT = 65_536
_REPLACED = "\ufffd"
_MOST_FOREIGN = 0.15
"""With a larger share of bytes over 127, a text is not in a Western script, and windows-1252 would produce nonsense."""


def decode(raw: bytes) -> tuple[str, str]:
    """Decode a file's bytes; return the text with LF line ends, and a warning ("" for none) if the encoding was
    guessed.

    Raises UnfitError if it is not text.
    """
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        return unify_line_ends(raw.decode(encoding)), ""
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise UnfitError(f"it begins as {encoding.upper()} and does not go on so") from None
        at = error.start
    if b"\x00" in raw[:_LOOKED_AT]:
        raise UnfitError("it is not UTF-8 but a binary file")
    mended = raw.decode("utf-8", "replace")
    bad = mended.count(_REPLACED)
    if sum(c > "\x7f" for c in mended) > 2 * bad:
        warning = f"it is not UTF-8 throughout (byte {at}); {bad} characters were replaced by {_REPLACED}"
        return unify_line_ends(mended), warning
    guessed = _western(raw)
    if guessed is None:
        raise UnfitError(f"it is not UTF-8 (byte {at}); save it as UTF-8")
    return unify_line_ends(guessed), f"it is not UTF-8 (byte {at}); it was read as windows-1252"


def unify_line_ends(text: str) -> str:
    """Return the text with LF line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _western(raw: bytes) -> str | None:
    """Decode as windows-1252; None if that is implausible."""
    high = [byte for byte in raw if byte > 127]
    if len(high) > _MOST_FOREIGN * len(raw) or any(b < 32 and b not in b"\t\n\r\f\x1b" for b in raw):
        return None
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return None
