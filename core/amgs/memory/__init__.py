"""The engine's public interface, by subject; `Memory` combines them."""

from amgs.memory.memory import Memory

__all__ = ["Memory"]
