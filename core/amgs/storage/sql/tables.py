"""Whole tables, row by row and exactly: for copies, exports and imports."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from amgs.storage.sql.connection import SqlConnection
from amgs.storage.tables import BATCH, TableColumn, TableRow, TableStorage


class SqlTables(TableStorage):
    """`TableStorage` in SQL."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    @abstractmethod
    def schema(self) -> dict[str, tuple[TableColumn, ...]]: ...

    def rows(self, table: str, columns: Sequence[TableColumn]) -> Iterator[list[TableRow]]:
        chosen = ", ".join(_read(column) for column in columns)
        last = -1
        while True:
            found = self._connection.rows(
                f'SELECT rowid, {chosen} FROM "{table}" WHERE rowid > ? ORDER BY rowid LIMIT ?', [last, BATCH]
            )
            if not found:
                return
            last = int(found[-1][0])
            yield [row[1:] for row in found]

    def clear(self, table: str) -> None:
        self._connection.edge_changes.forget()
        self._connection.clock_changes.forget()
        self._connection.execute(f'DELETE FROM "{table}"')

    def insert(self, table: str, columns: Sequence[TableColumn], batch: Sequence[TableRow]) -> None:
        if batch:
            self._connection.edge_changes.forget()
            self._connection.clock_changes.forget()
            names = ", ".join(f'"{column.name}"' for column in columns)
            values = ", ".join(_written(column) for column in columns)
            given = [list(values_of) for values_of in zip(*batch, strict=True)]
            self._connection.execute(f'INSERT INTO "{table}" ({names}) SELECT {values}', given)

    def count(self, table: str) -> int:
        return int(self._connection.value(f'SELECT count(*) FROM "{table}"'))

    def set_counter(self, value: int) -> None:
        self._connection.execute("UPDATE change_counter SET value = ?, structure = ?", [value, value])


def _read(column: TableColumn) -> str:
    if column.type == "TIMESTAMP":
        return f'epoch_us("{column.name}")'
    return f'"{column.name}"::VARCHAR' if column.type == "JSON" else f'"{column.name}"'


def _written(column: TableColumn) -> str:
    if column.type == "TIMESTAMP":
        return "make_timestamp(unnest(?::BIGINT[]))"
    return "unnest(?::VARCHAR[])::JSON" if column.type == "JSON" else f"unnest(?::{column.type}[])"
