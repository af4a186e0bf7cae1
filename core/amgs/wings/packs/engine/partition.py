"""Sources of a pack in groups that speak of one thing, each small enough to be told in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from amgs.types import Vector

LEAST, MOST = 2, 8
"""Members of a group."""
_NEIGHBOUR = 0.3
"""What a neighbour of the same file counts beside a text: "Yes, at noon" is about what stands around it."""


def groups(vectors: Vector, files: Sequence[str]) -> list[list[int]]:
    """The rows of (n, d) unit vectors in groups of at most MOST, and at least LEAST where there are so many.

    files: of each row, "" for none; rows of one file stand in its order. A group that is too large is cut across its
    principal direction, where the two sides hang together best (principal direction divisive partitioning, Boley
    1998). Rows rise within a group, groups by their first row.
    """
    around = _around(vectors.astype(np.float64), files)
    made: list[list[int]] = []
    waiting = [np.arange(len(vectors))]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= MOST:
            made += [rows.tolist()] if len(rows) else []
            continue
        centred = around[rows] - around[rows].mean(axis=0)
        direction = np.linalg.svd(centred, full_matrices=False)[2][0]
        order = np.argsort(centred @ direction, kind="stable")
        cut = _cut(centred[order])
        waiting += [np.sort(rows[order[:cut]]), np.sort(rows[order[cut:]])]
    return sorted(made)


def _around(vectors: NDArray[np.float64], files: Sequence[str]) -> NDArray[np.float64]:
    """(n, d) unit vectors, each with a share of those beside it in its file."""
    beside = np.array([bool(a) and a == b for a, b in pairwise(files)], dtype=np.float64)
    made = vectors.copy()
    made[1:] += _NEIGHBOUR * beside[:, None] * vectors[:-1]
    made[:-1] += _NEIGHBOUR * beside[:, None] * vectors[1:]
    return np.asarray(made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-12))


def _cut(ordered: NDArray[np.float64]) -> int:
    """How many rows lie before the cut that leaves the least squared distance to the means of the two sides."""
    sums = ordered.cumsum(axis=0)
    sizes = np.arange(1, len(ordered) + 1)
    first = (sums**2).sum(axis=1) / sizes
    second = ((sums[-1] - sums[:-1]) ** 2).sum(axis=1) / sizes[:-1][::-1]
    gain = (first[:-1] + second)[LEAST - 1 : len(ordered) - LEAST]
    return int(np.argmax(gain)) + LEAST
