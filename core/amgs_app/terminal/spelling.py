"""Which commands a typed word means: by their names and synonyms, and by words like it where it is mistyped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

LIKE, NEARLY = 0.72, 0.1
"""How alike two words must be for one to be suggested for the other, and how much less so than the best one."""


def near(typed: str, names: Iterable[str]) -> tuple[str, ...]:
    """Up to three of the names that hold a word like the one typed, the best first; nothing far-fetched."""
    alike = {name: max(SequenceMatcher(None, typed, word).ratio() for word in name.split()) for name in names}
    least = max(LIKE, max(alike.values(), default=0.0) - NEARLY)
    ranked = sorted(alike, key=lambda name: (-alike[name], len(name.split()), name))
    return tuple(name for name in ranked if alike[name] >= least)[:3]


def nearness(name: str, synonyms: Iterable[str], words: Sequence[str]) -> tuple[bool, bool, int, int]:
    """How well typed words name a command, the best first in order: its name itself, one of its synonyms, the words of
    its name that begin so, those that hold them.
    """
    typed = " ".join(words)
    starts = sum(any(part.startswith(word) for part in name.split()) for word in words)
    return name != typed, typed not in synonyms, -starts, -sum(word in name for word in words)
