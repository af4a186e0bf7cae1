"""Result of every reader for a file: its bytes as text, and the text as passages or as turns of a conversation."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any


class UnfitError(ValueError):
    """A file that its reader cannot take; the message says why, as the end of "it was not ingested: …"."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document that stays whole where it fits a piece: a paragraph, a table, a fence, a function.

    [start, end): characters of the document's text. path: the headings it stands under, outermost first, its own
    included. level: where a section of this depth begins with it, from 1; else 0. heading: it is nothing but the
    heading. lines: whether it is cut between lines (code, tables) rather than between sentences.
    """

    start: int
    end: int
    path: tuple[str, ...] = ()
    level: int = 0
    heading: bool = False
    lines: bool = False


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of a conversation. at: when it was said, None where only the order is known."""

    speaker: str
    text: str
    at: datetime | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ParsedDocument:
    """A file as its reader understands it; either passages, in order and without overlap, or turns.

    first_line: the line of the file at which the text begins, where the text is the file's own; 0 where it was made
    from the file. front: what the author wrote of it (front matter). meta: what the format says of it. date: as it is
    written, or an instant. hidden: markup is left out of pieces (comments and link definitions of Markdown).
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
        """Return the first and the last line of the file that [start, end) of the text comes from; (0, 0) when
        unknown.
        """
        if self.first_line:
            first, last = (bisect_right(self._breaks, at - 1) for at in (start, max(start, end - 1)))
            return self.first_line + first, self.first_line + last
        return 0, 0


def titled(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    """Return a path of headings that begins with the document's title."""
    return path if not title or path[:1] == (title,) else (title, *path)


class Outline:
    """The path of headings while a document is read from top to bottom."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """Return the path with a heading of this level at its end; deeper and equal ones before it are left."""
        self.leave(level)
        self._open.append((level, title))
        return self.path

    def leave(self, level: int) -> None:
        """Leave the headings of this level and below."""
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
"""Above this share of bytes over 127 a text is in no Western script, and windows-1252 would only make nonsense."""


def decoded(raw: bytes) -> tuple[str, str]:
    """Return the text with LF line ends and a warning (or an empty string) where its encoding had to be guessed.

    Raises UnfitError for what is no text.
    """
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        return unified(raw.decode(encoding)), ""
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
        return unified(mended), warning
    guessed = _western(raw)
    if guessed is None:
        raise UnfitError(f"it is not UTF-8 (byte {at}); save it as UTF-8")
    return unified(guessed), f"it is not UTF-8 (byte {at}); it was read as windows-1252"


def unified(text: str) -> str:
    """Return the text with LF line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _western(raw: bytes) -> str | None:
    high = [byte for byte in raw if byte > 127]
    if len(high) > _MOST_FOREIGN * len(raw) or any(b < 32 and b not in b"\t\n\r\f\x1b" for b in raw):
        return None
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return None
