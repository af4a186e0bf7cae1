"""Schema of a store in a file: its version, and the migration steps run on opening, in a single transaction."""

from __future__ import annotations

import duckdb

from amgs.errors import StoreError
from amgs.storage.migrations import LATEST, MIGRATIONS


def schema_version(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the schema version of an open database, 0 for an empty database.

    Raises StoreError for a database of another program.
    """
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    except (duckdb.CatalogException, duckdb.BinderException):
        row = None
    if row is not None and str(row[0]).isdecimal():
        return int(row[0])
    if connection.execute(_OF_ITS_OWN).fetchall() == [(0,)]:
        return 0
    raise StoreError(
        "The file is a DuckDB database, but not a memory store. It was not changed.",
        title="Not a memory store",
        way_out="Check the path.",
    )


_OF_ITS_OWN = (
    "SELECT (SELECT count(*) FROM duckdb_tables()) + (SELECT count(*) FROM duckdb_views() WHERE NOT internal) "
    "+ (SELECT count(*) FROM duckdb_sequences())"
)
"""SQL: number of tables, views and sequences that a user created."""


def migrate(connection: duckdb.DuckDBPyConnection, version: int) -> None:
    """Run all migration steps after `version`, or none."""
    connection.execute("BEGIN TRANSACTION")
    try:
        for step in MIGRATIONS[version:]:
            connection.execute(step)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", [str(LATEST)])
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
