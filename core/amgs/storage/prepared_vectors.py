"""Vectors of raw blocks that were computed before their consolidation, which then need not embed them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from amgs.types import Vector


class PreparedVectorStorage(Protocol):
    """Vectors by block; each knows the text that it is of, and counts for no other. They are no part of the memory."""

    def lacking(self, space: str) -> NDArray[np.int64]:
        """Running numbers of the raw blocks without a vector in this space, rising."""
        ...

    def put(self, blocks: Sequence[str], texts: Sequence[str], space: str, vectors: Vector) -> int:
        """Keep vectors (n, d) of those of these blocks that are raw and have none in this space; how many that were.

        texts: SHA-256 of what was embedded.
        """
        ...

    def get(self, blocks: Sequence[str], space: str) -> dict[str, tuple[str, Vector]]:
        """The SHA-256 of what was embedded, and its vector (d,), by block."""
        ...

    def delete(self, blocks: Sequence[str]) -> None:
        """Drop the vectors of these blocks."""
        ...

    def tidy(self) -> None:
        """Drop the vectors of blocks that are not raw any more, or gone."""
        ...
