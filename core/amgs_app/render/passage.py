"""The passage of a text that a question is about: where most of the question's words stand."""

from __future__ import annotations

import re

WIDTH = 90
"""Characters of a passage."""

_WORD = re.compile(r"\w+(?:[-._/]\w+)*")
_SMALL_WORDS = (
    "a an and are as at be by did do does for from had has have how i in is it its many much of on or she he that the"
    " their there they this to was we were what when where which who whom whose why will with you your"
)
_COMMON = frozenset(_SMALL_WORDS.split())


def passage(text: str, query: str, width: int = WIDTH) -> str:
    """At most `width` characters around the words of the query, in whole words, with … where something is left out.

    The beginning of the text where none of them stands in it.
    """
    flat = " ".join(text.split())
    if len(flat) <= width:
        return flat
    wanted = {_stem(word) for word in _WORD.findall(query) if word.casefold() not in _COMMON}
    found = [(match.start(), _stem(match[0])) for match in _WORD.finditer(flat)]
    hits = [(at, stem) for at, stem in found if stem in wanted]
    room = width - 2
    begin = max(
        (at for at, _ in hits),
        key=lambda at: (len({stem for other, stem in hits if at <= other < at + room * 3 // 4}), -at),
        default=0,
    )
    start = 0 if begin < room // 4 else flat.rfind(" ", 0, begin - room // 8) + 1
    end = start + room if start + room >= len(flat) else flat.rfind(" ", start, start + room)
    end = end if end > start else start + room
    return ("…" if start else "") + flat[start:end] + ("…" if end < len(flat) else "")


def _stem(word: str) -> str:
    """A word without its commonest endings, so that `stalled` fits `stall`."""
    lower = word.casefold()
    for ending in ("ing", "ed", "es", "s"):
        if lower.endswith(ending) and len(lower) - len(ending) >= 3:
            return lower[: -len(ending)]
    return lower
