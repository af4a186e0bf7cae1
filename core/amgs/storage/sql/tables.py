"""Whole tables, row by row and exactly: for copies, exports and imports."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.storage.sql.connection import SqlConnection
from amgs.storage.tables import BATCH, OF_A_NEW_STORE, TableColumn, TableRow, TableSize, TableStorage


class SqlTables(TableStorage):
    """`TableStorage` in SQL."""

    _vectors_in_columns = True
    """Whether a vector is an array only where whole columns are asked for."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    @abstractmethod
    def schema(self) -> dict[str, tuple[TableColumn, ...]]: ...

    def rows(self, table: str, columns: Sequence[TableColumn], *, skip: int = 0) -> Iterator[list[TableRow]]:
        chosen = ", ".join(_read(column) for column in columns)
        vectors = self._vectors_in_columns and any(column.type == "FLOAT[]" for column in columns)
        last = -1
        if skip:
            sql = f'SELECT rowid FROM "{table}" ORDER BY rowid LIMIT 1 OFFSET ?'
            passed = self._connection.value(sql, [skip - 1])
            if passed is None:
                return
            last = int(passed)
        while True:
            sql = f'SELECT rowid, {chosen} FROM "{table}" WHERE rowid > ? ORDER BY rowid LIMIT ?'
            if vectors:
                found = _rows(self._connection.columns(sql, [last, BATCH]))
            else:
                found = self._connection.rows(sql, [last, BATCH])
            if not found:
                return
            last = int(found[-1][0])
            yield [row[1:] for row in found]

    def clear(self, table: str) -> None:
        self._connection.edge_changes.forget()
        self._connection.clock_changes.forget()
        self._connection.execute(f'DELETE FROM "{table}"')

    def insert(self, table: str, columns: Sequence[TableColumn], batch: Sequence[TableRow]) -> None:
        if not batch:
            return
        import pyarrow as pa  # here: the import takes longer than most sessions have use for it

        self._connection.edge_changes.forget()
        self._connection.clock_changes.forget()
        names = ", ".join(f'"{column.name}"' for column in columns)
        values = ", ".join(_written(column) for column in columns)
        given = {
            column.name: _array(column.type, [row[place] for row in batch])
            for place, column in enumerate(columns)
        }
        with self._connection.arrays("given_rows", pa.table(given)):
            self._connection.execute(f'INSERT INTO "{table}" ({names}) SELECT {values} FROM given_rows')

    def count(self, table: str) -> int:
        return int(self._connection.value(f'SELECT count(*) FROM "{table}"'))

    def untouched(self) -> bool:
        return not any(self.count(name) for name in self.schema() if name not in OF_A_NEW_STORE)

    @abstractmethod
    def sizes(self) -> dict[str, TableSize]: ...

    def set_counter(self, value: int) -> None:
        self._connection.execute("UPDATE change_counter SET value = ?, structure = ?", [value, value])


def _rows(columns: Mapping[str, NDArray[Any]]) -> list[TableRow]:
    """Columns as rows; a vector stays an array, where as a list it would be an object a value."""
    return list(zip(*(column.tolist() for column in columns.values()), strict=True))


def _read(column: TableColumn) -> str:
    if column.type == "TIMESTAMP":
        return f'epoch_us("{column.name}") AS "{column.name}"'
    return f'"{column.name}"::VARCHAR AS "{column.name}"' if column.type == "JSON" else f'"{column.name}"'


def _written(column: TableColumn) -> str:
    if column.type == "TIMESTAMP":
        return f'make_timestamp("{column.name}")'
    return f'"{column.name}"::JSON' if column.type == "JSON" else f'"{column.name}"'


def _array(kind: str, values: Sequence[Any]) -> Any:
    """Values of a column as an array of Arrow; instants and whole numbers are 64 bits wide."""
    import pyarrow as pa

    if kind != "FLOAT[]":
        return pa.array(values, getattr(pa, _ARROW[kind])() if kind in _ARROW else pa.list_(pa.string()))
    vectors = [np.asarray(() if one is None else one, dtype=np.float32) for one in values]
    ends = np.cumsum([0, *(len(one) for one in vectors)], dtype=np.int32)
    missing = pa.array([one is None for one in values])
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(np.concatenate(vectors)), mask=missing)


_ARROW = {
    "VARCHAR": "string",
    "JSON": "string",
    "TIMESTAMP": "int64",
    "BIGINT": "int64",
    "INTEGER": "int64",
    "DOUBLE": "float64",
    "BOOLEAN": "bool_",
}
"""Types of Arrow by those of the export format; the others are lists."""
