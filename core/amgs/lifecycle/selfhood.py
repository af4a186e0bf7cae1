"""Which blocks are part of the self.

What says who the memory's owner is and what it holds dear (AMGS §10.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_EXPLICIT = frozenset({"self", "identity"})
_KINDRED = frozenset({"value", "preference"})


def is_explicit(meta: Mapping[str, Any]) -> bool:
    """The source itself says so, by a tag or its kind."""
    marks = {str(tag).lower() for tag in meta.get("tags") or ()} | {str(meta.get("kind", "")).lower()}
    return bool(marks & _EXPLICIT)


def owner(metas: Iterable[Mapping[str, Any]]) -> str:
    """The author of most explicit self notes: whose memory this is; empty when no note says."""
    authors = Counter(str(m["author"]) for m in metas if is_explicit(m) and m.get("author"))
    return min(authors, key=lambda name: (-authors[name], name)) if authors else ""


def is_self_component(category: str, confidence: float, meta: Mapping[str, Any], whose: str) -> bool:
    """Explicitly marked, or a value or preference that its rules are sure of and that no one else signed.

    whose: the owner; while it is unknown, everyone's values count.
    """
    if is_explicit(meta):
        return True
    author = str(meta.get("author") or meta.get("speaker") or "")
    return category in _KINDRED and confidence >= 0.5 and (not whose or not author or author == whose)
