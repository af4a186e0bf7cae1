"""Which blocks are part of the self.

What says who the memory's owner is and what it holds dear (AMGS §10.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_EXPLICIT = frozenset({"self", "identity"})
_KINDRED = frozenset({"value", "preference"})
_SURE = 0.5
_SURE_OF_NO_ONES = 0.75
"""While no note says whose memory it is, a tag, a folder or a kind must call it a value: a turn of phrase alone ("we
value …" in any manual) gives less."""


def is_explicit(meta: Mapping[str, Any]) -> bool:
    """The source itself says so, by a tag or its kind."""
    marks = {str(tag).lower() for tag in meta.get("tags") or ()} | {str(meta.get("kind", "")).lower()}
    return bool(marks & _EXPLICIT)


def signed(meta: Mapping[str, Any]) -> str:
    """Who signed an explicit self note; empty for any other block."""
    return str(meta.get("author") or "") if is_explicit(meta) else ""


def owner(authors: Mapping[str, int]) -> str:
    """Whose memory this is: who signed most explicit self notes; empty when no note says.

    authors: how many each has signed.
    """
    return min(authors, key=lambda name: (-authors[name], name)) if authors else ""


def is_self_component(category: str, confidence: float, meta: Mapping[str, Any], whose: str) -> bool:
    """Explicitly marked, or a value or preference that its rules are sure of and that no one else signed.

    whose: the owner; while it is unknown, only what its source calls a value counts, whoever signed it.
    """
    if is_explicit(meta):
        return True
    author = str(meta.get("author") or meta.get("speaker") or "")
    if category not in _KINDRED or confidence < (_SURE if whose else _SURE_OF_NO_ONES):
        return False
    return not whose or not author or author == whose
