"""The sentences of a text by where they stand in it; blocks of code are none, their lines are units."""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？]+[”’」』）]*|\n+")
_SHORT = re.compile(r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|vs|etc|e\.g|i\.e|approx|No|Jr|Sr|Prof))\.$")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE | re.DOTALL)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence, without the white space around it."""
    last = 0
    for fence in _FENCE.finditer(text):
        yield from _within(text, last, fence.start())
        last = fence.end()
    yield from _within(text, last, len(text))


def units(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the sentences of a text, and of the lines that are none, as in blocks of code."""
    last = 0
    for start, end in sentences(text):
        yield from _lines(text, last, start)
        yield start, end
        last = end
    yield from _lines(text, last, len(text))


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _LINE.finditer(text, start, end):
        left = len(match[0]) - len(match[0].lstrip())
        yield match.start() + left, match.start() + len(match[0].rstrip())


def _within(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for stop in _END.finditer(text, start, end):
        if stop[0] == "." and _SHORT.search(text, max(at, stop.end() - 8), stop.end()):
            continue
        yield from _strip_span(text, at, stop.end())
        at = stop.end()
    yield from _strip_span(text, at, end)


def _strip_span(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span without white space at its ends; nothing where it is blank."""
    piece = text[start:end]
    left, right = len(piece) - len(piece.lstrip()), len(piece.rstrip())
    if left < right:
        yield start + left, start + right
