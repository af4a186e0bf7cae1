"""Cost of a request, in tokens."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, as the model's server counts them; the three of the input exclude each other.

    fresh: read at full price. written: put into the cache. cached: read from the cache. output: written by the model.
    """

    fresh: int = 0
    written: int = 0
    cached: int = 0
    output: int = 0

    @property
    def window(self) -> int:
        """Tokens that the model read."""
        return self.fresh + self.written + self.cached
