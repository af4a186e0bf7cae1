"""Centrality as it was worked out last: what a search of a large graph is scored by, in whatever process."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class CentralityOrigin:
    """The graph that scores are of. structure: the structure counter. blocks, edges: how many live blocks and edges
    there were. worked_out_at: the instant whose decay the edges had.
    """

    structure: int
    blocks: int
    edges: int
    worked_out_at: datetime


class CentralityStorage(Protocol):
    """The scores of one graph. They are part of the memory: two that hold the same are scored by the same."""

    def origin(self) -> CentralityOrigin | None:
        """The graph that the scores are of; None where they were never worked out."""
        ...

    def scores(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Running numbers of blocks (n,), rising, and their scores (n,); the others have 0."""
        ...

    def put(self, origin: CentralityOrigin, numbers: NDArray[np.int64], scores: NDArray[np.float64]) -> bool:
        """Keep the scores (n,) of blocks with these numbers (n,) in place of those that are there. False, and nothing
        is written, where those are of the same structure or of a later one.
        """
        ...
