"""Pages as lines: without what recurs from page to page, and where the heading of a bookmark stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

NEAR = 2
"""Pages to either side on which a running head is looked for: left and right pages may have heads of their own."""

ALIKE = 10
"""Characters with which the heads of a chapter begin; the rest names the section."""

FEWEST_PAGES = 3
"""What recurs on fewer pages is taken for text."""

MOST_LINES = 4
"""Lines that one heading may fill."""

_DEEPEST_HEAD = 2
"""Lines at the top and at the bottom that may recur: a head, and a number beside it."""

_DIGITS = re.compile(r"\d+")
_LEAD = re.compile(r"[^\W\d_]{0,12}\d{1,6}|[a-z]")


def without_running_heads(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lines of each page without blank ones around them, and without the first and last ones that recur on pages
    near by: the same but for digits, or with a number or in capitals and the same to begin with. A second line must be
    a number, or quite the same.
    """
    kept = [_trimmed(page) for page in pages]
    for end in (0, -1):
        for depth in range(_DEEPEST_HEAD):
            edges = [_shape(page[end], varied=depth == 0) if page else "" for page in kept]
            again = [_recurs(edges, at, varied=depth == 0) for at in range(len(edges))]
            if sum(again) < FEWEST_PAGES:
                break
            kept = [
                _trimmed(page[1:] if end == 0 else page[:-1]) if recurs else page
                for page, recurs in zip(kept, again, strict=True)
            ]
    return kept


def heading_lines(lines: Sequence[str], title: str, begin: int = 0) -> tuple[int, int] | None:
    """Lines [first, end), from `begin` on, that hold a heading and nothing else but its number, or a word and a number
    before it; None where there are none. Spaces, hyphens and signs may differ.
    """
    wanted = _letters(title)
    if not wanted:
        return None
    for first in range(begin, len(lines)):
        held = ""
        for end in range(first + 1, min(len(lines), first + MOST_LINES) + 1):
            held += _letters(lines[end - 1])
            lead = held[: len(held) - len(wanted)]
            if held.endswith(wanted) and (not lead or _LEAD.fullmatch(lead)):
                return first, end
            if not held or len(held) >= len(wanted) + ALIKE:
                break
    return None


def _trimmed(lines: Sequence[str]) -> list[str]:
    first, end = 0, len(lines)
    while first < end and not lines[first].strip():
        first += 1
    while first < end and not lines[end - 1].strip():
        end -= 1
    return list(lines[first:end])


def _shape(line: str, *, varied: bool) -> str:
    spaced = " ".join(line.split())
    return _DIGITS.sub("0", spaced) if varied or not any(c.isalpha() for c in spaced) else spaced


def _recurs(edges: Sequence[str], at: int, *, varied: bool) -> bool:
    own = edges[at]
    near = [*edges[max(0, at - NEAR) : at], *edges[at + 1 : at + NEAR + 1]]
    headlike = varied and len(own) > ALIKE and ("0" in own or own.isupper())
    return bool(own) and any(own == each or (headlike and own[:ALIKE] == each[:ALIKE]) for each in near)


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())
