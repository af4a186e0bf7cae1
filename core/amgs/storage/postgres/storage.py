"""A store in PostgreSQL: its connections, and the parts that only PostgreSQL knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from amgs.errors import StoreError
from amgs.storage.meta import MIGRATION
from amgs.storage.postgres.address import Address
from amgs.storage.postgres.block_columns import PostgresBlockColumns
from amgs.storage.postgres.connection import PostgresConnection
from amgs.storage.postgres.lease import leased
from amgs.storage.sources import SourceStorage
from amgs.storage.store import Storage
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


class PostgresSources(SourceStorage):
    """`SourceStorage` in PostgreSQL."""

    def adopt(self) -> None:
        raise StoreError(
            "An export from before sources were kept cannot be imported into PostgreSQL.",
            way_out="Import it into a file, export that, and import the new export.",
        )


class PostgresStorage(PostgresConnection, Storage):
    """`Storage` in PostgreSQL. Make one with `PostgresStorage.open`."""

    def __init__(self, writer: psycopg.Connection[Any], address: Address, *, read_only: bool) -> None:
        super().__init__(writer, address, read_only=read_only)
        self.block_columns = PostgresBlockColumns(self)
        self.sources = PostgresSources(self)
        self.tables = PostgresTables(self)

    @classmethod
    def remove(cls, path: str, *, untouched: bool = False) -> None:
        """Drop a namespace with all that it holds; one that is not there is no error. untouched: only where nothing was
        done in it, not even by a program that came in between.

        Raises StoreLockedError where other programs go on writing to it.
        """
        try:
            store = cls.open(path, create=False)
        except StoreError as error:
            if error.about != "missing":
                raise
            return
        with store, store._translate(), leased(store._writer, store._address):
            if untouched and (not store.tables.untouched() or store.meta.get(MIGRATION) is not None):
                return
            store._writer.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(store._address.schema)))
