"""Protocols of the objects that a caller passes to the engine: a clock, a progress callback and a text encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PerfClock(Protocol):
    """Seconds on a monotonic clock; one that stands still gives durations of 0."""

    def perf(self) -> float: ...


class ProgressCallback(Protocol):
    """Told how far a long action is. Raising from it cancels the action, which then leaves nothing behind."""

    def __call__(self, done: int, total: int, doing: str) -> None: ...


class TextEncoder(Protocol):
    """Texts as vectors of length 1; the product of two says how much the texts mean alike."""

    @property
    def name(self) -> str:
        """Vectors of encoders with different names are never compared."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension), each row of length 1."""
        ...
