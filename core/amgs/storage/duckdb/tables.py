"""Whole tables, row by row and exactly: for copies, exports and imports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from amgs.storage.duckdb.connection import Store

BATCH = 2000

Row = tuple[Any, ...]
"""One row in the order of the table's columns: instants are microseconds since 1970, JSON is its text."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column and its DuckDB type. required: whether it may not be empty."""

    name: str
    type: str
    required: bool = field(default=True, compare=False)


def tables(store: Store) -> dict[str, tuple[TableColumn, ...]]:
    """Every table of the schema with its columns, by name."""
    found: dict[str, list[TableColumn]] = {}
    for table, name, kind, nullable in store.rows(
        "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal "
        "AND database_name = current_database() ORDER BY table_name, column_index"
    ):
        found.setdefault(str(table), []).append(TableColumn(str(name), str(kind), not nullable))
    return {table: tuple(columns) for table, columns in found.items()}


def rows(store: Store, table: str, columns: Sequence[TableColumn]) -> Iterator[list[Row]]:
    """All rows of a table in order of insertion, in batches."""
    chosen = ", ".join(_read(column) for column in columns)
    last = -1
    while True:
        found = store.rows(
            f'SELECT rowid, {chosen} FROM "{table}" WHERE rowid > ? ORDER BY rowid LIMIT ?', [last, BATCH]
        )
        if not found:
            return
        last = int(found[-1][0])
        yield [row[1:] for row in found]


def clear(store: Store, table: str) -> None:
    """Take every row out; inside a transaction."""
    store.execute(f'DELETE FROM "{table}"')


def insert(store: Store, table: str, columns: Sequence[TableColumn], batch: Sequence[Row]) -> None:
    """Add rows as `rows` gives them; inside a transaction."""
    if batch:
        names = ", ".join(f'"{column.name}"' for column in columns)
        values = ", ".join(_written(column) for column in columns)
        given = [list(values_of) for values_of in zip(*batch, strict=True)]
        store.execute(f'INSERT INTO "{table}" ({names}) SELECT {values}', given)


def count(store: Store, table: str) -> int:
    """How many rows a table has."""
    return int(store.value(f'SELECT count(*) FROM "{table}"'))


def set_counter(store: Store, value: int) -> None:
    """Put the change counter where revisions of imported rows are not in its future; inside a transaction."""
    store.execute("UPDATE change_counter SET value = ?, structure = ?", [value, value])


def copy(source: Store, target: Store) -> None:
    """Make the target hold what the source holds, its counters included, in one transaction."""
    schema = tables(source)
    with target.transaction():
        for table, columns in schema.items():
            clear(target, table)
            for batch in rows(source, table, columns):
                insert(target, table, columns, batch)


def _read(column: TableColumn) -> str:
    if column.type == "TIMESTAMP":
        return f'epoch_us("{column.name}")'
    return f'"{column.name}"::VARCHAR' if column.type == "JSON" else f'"{column.name}"'


def _written(column: TableColumn) -> str:
    if column.type == "TIMESTAMP":
        return "make_timestamp(unnest(?::BIGINT[]))"
    return "unnest(?::VARCHAR[])::JSON" if column.type == "JSON" else f"unnest(?::{column.type}[])"
