"""Tokens of a request."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a request as the model's server counts them; each input token is in one of the first three.

    fresh: read at full price. written: to the cache. cached: read from the cache. output: written by the model.
    """

    fresh: int = 0
    written: int = 0
    cached: int = 0
    output: int = 0

    @property
    def window(self) -> int:
        """Tokens that the model read."""
        return self.fresh + self.written + self.cached
