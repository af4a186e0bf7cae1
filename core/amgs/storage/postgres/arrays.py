"""Columns of numbers and texts between PostgreSQL and arrays of NumPy or Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.storage.postgres.copied import NUMBERS

_TYPES = {
    "string": "text",
    "large_string": "text",
    "bool": "bool",
    "int64": "int8",
    "double": "float8",
    "list<item: string>": "text[]",
}
"""Types of Arrow as those of PostgreSQL; the others are vectors."""
_VECTOR = "float4[]"


def array_of(kind: int, column: Sequence[Any]) -> NDArray[Any]:
    """A column as an array of length n: of numbers, where NULLs are masked, or of objects.

    kind: the id of its type in PostgreSQL.
    """
    if kind not in NUMBERS:
        whole = np.empty(len(column), dtype=object)
        whole[:] = column
        return whole
    dtype = NUMBERS[kind][1]
    if None not in column:
        return np.asarray(column, dtype=dtype)
    missing = [one is None for one in column]
    return np.ma.masked_array([dtype(0) if one is None else one for one in column], missing, dtype=dtype)


def type_of(field: Any) -> str:
    """The type in PostgreSQL of a field of an Arrow schema."""
    return _TYPES.get(str(field.type), _VECTOR)


def values_in(column: Any) -> Sequence[Any]:
    """A column of an Arrow table as Python's values; a list of floats as an array."""
    if str(column.type) not in _TYPES:
        return [one for chunk in column.chunks for one in _vectors(chunk)]
    values: list[Any] = column.to_pylist()
    return values


def _vectors(chunk: Any) -> list[Any]:
    flat = chunk.flatten().to_numpy(zero_copy_only=False)  # without those that are missing
    sizes = chunk.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    parts = np.split(flat, np.cumsum(sizes)[:-1]) if len(chunk) else []
    return [part if there else None for part, there in zip(parts, chunk.is_valid().to_pylist(), strict=True)]
