"""The parts that wings add to a memory. What type checkers read of it is made by `scripts/wing_stubs.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs.api.context import MemoryPart
from amgs.wing_registry import Wing, loaded, wings

if TYPE_CHECKING:
    from amgs.api.context import MemoryContext


class WingParts(MemoryPart):
    """One property for each wing, under its name. The wing's own code is imported when it is asked for."""


def _property_of(wing: Wing) -> property:
    def part(memory: WingParts) -> Any:
        context: MemoryContext = memory._context
        return loaded(wing.part)(context)

    part.__annotations__["return"] = wing.part.partition(":")[2]
    return property(part, doc=wing.about)


for _name, _wing in wings().items():
    setattr(WingParts, _name, _property_of(_wing))
