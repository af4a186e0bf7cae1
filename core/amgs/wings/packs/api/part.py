"""What the parts of `memory.packs` have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.wings.packs.store import PackStorage

if TYPE_CHECKING:
    from amgs.api.context import MemoryContext


class PackPart:
    """One open memory, and the packs that its store holds."""

    def __init__(self, context: MemoryContext) -> None:
        self._context = context
        self._packs = PackStorage(context.storage)
