"""Values from 0 to 1 that keys move by a step."""

from __future__ import annotations

import math
from typing import Final

STEP: Final = 0.05


def stepped(value: float, by: int) -> float:
    """The next multiple of a step above (by > 0) or below a value, within [0, 1]."""
    steps = value / STEP
    steps = math.floor(steps + 1e-6) + 1 if by > 0 else math.ceil(steps - 1e-6) - 1
    return min(1.0, max(0.0, round(steps * STEP, 2)))
