"""Which known words a mistyped one may have been meant for."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

LIKE, NEARLY = 0.72, 0.1
"""How alike two words must be for one to be suggested for the other, and how much less so than the best one."""


def near(typed: str, names: Iterable[str]) -> tuple[str, ...]:
    """Up to three of the names that hold a word like the one typed, the best first; nothing far-fetched."""
    alike = {name: max(SequenceMatcher(None, typed, word).ratio() for word in name.split()) for name in names}
    least = max(LIKE, max(alike.values(), default=0.0) - NEARLY)
    ranked = sorted(alike, key=lambda name: (-alike[name], len(name.split()), name))
    return tuple(name for name in ranked if alike[name] >= least)[:3]
