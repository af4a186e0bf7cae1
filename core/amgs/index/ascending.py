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
        positions = np.minimum(np.searchsorted(ascending, some), ascending.size - 1)
        at[off] = np.where(ascending[positions] == some, positions, -1)
    return np.asarray(at, dtype=np.int64)


def contains(ascending: Numbers, values: Numbers) -> NDArray[np.bool_]:
    """Return which values are in an ascending array: (m,)."""
    return places(ascending, values) >= 0


def without(numbers: Numbers, other: Numbers) -> Numbers:
    """Return the numbers of the first that the second lacks.

    A common start, as two states of a store have it, is not compared again.
    """
    same = _common(numbers, other)
    rest = numbers[same:]
    return rest[~contains(other[same:], rest)]


def joined(numbers: Numbers, other: Numbers) -> Numbers:
    """Return what either has."""
    new = without(other, numbers)
    if not new.size:
        return numbers
    if not numbers.size or numbers[-1] < new[0]:
        return np.concatenate([numbers, new])
    return np.insert(numbers, np.searchsorted(numbers, new), new)


def replaced(numbers: Numbers, column: NDArray[Any], changed: Numbers, values: NDArray[Any]) -> NDArray[Any]:
    """Return a column by number with the values of some numbers, ascending, put in place of the old ones or between
    them.
    """
    at = places(numbers, changed)
    known = at >= 0
    new_column = column.copy()
    new_column[at[known]] = values[known]
    new = changed[~known]
    if not new.size:
        return new_column
    if not numbers.size or numbers[-1] < new[0]:
        return np.concatenate([new_column, values[~known]])
    return np.insert(new_column, np.searchsorted(numbers, new), values[~known])


def _common(numbers: Numbers, other: Numbers) -> int:
    """Return how many values both begin with alike."""
    size = min(numbers.size, other.size)
    differs = numbers[:size] != other[:size]
    first = int(np.argmax(differs)) if size else 0
    return first if size and differs[first] else size
