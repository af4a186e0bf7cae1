"""Table `meta`: named values of the whole store, such as its schema version or the encoder of its embeddings;
and whole tables, read and written exactly for copies, exports and imports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.storage.connection import OfferedColumn, StoragePart

EMBEDDER = "embedding_model"
DIMENSION = "embedding_dimension"
MIGRATION = "migration"
"""Key in a store into which a memory is being copied; JSON with the source and its change counter."""
_KEPT = "kept:"
_PUT = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class MetaStorage(StoragePart):
    """Values by key."""

    def get(self, key: str) -> str | None:
        """Return the value under a key, None when there is none."""
        value = self._value("SELECT value FROM meta WHERE key = ?", [key])
        return None if value is None else str(value)

    def put(self, key: str, value: str) -> None:
        """Set the value of a key."""
        self._execute(_PUT, [key, value])

    def remove(self, key: str) -> None:
        """Delete a key, if it exists."""
        self._execute("DELETE FROM meta WHERE key = ?", [key])

    def keep(self, name: str, value: str | None) -> None:
        """Store a value of a workstation under a name; None deletes it. Does not raise the change counter."""
        if value is None:
            self._execute("DELETE FROM meta WHERE key = ?", [_KEPT + name], counted=False)
        else:
            self._execute(_PUT, [_KEPT + name, value], counted=False)

    def read_saved(self, prefix: str) -> dict[str, str]:
        """Return the workstation's values whose names begin with `prefix`, by name."""
        rows = self._rows("SELECT key, value FROM meta WHERE starts_with(key, ?) ORDER BY key", [_KEPT + prefix])
        return {str(key).removeprefix(_KEPT): str(value) for key, value in rows}

    def store_id(self) -> str:
        """Return the id of this store."""
        return self.get("store_id") or ""

    def embedding_space(self) -> tuple[str, int] | None:
        """Return name and dimension of the encoder of the store's embeddings; None before the first embedding."""
        values = dict(self._rows("SELECT key, value FROM meta WHERE key IN (?, ?)", [EMBEDDER, DIMENSION]))
        return (str(values[EMBEDDER]), int(values[DIMENSION])) if len(values) == 2 else None

    def put_embedding_space(self, name: str, dimension: int) -> None:
        """Store the name and dimension of the encoder of the embeddings."""
        self.put(EMBEDDER, name)
        self.put(DIMENSION, str(dimension))


BATCH = 10_000
OF_A_NEW_STORE = frozenset({"change_counter", "meta", "frame_definitions", "frame_compositions", "frame_versions"})
"""Tables that have rows in a new store."""

TableRow = tuple[Any, ...]
"""A row in the order of the table's columns: times in microseconds since 1970, JSON as text."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column and its type in the export format. required: NULL is not allowed."""

    name: str
    type: str
    required: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class TableSize:
    """Rows of a table, their bytes, and those of its indexes."""

    rows: int
    bytes: int
    index_bytes: int


class TableStorage(StoragePart, ABC):
    """All tables of the schema. Columns have the type names of the export format."""

    _vectors_in_columns = True
    """Vectors come as arrays only if whole columns are read."""

    @abstractmethod
    def schema(self) -> dict[str, tuple[TableColumn, ...]]:
        """Return the columns of every table, by name."""

    def rows(self, table: str, columns: Sequence[TableColumn], *, skip: int = 0) -> Iterator[list[TableRow]]:
        """Yield the rows of a table in order of insertion, in batches. skip: leave out the first so many."""
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
        """Delete all rows; inside a transaction."""
        self._connection.edge_changes.forget()
        self._connection.clock_changes.forget()
        self._execute(f'DELETE FROM "{table}"')

    def insert(self, table: str, columns: Sequence[TableColumn], batch: Sequence[TableRow]) -> None:
        """Insert rows as `rows` yields them; inside a transaction."""
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
        """Count the rows of a table."""
        return int(self._value(f'SELECT count(*) FROM "{table}"'))

    def is_untouched(self) -> bool:
        """Return whether nothing was ever done in the store: only tables of a new store have rows."""
        return not any(self.count(name) for name in self.schema() if name not in OF_A_NEW_STORE)

    @abstractmethod
    def sizes(self) -> dict[str, TableSize]:
        """Return the size of every table; in a file in whole blocks, without indexes."""

    def set_counter(self, value: int) -> None:
        """Set the change counter, so that revisions of imported rows are not ahead of it; inside a transaction."""
        self._execute("UPDATE change_counter SET value = ?, structure = ?", [value, value])


def _rows(columns: Mapping[str, NDArray[Any]]) -> list[TableRow]:
    """Return columns as rows; a vector stays an array, since a list would need an object per value."""
    return list(zip(*(column.tolist() for column in columns.values()), strict=True))


def _read(column: TableColumn) -> str:
    """Return SQL that reads a column in the exported form."""
    if column.type == "TIMESTAMP":
        return f'epoch_us("{column.name}") AS "{column.name}"'
    return f'"{column.name}"::VARCHAR AS "{column.name}"' if column.type == "JSON" else f'"{column.name}"'


def _write_expression(column: TableColumn) -> str:
    """Return SQL that writes a column from its exported form."""
    if column.type == "TIMESTAMP":
        return f'make_timestamp("{column.name}")'
    return f'"{column.name}"::JSON' if column.type == "JSON" else f'"{column.name}"'


def _value(kind: str, value: Any) -> Any:
    """Return a value as a statement reads it: a vector as an array."""
    return np.asarray(value, dtype=np.float32) if kind == "FLOAT[]" and value is not None else value
