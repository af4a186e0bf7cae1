"""The operations of the workstation."""

from __future__ import annotations

from functools import lru_cache

from amgs_app import operations
from amgs_app.operations.registry import Registry


@lru_cache(maxsize=1)
def standard() -> Registry:
    """The registry of the workstation."""
    return Registry.of_modules(getattr(operations, noun) for noun in operations.NOUNS)
