r"""The syntax of a command line: words with columns, quotes, and suggestions for mistyped names.

Words are separated by blanks. "…" and '…' keep blanks together; inside "…" the escapes \" \\ \n \r \t are known; a `#`
at the start of a word begins a comment. `split` reads back what `quote` writes, for any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from amgs.errors import UsageError

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./~<>!-]+")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_WRITTEN = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class LineError(UsageError):
    """A line that cannot be parsed. column: 1-based, of the wrong word."""

    title = "Invalid command"

    def __init__(self, message: str, *, line: str, column: int, way_out: str = "") -> None:
        super().__init__(message, way_out=way_out)
        self.line = line
        self.column = column


class Word(str):
    """A word of a line with its 1-based column."""

    column: int

    def __new__(cls, text: str, column: int) -> Word:
        word = super().__new__(cls, text)
        word.column = column
        return word


def split(line: str) -> list[Word]:
    """Split a line into words, without its comment; raises LineError for an unclosed quote."""
    words: list[Word] = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
        elif line[at] == "#":
            break
        else:
            text, end = _word(line, at)
            words.append(Word(text, at + 1))
            at = end
    return words


def _word(line: str, start: int) -> tuple[str, int]:
    """Return the word that starts at index `start`, and the index after it."""
    parts: list[str] = []
    at = start
    while at < len(line) and not line[at].isspace():
        if line[at] in "\"'":
            text, at = _read_quoted_text(line, at)
            parts.append(text)
        elif line[at] == "\\" and at + 1 < len(line):
            parts.append(line[at + 1])
            at += 2
        else:
            parts.append(line[at])
            at += 1
    return "".join(parts), at


def _read_quoted_text(line: str, start: int) -> tuple[str, int]:
    """Return the text inside the quote at index `start`, and the index after the closing quote."""
    mark = line[start]
    parts: list[str] = []
    at = start + 1
    while at < len(line):
        if line[at] == mark:
            return "".join(parts), at + 1
        if mark == '"' and line[at] == "\\" and at + 1 < len(line) and line[at + 1] in _ESCAPES:
            parts.append(_ESCAPES[line[at + 1]])
            at += 2
        else:
            parts.append(line[at])
            at += 1
    raise LineError(
        "This quote is not closed.", line=line, column=start + 1, way_out=f"Close it with {mark} or escape it with \\."
    )


def quote(text: str) -> str:
    """Return the text as a single word of a line, quoted if needed."""
    if _PLAIN.fullmatch(text):
        return text
    return '"' + "".join(_WRITTEN.get(sign, sign) for sign in text) + '"'


LIKE, NEARLY = 0.72, 0.1
"""How alike two words must be to suggest either for the other, and how much less so than the best."""


def near(typed: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return at most three names with a word similar to the typed word, most similar first."""
    alike = {name: max(SequenceMatcher(None, typed, word).ratio() for word in name.split()) for name in names}
    least = max(LIKE, max(alike.values(), default=0.0) - NEARLY)
    ranked = sorted(alike, key=lambda name: (-alike[name], len(name.split()), name))
    return tuple(name for name in ranked if alike[name] >= least)[:3]


def nearness(name: str, synonyms: Iterable[str], words: Sequence[str]) -> tuple[bool, bool, int, int]:
    """Return a sort key for how well typed words match a command: its name, a synonym, beginnings of its words, parts
    of them.
    """
    typed = " ".join(words)
    starts = sum(any(part.startswith(word) for part in name.split()) for word in words)
    return name != typed, typed not in synonyms, -starts, -sum(word in name for word in words)
