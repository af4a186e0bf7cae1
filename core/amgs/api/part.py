"""A part of the API: what can be asked of an open memory about one subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.api.context import MemoryContext


class MemoryPart:
    """It stands by itself, over the context that it is given, or is one of those that `Memory` is made of."""

    def __init__(self, context: MemoryContext) -> None:
        self._opened = context

    @property
    def _context(self) -> MemoryContext:
        return self._opened
