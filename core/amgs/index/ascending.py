"""Sets of numbers as ascending arrays without repetition: what differs between two is found without sorting them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def places(ascending: Numbers, values: Numbers) -> Numbers:
    """Return the place of each value in an ascending array, -1 for one that is not in it: (m,)."""
    if not ascending.size:
        return np.full(values.size, -1, dtype=np.int64)
    # Numbers of blocks run on with few gaps, so that most stand where they would without one: a look, and no search.
    at = np.minimum(np.maximum(values - ascending[0], 0), ascending.size - 1)
    off = ascending[at] != values
    if off.any():
        some = values[off]
        found = np.minimum(np.searchsorted(ascending, some), ascending.size - 1)
        at[off] = np.where(ascending[found] == some, found, -1)
    return np.asarray(at, dtype=np.int64)


def contains(ascending: Numbers, values: Numbers) -> NDArray[np.bool_]:
    """Return which values are in an ascending array: (m,)."""
    return places(ascending, values) >= 0


def without(one: Numbers, other: Numbers) -> Numbers:
    """What the first has and the second has not. Where both begin alike, as two states of a store do, only the rest is
    compared.
    """
    same = _common(one, other)
    rest = one[same:]
    return rest[~contains(other[same:], rest)]


def joined(one: Numbers, other: Numbers) -> Numbers:
    """Return what either has."""
    new = without(other, one)
    if not new.size:
        return one
    if not one.size or one[-1] < new[0]:
        return np.concatenate([one, new])
    return np.insert(one, np.searchsorted(one, new), new)


def replaced(numbers: Numbers, column: NDArray[Any], changed: Numbers, values: NDArray[Any]) -> NDArray[Any]:
    """Return a column by number with the values of some numbers, ascending, put in place of the old ones or between
    them.
    """
    at = places(numbers, changed)
    known = at >= 0
    made = column.copy()
    made[at[known]] = values[known]
    new = changed[~known]
    if not new.size:
        return made
    if not numbers.size or numbers[-1] < new[0]:
        return np.concatenate([made, values[~known]])
    return np.insert(made, np.searchsorted(numbers, new), values[~known])


def _common(one: Numbers, other: Numbers) -> int:
    """Return how many values both begin with alike."""
    size = min(one.size, other.size)
    differs = one[:size] != other[:size]
    first = int(np.argmax(differs)) if size else 0
    return first if size and differs[first] else size
