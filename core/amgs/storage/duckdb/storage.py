"""A store in a DuckDB file: its connection, and the parts that only DuckDB knows."""

from __future__ import annotations

import duckdb

from amgs.storage.duckdb.block_columns import DuckDBBlockColumns
from amgs.storage.duckdb.connection import Connection
from amgs.storage.migrations import ADOPT_SOURCES
from amgs.storage.sources import SourceStorage
from amgs.storage.store import Storage
from amgs.storage.tables import TableColumn, TableSize, TableStorage


class DuckDBTables(TableStorage):
    """`TableStorage` in DuckDB, whose names of types are those of the export format."""

    def schema(self) -> dict[str, tuple[TableColumn, ...]]:
        found: dict[str, list[TableColumn]] = {}
        for table, name, kind, nullable in self._connection.rows(
            "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal "
            "AND database_name = current_database() AND table_name <> 'outbox' ORDER BY table_name, column_index"
        ):
            found.setdefault(str(table), []).append(TableColumn(str(name), str(kind), not nullable))
        return {table: tuple(columns) for table, columns in found.items()}

    def sizes(self) -> dict[str, TableSize]:
        block = int(self._connection.value("SELECT block_size FROM pragma_database_size() LIMIT 1"))
        found = {}
        for table in self.schema():
            blocks = self._connection.value(
                f"SELECT count(DISTINCT block_id) FROM pragma_storage_info('{table}') WHERE persistent"
            )
            found[table] = TableSize(self.count(table), int(blocks) * block, 0)
        return found


class DuckDBSources(SourceStorage):
    """`SourceStorage` in DuckDB."""

    def adopt(self) -> None:
        for statement in ADOPT_SOURCES.split(";\n"):
            if statement.strip():
                self._connection.execute(statement)


class DuckDBStorage(Connection, Storage):
    """`Storage` in DuckDB. Make one with `DuckDBStorage.open`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str, *, read_only: bool) -> None:
        super().__init__(connection, path, read_only=read_only)
        self.block_columns = DuckDBBlockColumns(self)
        self.sources = DuckDBSources(self)
        self.tables = DuckDBTables(self)
