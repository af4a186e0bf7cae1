"""The sentences of a message by where they stand in it; blocks of code are none."""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|\n+")
_SHORT = re.compile(r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|vs|etc|e\.g|i\.e|approx|No|Jr|Sr|Prof))\.$")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE | re.DOTALL)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each sentence, without the white space around it."""
    last = 0
    for fence in _FENCE.finditer(text):
        yield from _within(text, last, fence.start())
        last = fence.end()
    yield from _within(text, last, len(text))


def _within(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for stop in _END.finditer(text, start, end):
        if stop[0] == "." and _SHORT.search(text, max(at, stop.end() - 8), stop.end()):
            continue
        yield from _stripped(text, at, stop.end())
        at = stop.end()
    yield from _stripped(text, at, end)


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    left, right = len(piece) - len(piece.lstrip()), len(piece.rstrip())
    if left < right:
        yield start + left, start + right
