"""The parts that wings add to a memory.

Made by `scripts/wing_stubs.py`.
"""

from amgs.api.context import MemoryPart
from amgs.wings.packs.api import Packs

class WingParts(MemoryPart):
    """A property for each wing, under its name; the wing's code is imported on first use."""

    @property
    def packs(self) -> Packs:
        """Frames stored under a name, versioned, read again, and judged."""
