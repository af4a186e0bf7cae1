"""Columns between PostgreSQL and arrays of NumPy or Arrow; whole ones come as COPY in binary sends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEAD = 19
"""Bytes before the first row: a signature, flags, and the length of an extension, which is 0."""
_TRAILER = 2
NUMBERS: Mapping[int, tuple[str, type[np.generic]]] = {
    16: (">i1", np.bool_),
    20: (">i8", np.int64),
    21: (">i2", np.int64),
    23: (">i4", np.int64),
    700: (">f4", np.float32),
    701: (">f8", np.float64),
}
"""How the numbers of a type, by its id in PostgreSQL, lie there, and as what they are given."""
_TEXTS = frozenset((25, 1043))


def columns_of(sent: bytes | bytearray, kinds: Sequence[int]) -> list[NDArray[Any]] | None:
    """The columns, each of length n, where every row is as wide as the first: numbers, and texts of one length in ASCII
    as objects; None where that does not hold, as with a NULL.

    sent: all that COPY (FORMAT BINARY) sent. kinds: the ids of the columns' types.
    """
    size = len(sent) - _HEAD - _TRAILER
    if size <= 0:
        return None
    row = _row(sent, kinds)
    if row is None or size % row.itemsize:
        return None
    rows = np.frombuffer(sent, dtype=row, count=size // row.itemsize, offset=_HEAD)
    if not (rows["fields"] == len(kinds)).all():
        return None
    made: list[NDArray[Any]] = []
    for place, kind in enumerate(kinds):
        values = rows[f"value{place}"]
        if not (rows[f"length{place}"] == values.dtype.itemsize).all():
            return None
        if kind in _TEXTS:
            texts = _texts(values)
            if texts is None:
                return None
            made.append(texts)
        else:
            made.append(values.astype(NUMBERS[kind][1]))
    return made


def _row(sent: bytes | bytearray, kinds: Sequence[int]) -> np.dtype[Any] | None:
    """How a row lies, as the first one tells."""
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    at = _HEAD + 2
    for place, kind in enumerate(kinds):
        length = int.from_bytes(sent[at : at + 4], "big", signed=True)
        number = NUMBERS[kind][0] if kind in NUMBERS else None
        if length <= 0 or (number is None and kind not in _TEXTS):
            return None
        if number is not None and np.dtype(number).itemsize != length:
            return None
        fields += [(f"length{place}", ">i4"), (f"value{place}", number or f"V{length}")]
        at += 4 + length
    return np.dtype(fields)


def _texts(values: NDArray[Any]) -> NDArray[np.object_] | None:
    width = values.dtype.itemsize
    raw = np.ascontiguousarray(values).tobytes()
    if not raw.isascii():
        return None
    whole = raw.decode("ascii")
    made = np.empty(values.size, dtype=object)
    made[:] = [whole[start : start + width] for start in range(0, len(whole), width)]
    return made


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
