"""A store in a DuckDB file: its connection, and the parts that only DuckDB knows."""

from __future__ import annotations

import duckdb

from amgs.storage.duckdb.block_columns import DuckDBBlockColumns
from amgs.storage.duckdb.connection import Connection
from amgs.storage.duckdb.sources import DuckDBSources
from amgs.storage.duckdb.tables import DuckDBTables
from amgs.storage.store import Storage


class DuckDBStorage(Connection, Storage):
    """`Storage` in DuckDB. Make one with `DuckDBStorage.open`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str, *, read_only: bool) -> None:
        super().__init__(connection, path, read_only=read_only)
        self.block_columns = DuckDBBlockColumns(self)
        self.sources = DuckDBSources(self)
        self.tables = DuckDBTables(self)
