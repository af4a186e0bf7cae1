"""The schema of one namespace in PostgreSQL: the same numbered steps as in a file, carried out in one transaction.

A namespace is a schema of its own and not a column of shared tables: the SQL of the parts names no namespace and so
cannot leave one out, whoever runs it, superusers included; a role is let into a namespace by GRANT ... ON SCHEMA and
sees no other whatever it asks (superusers do: no policy binds them); erasing one is DROP SCHEMA. It can become a
partition by namespace without rewriting a row: a table of a schema, with a constant column for its namespace, can be
attached to a partitioned table beside it (ALTER TABLE ... ATTACH PARTITION), which then carries the policies of its
rows. What it costs is a table of the catalogue for every table of every namespace: thousands of namespaces are its
limit.
"""

from __future__ import annotations

import re
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from amgs.storage.migrations import LATEST, MIGRATIONS
from amgs.storage.postgres import guard
from amgs.storage.postgres.values import FUNCTIONS, translated

_BEGUN_WITH = 13
"""Steps that no store in PostgreSQL was ever without: of these only what makes tables is carried out."""
_MAKES = re.compile(r"CREATE|ALTER|INSERT INTO (meta|change_counter)\b")
_TEXTS = re.compile(r"\bTEXT(?!\[)")

_INDEXES = (
    "memory_blocks (number)",
    "memory_blocks (revision)",
    "edges (source_id, target_id, relation_type)",
    "edges (target_id)",
    "operation_rows (operation_id, target, key)",
    "reinforcement_log (block_id)",
    "calibration_log (prediction_id)",
    "calibration_log (block_id)",
    "edge_forecasts (prediction_id)",
    "source_blocks (block_id)",
    "messages (conversation, number)",
    "mentions (conversation, number)",
)


_ANY_LENGTH = (
    "ALTER TABLE sources DROP CONSTRAINT IF EXISTS sources_pkey",
    "ALTER TABLE sources ADD CONSTRAINT sources_once EXCLUDE USING hash (name WITH =)",
    "DROP INDEX IF EXISTS source_blocks_source_idx",
    "CREATE INDEX ON source_blocks USING hash (source)",
)
"""Names of sources are as long as paths are; the key of a tree has at most some 2,700 bytes, that of a hash any."""
_OWN_STEPS = {18: _ANY_LENGTH}
"""What a step does in PostgreSQL beside what it does everywhere, by the number of the schema that it leads to."""


def version_of(connection: Connection[Any], schema: str) -> int:
    """The number of the schema that a namespace has, 0 for one that is not there."""
    found = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [f'"{schema}".meta']).fetchone()
    if found is None or not found[0]:
        return 0
    row = connection.execute(
        SQL("SELECT value FROM {}.meta WHERE key = 'schema_version'").format(Identifier(schema))
    ).fetchone()
    return int(row[0]) if row is not None else 0


def migrate(connection: Connection[Any], schema: str, version: int) -> None:
    """Carry out every step after `version`, all or none; the connection's search path is the schema."""
    with connection.transaction():
        steps = [
            _defined(statement)
            for number, step in enumerate(MIGRATIONS[version:], start=version)
            for statement in _statements(step)
            if number >= _BEGUN_WITH or _MAKES.match(statement)
        ]
        steps += [each for number, own in _OWN_STEPS.items() if number > version for each in own]
        if not version:
            connection.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(schema)))
            steps = [*FUNCTIONS, *steps, *(f"CREATE INDEX ON {index}" for index in _INDEXES)]
        connection.execute("; ".join(steps).encode())
        _number_rows(connection, schema)
        connection.execute(
            "INSERT INTO meta VALUES ('schema_version', %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [str(LATEST)],
        )
        guard.renew(connection, schema)


def _statements(step: str) -> list[str]:
    bare = re.sub(r"--[^\n]*", "", step)
    return [one.strip() for one in bare.split(";\n") if one.strip()]


def _defined(statement: str) -> str:
    """A statement as PostgreSQL reads it; texts are in the order of their code points, as in a file."""
    told = translated(statement).replace("%%", "%")
    return (
        _TEXTS.sub('TEXT COLLATE "C"', told)
        if statement.startswith(("CREATE TABLE", "ALTER TABLE"))
        else told
    )


def _number_rows(connection: Connection[Any], schema: str) -> None:
    """Give every table a last column `rowid`, its rows in order of insertion, as every table in a file has: last,
    since rows are inserted by place. One that a later step's columns came after is made anew.
    """
    tables = connection.execute(
        "SELECT table_name, max(ordinal_position), max(ordinal_position) FILTER (WHERE column_name = 'rowid') "
        "FROM information_schema.columns WHERE table_schema = %s GROUP BY 1 ORDER BY 1",
        [schema],
    ).fetchall()
    added = SQL("ALTER TABLE {} ADD COLUMN rowid BIGINT GENERATED BY DEFAULT AS IDENTITY UNIQUE")
    wanting = [Identifier(str(table)) for table, _, place in tables if place is None]
    if wanting:
        connection.execute(SQL("; ").join(added.format(name) for name in wanting))
    for table, last, place in tables:
        if place is None or place == last:
            continue
        name = Identifier(str(table))
        connection.execute(SQL("ALTER TABLE {} RENAME COLUMN rowid TO rowid_before").format(name))
        connection.execute(added.format(name))
        connection.execute(SQL("UPDATE {} SET rowid = rowid_before").format(name))
        connection.execute(SQL("ALTER TABLE {} DROP COLUMN rowid_before").format(name))
        connection.execute(
            SQL(
                "SELECT setval(pg_get_serial_sequence({1}, 'rowid'), coalesce(max(rowid), 0) + 1, false) FROM {0}"
            ).format(name, f'"{schema}"."{table}"')
        )
