"""Packs: named, versioned sets of blocks that are read again and judged. `memory.packs`.

Public names are loaded on first use.
"""

from typing import Final

from amgs.lazy_names import lazy
from amgs.wing_registry import Wing

WING: Final = Wing(
    about="Frames stored under a name, versioned, read again, and judged.", part="amgs.wings.packs.api:Packs"
)
"""What this wing adds to the memory and its clients."""

__getattr__, __dir__, __all__ = lazy(__name__, __file__)
