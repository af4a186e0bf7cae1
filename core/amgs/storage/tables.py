"""Whole tables, row by row and exactly: for copies, exports and imports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.storage.connection import OfferedColumn, StoragePart

BATCH = 10_000
OF_A_NEW_STORE = frozenset({"change_counter", "meta", "frame_definitions", "frame_compositions", "frame_versions"})
"""Tables with rows in a memory that was opened, and in which nothing was done."""

TableRow = tuple[Any, ...]
"""One row in the order of the table's columns: instants are microseconds since 1970, JSON is its text."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column and its type, under its name in an export. required: whether it may not be empty."""

    name: str
    type: str
    required: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class TableSize:
    """Storage size of a table: its rows, their bytes, and those of its indexes."""

    rows: int
    bytes: int
    index_bytes: int


class TableStorage(StoragePart, ABC):
    """Every table of the schema. Columns carry the type names of the export format, whatever the backend calls them."""

    _vectors_in_columns = True
    """Whether a vector is an array only where whole columns are asked for."""

    @abstractmethod
    def schema(self) -> dict[str, tuple[TableColumn, ...]]:
        """Return every table of the schema with its columns, by name."""

    def rows(self, table: str, columns: Sequence[TableColumn], *, skip: int = 0) -> Iterator[list[TableRow]]:
        """Yield the rows of a table in order of insertion, without the first `skip`, in batches."""
        chosen = ", ".join(_read(column) for column in columns)
        vectors = self._vectors_in_columns and any(column.type == "FLOAT[]" for column in columns)
        last = -1
        if skip:
            sql = f'SELECT rowid FROM "{table}" ORDER BY rowid LIMIT 1 OFFSET ?'
            passed = self._value(sql, [skip - 1])
            if passed is None:
                return
            last = int(passed)
        while True:
            sql = f'SELECT rowid, {chosen} FROM "{table}" WHERE rowid > ? ORDER BY rowid LIMIT ?'
            batch = _rows(self._columns(sql, [last, BATCH])) if vectors else self._rows(sql, [last, BATCH])
            if not batch:
                return
            last = int(batch[-1][0])
            yield [row[1:] for row in batch]

    def clear(self, table: str) -> None:
        """Take every row out; inside a transaction."""
        self._connection.edge_changes.forget()
        self._connection.clock_changes.forget()
        self._execute(f'DELETE FROM "{table}"')

    def insert(self, table: str, columns: Sequence[TableColumn], batch: Sequence[TableRow]) -> None:
        """Add rows as `rows` gives them; inside a transaction."""
        if not batch:
            return
        self._connection.edge_changes.forget()
        self._connection.clock_changes.forget()
        names = ", ".join(f'"{column.name}"' for column in columns)
        values = ", ".join(_write_expression(column) for column in columns)
        offers = {
            column.name: OfferedColumn(column.type, [_value(column.type, row[place]) for row in batch])
            for place, column in enumerate(columns)
        }
        with self._connection.offer_columns("given_rows", offers):
            self._execute(f'INSERT INTO "{table}" ({names}) SELECT {values} FROM given_rows')

    def count(self, table: str) -> int:
        """Return how many rows a table has."""
        return int(self._value(f'SELECT count(*) FROM "{table}"'))

    def untouched(self) -> bool:
        """Return whether nothing was ever done in the store: no table has rows but those of a new one."""
        return not any(self.count(name) for name in self.schema() if name not in OF_A_NEW_STORE)

    @abstractmethod
    def sizes(self) -> dict[str, TableSize]:
        """Return what every table takes, by name; of a file in whole blocks of it, and its indexes are not counted."""

    def set_counter(self, value: int) -> None:
        """Put the change counter where revisions of imported rows are not in its future; inside a transaction."""
        self._execute("UPDATE change_counter SET value = ?, structure = ?", [value, value])


def _rows(columns: Mapping[str, NDArray[Any]]) -> list[TableRow]:
    """Return columns as rows; a vector stays an array, where as a list it would be an object a value."""
    return list(zip(*(column.tolist() for column in columns.values()), strict=True))


def _read(column: TableColumn) -> str:
    if column.type == "TIMESTAMP":
        return f'epoch_us("{column.name}") AS "{column.name}"'
    return f'"{column.name}"::VARCHAR AS "{column.name}"' if column.type == "JSON" else f'"{column.name}"'


def _write_expression(column: TableColumn) -> str:
    if column.type == "TIMESTAMP":
        return f'make_timestamp("{column.name}")'
    return f'"{column.name}"::JSON' if column.type == "JSON" else f'"{column.name}"'


def _value(kind: str, value: Any) -> Any:
    """Return a value as a statement reads it: a vector as an array."""
    return np.asarray(value, dtype=np.float32) if kind == "FLOAT[]" and value is not None else value
