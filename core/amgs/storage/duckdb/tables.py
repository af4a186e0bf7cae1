"""What tables a DuckDB file has."""

from __future__ import annotations

from amgs.storage.sql.tables import SqlTables
from amgs.storage.tables import TableColumn


class DuckDBTables(SqlTables):
    """`TableStorage` in DuckDB, whose names of types are those of the export format."""

    def schema(self) -> dict[str, tuple[TableColumn, ...]]:
        found: dict[str, list[TableColumn]] = {}
        for table, name, kind, nullable in self._connection.rows(
            "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal "
            "AND database_name = current_database() AND table_name <> 'outbox' ORDER BY table_name, column_index"
        ):
            found.setdefault(str(table), []).append(TableColumn(str(name), str(kind), not nullable))
        return {table: tuple(columns) for table, columns in found.items()}
