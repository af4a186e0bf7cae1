"""Whole columns of consolidated blocks and of edges, written at once: for stores that come from elsewhere.

The rows are trusted: ids hash their content, edges end at blocks. Verification checks them like all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from amgs.types import Vector


@dataclass(frozen=True, eq=False)
class BulkBlocks:
    """n blocks as columns. Instants are microseconds since 1970; meta is JSON text; embeddings (n, d), or
    None for raw blocks.
    """

    ids: Sequence[str]
    contents: Sequence[str]
    created: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    category: Sequence[str]
    confidence: NDArray[np.float64]
    decay_lambda: NDArray[np.float64]
    status: Sequence[str]
    self_component: NDArray[np.bool_]
    meta: Sequence[str]
    reinforcements: NDArray[np.int64]
    embeddings: Vector | None


@dataclass(frozen=True, eq=False)
class BulkEdges:
    """m edges as columns, ends by id; created now and never walked: both clocks read `created`."""

    source: Sequence[str]
    target: Sequence[str]
    relation: Sequence[str]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    created: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]


class BulkStorage(Protocol):
    """Columns written at once."""

    def append_blocks(self, rows: BulkBlocks) -> None:
        """Add blocks whose ids the store does not hold; inside a transaction. About 30,000 blocks a second with
        embeddings of 384 values.
        """
        ...

    def append_edges(self, rows: BulkEdges) -> None:
        """Add edges whose keys the store does not hold; inside a transaction."""
        ...
