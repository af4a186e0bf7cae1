"""How far a cut of a conversation into topics is from the true one; lower is better. Segments are given by lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Cuts = NDArray[np.bool_]
"""(n - 1,): whether a segment ends at each gap between n messages."""


def cuts_of(lengths: Sequence[int]) -> Cuts:
    """The cuts between segments of these lengths."""
    cuts = np.zeros(sum(lengths) - 1, dtype=np.bool_)
    cuts[np.cumsum(lengths[:-1], dtype=np.intp) - 1] = True
    return cuts


def half_length(true: Cuts) -> int:
    """k: half of the mean length of a true segment, rounded, at least 1."""
    return max(1, round((len(true) + 1) / (2 * (int(true.sum()) + 1))))


def pk(true: Cuts, found: Cuts, k: int | None = None) -> float:
    """The share of pairs k apart that are in one segment in one cut and in two in the other (Beeferman et al. 1999)."""
    k = half_length(true) if k is None else k
    return float(np.mean((_between(true, k) == 0) != (_between(found, k) == 0)))


def window_diff(true: Cuts, found: Cuts, k: int | None = None) -> float:
    """The share of pairs k apart with another number of cuts between them (Pevzner and Hearst 2002)."""
    k = half_length(true) if k is None else k
    return float(np.mean(_between(true, k) != _between(found, k)))


def _between(cuts: Cuts, k: int) -> NDArray[np.intp]:
    """How many cuts lie between each message and the one k after it."""
    sums = np.concatenate([np.zeros(1, dtype=np.intp), np.cumsum(cuts)])
    return np.asarray(sums[k:] - sums[:-k])
