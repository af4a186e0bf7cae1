"""Set operations on ascending arrays of block numbers without repetition, which need no sorting.

Every function relies on its input being ascending; the indexes, the graph and the search call them on each query.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def places(ascending: Numbers, values: Numbers) -> Numbers:
    """Return the index of each value in an ascending array, -1 where it is missing: (m,)."""
    if not ascending.size:
        return np.full(values.size, -1, dtype=np.int64)
    # Block numbers have few gaps, so most values are where they would be without any: check that before searching.
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


def difference(numbers: Numbers, other: Numbers) -> Numbers:
    """Return the numbers that are not in `other`, ascending; a common beginning is skipped at once."""
    same = _common_prefix(numbers, other)
    rest = numbers[same:]
    return rest[~contains(other[same:], rest)]


def union(numbers: Numbers, other: Numbers) -> Numbers:
    """Return the numbers in either array, ascending."""
    new = difference(other, numbers)
    if not new.size:
        return numbers
    if not numbers.size or numbers[-1] < new[0]:
        return np.concatenate([numbers, new])
    return np.insert(numbers, np.searchsorted(numbers, new), new)


def replace_values(numbers: Numbers, column: NDArray[Any], changed: Numbers, values: NDArray[Any]) -> NDArray[Any]:
    """Return a column (n,) with new values for the `changed` numbers, ascending: replaced where a number is known, else
    inserted in order.
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


def _common_prefix(numbers: Numbers, other: Numbers) -> int:
    """Return how many leading values the arrays share."""
    size = min(numbers.size, other.size)
    differs = numbers[:size] != other[:size]
    first = int(np.argmax(differs)) if size else 0
    return first if size and differs[first] else size
