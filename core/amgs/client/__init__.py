"""HTTP clients of a served memory, loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs.client.memory_client import AsyncMemoryClient as AsyncMemoryClient
    from amgs.client.memory_client import MemoryClient as MemoryClient

__all__ = ["AsyncMemoryClient", "MemoryClient"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from amgs.client import memory_client

    return getattr(memory_client, name)
