"""The engine's public face, by subject; `Memory` is all of it."""

from amgs.memory.memory import Memory

__all__ = ["Memory"]
