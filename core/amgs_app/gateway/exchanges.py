"""Numbers for requests through the gateway: they go on where those that the memory keeps end."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class ExchangeNumbers:
    """Safe to use from any thread. last: gives the number of the latest request that is kept; asked once."""

    def __init__(self, last: Callable[[], int]) -> None:
        self._last = last
        self._lock = threading.Lock()
        self._count: int | None = None

    def next(self) -> int:
        """The number of a request that begins; raises what `last` raises."""
        with self._lock:
            if self._count is None:
                self._count = self._last()
            self._count += 1
            return self._count
