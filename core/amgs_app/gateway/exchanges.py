"""The latest requests through the gateway, for whoever watches it."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

from amgs_app.gateway_exchange import GatewayExchange

KEPT: Final = 200
"""Exchanges that can be looked at afterwards."""


class Exchanges:
    """Numbers exchanges and keeps the latest. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[GatewayExchange] = deque(maxlen=KEPT)
        self._count = 0

    def number(self) -> int:
        """The number of an exchange that begins."""
        with self._lock:
            self._count += 1
            return self._count

    def add(self, exchange: GatewayExchange) -> None:
        """Keep one that has ended."""
        with self._lock:
            self._kept.append(exchange)

    def latest(self) -> tuple[GatewayExchange, ...]:
        """Those that are kept, the newest first."""
        with self._lock:
            return tuple(reversed(self._kept))
