"""A vector of meaning for each whole block of a lifetime, kept beside its tokens.

One text encoder makes them all; those of another are dropped and made anew. A vector is a function of its block's
tokens alone, so that stepping back only cuts rows. Purged blocks have a row of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amgs_focus.protocols import ProgressCallback, TextEncoder

if TYPE_CHECKING:
    from amgs_focus.tree.files import LifetimeStore
    from amgs_focus.tree.gist_tree import LifetimeTree

BATCH = 128  # blocks encoded at a time: the unit of progress and of cancelling
PIECE = 8192  # rows multiplied at a time: 12 MB of them in float32

Cosines = NDArray[np.float32]


class BlockVectors:
    """The rows of one lifetime, (blocks, d) in float16, as far as they were made."""

    def __init__(self, store: LifetimeStore) -> None:
        self._store = store

    def __len__(self) -> int:
        return 0 if self._store.vectors is None else len(self._store.vectors)

    def sync(
        self, tree: LifetimeTree, encoder: TextEncoder, progress: ProgressCallback | None = None
    ) -> None:
        """Encode every whole block that has no vector of this encoder yet."""
        rows = self._store.begin_vectors(encoder.name, encoder.dimension)
        total, size = tree.count(0), tree.block_size
        gone = [(low // size, high // size) for low, high in tree.catalogue.gone(0)]
        for first in range(len(rows), total, BATCH):
            if progress is not None:
                progress(first, total, "vectors of blocks")
            blocks = range(first, min(total, first + BATCH))
            kept = [at for at in blocks if not any(low <= at < high for low, high in gone)]
            made = np.zeros((len(blocks), encoder.dimension), np.float16)
            if kept:
                texts = [self._text(tree, at) for at in kept]
                made[[at - first for at in kept]] = encoder.embed(texts).astype(np.float16)
            rows.append(made)

    def cosines(self, vector: NDArray[np.float32], blocks: int) -> Cosines:
        """(d,) -> (blocks,) products with the first so many rows, a piece of them at a time; 0 for what has none."""
        found = np.zeros(blocks, np.float32)
        rows = self._store.vectors
        if rows is None:
            return found
        for first in range(0, min(blocks, len(rows)), PIECE):
            piece = rows.rows(first, min(blocks, first + PIECE))
            found[first : first + len(piece)] = piece.astype(np.float32) @ vector
        return found

    def cut(self, blocks: int) -> None:
        """Keep the first blocks only."""
        if self._store.vectors is not None:
            self._store.vectors.truncate(blocks)

    def blank(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Make the rows of blocks [start, stop) zeros, for good."""
        held = len(self)
        inside = [(low, min(high, held)) for low, high in ranges if low < held]
        if inside:
            self._store.blank_vectors(inside)

    @staticmethod
    def _text(tree: LifetimeTree, block: int) -> str:
        size = tree.block_size
        return tree.model.decode(tree.tokens(block * size, (block + 1) * size).tolist())
