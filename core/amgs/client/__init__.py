"""The client of a served memory: the same names as the engine in the process, over HTTP."""

from amgs.client.async_memory_client import AsyncMemoryClient
from amgs.client.memory_client import MemoryClient

__all__ = ["AsyncMemoryClient", "MemoryClient"]
