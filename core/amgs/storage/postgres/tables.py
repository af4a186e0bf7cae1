"""What tables a namespace has, and whole rows of them in and out."""

from __future__ import annotations

from collections.abc import Sequence

from amgs.storage.postgres.connection import PostgresConnection
from amgs.storage.tables import TableColumn, TableRow, TableSize, TableStorage

_TYPES = {
    "text": "VARCHAR",
    "text[]": "VARCHAR[]",
    "character varying[]": "VARCHAR[]",
    "bigint": "BIGINT",
    "integer": "INTEGER",
    "double precision": "DOUBLE",
    "real[]": "FLOAT[]",
    "boolean": "BOOLEAN",
    "json": "JSON",
    "timestamp without time zone": "TIMESTAMP",
}
"""Names of types as the export format has them."""
_COPIED = {of: name for name, of in _TYPES.items() if name != "character varying[]"} | {
    "TIMESTAMP": "timestamp",
    "FLOAT[]": "float4[]",
}
"""Types of columns that rows are copied into, by those of the export format."""


class PostgresTables(TableStorage):
    """`TableStorage` in PostgreSQL."""

    _vectors_in_columns = False

    def __init__(self, connection: PostgresConnection) -> None:
        super().__init__(connection)
        self._server = connection

    def insert(self, table: str, columns: Sequence[TableColumn], batch: Sequence[TableRow]) -> None:
        if not batch:
            return
        # Where policies keep the rows of a table, PostgreSQL takes no COPY into it.
        if self._connection.value("SELECT row_security_active(quote_ident(?)::regclass)", [table]):
            super().insert(table, columns, batch)
            return
        self._connection.edge_changes.forget()
        self._connection.clock_changes.forget()
        self._server.copy_into(table, [(each.name, _COPIED[each.type]) for each in columns], batch)

    def schema(self) -> dict[str, tuple[TableColumn, ...]]:
        found: dict[str, list[TableColumn]] = {}
        for table, name, kind, required in self._connection.rows(
            "SELECT c.relname, a.attname, format_type(a.atttypid, NULL), a.attnotnull FROM pg_class c "
            "JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relnamespace = current_schema()::regnamespace "
            "AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'rowid' "
            "AND c.relname <> 'outbox' ORDER BY c.relname, a.attnum"
        ):
            found.setdefault(str(table), []).append(TableColumn(str(name), _TYPES[str(kind)], bool(required)))
        return {table: tuple(columns) for table, columns in found.items()}

    def sizes(self) -> dict[str, TableSize]:
        found = self._connection.rows(
            "SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class "
            "WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY relname"
        )
        return {str(name): TableSize(self.count(str(name)), int(own), int(of)) for name, own, of in found}
