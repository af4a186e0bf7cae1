"""How soon the workstation is there when it is opened on a served memory."""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import Final

from amgs.errors import AmgsError
from benchmarks.terminal import Terminal

STARTS: Final = 5
PATIENCE: Final = 120.0


def first_paint(address: str, starts: int = STARTS) -> dict[str, float]:
    """Milliseconds from the start of the process, medians: until the screen is drawn whole, and until the served
    memory's own figures stand in it.
    """
    painted, ready = list[float](), list[float]()
    for _ in range(starts):
        with Terminal(["--connect", address], 120, 40) as terminal:
            for sign, times in (("quit", painted), (r"[\d,]+ blocks?\b", ready)):
                if terminal.wait(sign, PATIENCE) is None:
                    raise AmgsError("The attached workstation did not draw the served memory.")
                times.append((perf_counter() - terminal.began) * 1000)
    return {
        "attach_first_paint_ms": statistics.median(painted),
        "attach_ready_ms": statistics.median(ready),
    }
