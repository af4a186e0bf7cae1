"""The client of a served memory: the same names as the engine in the process, over HTTP.

Both clients are loaded on first use: what describes a request needs neither.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs.client.async_memory_client import AsyncMemoryClient as AsyncMemoryClient
    from amgs.client.memory_client import MemoryClient as MemoryClient

_HOMES = {
    "AsyncMemoryClient": "amgs.client.async_memory_client",
    "MemoryClient": "amgs.client.memory_client",
}

__all__ = ["AsyncMemoryClient", "MemoryClient"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
