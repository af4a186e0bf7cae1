"""Waiting between two looks at something outside, in slices, so that it can be stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from amgs.errors import Cancelled

if TYPE_CHECKING:
    from amgs.types import Progress

_SLICE = 0.2


def waiting(
    seconds: float,
    progress: Progress | None,
    what: str,
    *,
    perf: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Callable[[], bool]:
    """A wait of so many seconds; False when it was stopped meanwhile."""

    def wait() -> bool:
        end = perf() + seconds
        while True:
            if progress is not None:
                try:
                    progress(0, 0, f"watching {what}")
                except Cancelled:
                    return False
            left = end - perf()
            if left <= 0:
                return True
            sleep(min(_SLICE, left))

    return wait
