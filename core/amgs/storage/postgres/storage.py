"""A store in PostgreSQL: its connections, and the parts whose SQL differs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import psycopg
from psycopg.sql import SQL, Identifier

from amgs.errors import StoreCorruptError, StoreError
from amgs.storage.block_columns import BlockColumnStorage, EmbeddingColumns, FeatureColumns, where
from amgs.storage.postgres.address import Address
from amgs.storage.postgres.connection import PostgresConnection
from amgs.storage.postgres.sharing import hold_lease
from amgs.storage.sources import SourceStorage
from amgs.storage.store import Storage
from amgs.storage.tables import MIGRATION, TableColumn, TableRow, TableSize, TableStorage
from amgs.types import BlockFilter, Vector

# As in DuckDB: the speaker from the metadata, else a name before a colon at the very start ("Mara Lind: …").
_NAME = r"[^\W\d_][\w.'’-]*"
_SPEAKER = re.compile(rf"({_NAME}(?: {_NAME}){{0,2}}):\s")
_PLACE = re.compile(r"(#[0-9]+){1,2}$")
_ENDS = re.compile(r"[.!?…]")
_ASKS = re.compile(r"\?[^.!?…]*$")


class PostgresBlockColumns(BlockColumnStorage):
    """`BlockColumnStorage` in PostgreSQL."""

    def features(self, *, since: int = -1) -> FeatureColumns:
        rows = self._connection.rows(
            "SELECT number, content, meta->>'source', meta->>'speaker', meta->>'author' FROM memory_blocks "
            "WHERE revision > ? ORDER BY number",
            [since],
        )
        texts = [str(row[1]) for row in rows]
        asking = ["?" in text for text in texts]
        return FeatureColumns(
            numbers=np.asarray([row[0] for row in rows], dtype=np.int64),
            episode=np.asarray([_episode(row[2]) for row in rows], dtype=np.uint64),
            name=tuple(
                str(row[3] if row[3] is not None else row[4] if row[4] is not None else _speaker(row[1])).lower()
                for row in rows
            ),
            characters=np.asarray([len(text.encode()) for text in texts], dtype=np.int64),
            questions=np.asarray([text.count("?") for text in texts], dtype=np.int64),
            sentences=np.asarray(
                [len(_ENDS.findall(text)) if asks else 0 for text, asks in zip(texts, asking, strict=True)],
                dtype=np.int64,
            ),
            asks=np.asarray([_ASKS.search(text) is not None for text in texts], dtype=np.bool_),
        )

    def embeddings(
        self, *, since: int = -1, wanted: BlockFilter | None = None, above: int = 0, upto: int | None = None
    ) -> EmbeddingColumns:
        condition, parameters = where(wanted) if wanted is not None else ("true", [])
        if upto is not None:
            condition += f" AND number > {int(above)} AND number <= {int(upto)}"
        rows = self._connection.rows(
            f"SELECT number, id, embedding FROM memory_blocks WHERE embedding IS NOT NULL AND revision > ? "
            f"AND {condition} ORDER BY number",
            [since, *parameters],
        )
        if len({len(row[2]) for row in rows}) > 1:
            raise StoreCorruptError(
                "Its embeddings have different lengths.", way_out="Verify the store to see which blocks.", about="check"
            )
        return EmbeddingColumns(
            np.asarray([row[0] for row in rows], dtype=np.int64),
            np.asarray([row[1] for row in rows], dtype=object),
            np.stack([row[2] for row in rows]) if rows else np.zeros((0, 0), dtype=np.float32),
        )

    def contents(self, batch: int = 4000) -> Iterator[list[tuple[str, str, Vector | None]]]:
        last = 0
        while rows := self._connection.rows(
            "SELECT number, id, content, embedding FROM memory_blocks WHERE number > ? ORDER BY number LIMIT ?",
            [last, batch],
        ):
            last = int(rows[-1][0])
            yield [(str(row[1]), str(row[2]), row[3]) for row in rows]

    def nearest(self, query: Vector, limit: int) -> list[tuple[int, float]]:
        embeddings = self.embeddings()
        if not embeddings.numbers.size:
            return []
        lengths = np.linalg.norm(embeddings.matrix, axis=1) * np.linalg.norm(query)
        cosine = embeddings.matrix @ query / np.where(lengths > 0, lengths, np.inf)
        best = np.lexsort((embeddings.numbers, -cosine))[:limit]
        return [(int(embeddings.numbers[place]), float(cosine[place])) for place in best]


def _episode(source: str | None) -> int:
    """Return a number for the source without its part; 0 without a source."""
    if source is None:
        return 0
    name = _PLACE.sub("", source)
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _speaker(content: str) -> str:
    """Return the name before a colon at the very start, if all its words are capitalised; else ""."""
    match = _SPEAKER.match(content)
    if match is None or not all(word[0].isupper() for word in match[1].split(" ")):
        return ""
    return match[1]


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
"""Type names of the export format."""
_COPIED = {of: name for name, of in _TYPES.items() if name != "character varying[]"} | {
    "TIMESTAMP": "timestamp",
    "FLOAT[]": "float4[]",
}
"""PostgreSQL's types for COPY, by type of the export format."""


class PostgresTables(TableStorage):
    """`TableStorage` in PostgreSQL."""

    _vectors_in_columns = False

    def __init__(self, connection: PostgresConnection) -> None:
        super().__init__(connection)
        self._server = connection

    def insert(self, table: str, columns: Sequence[TableColumn], batch: Sequence[TableRow]) -> None:
        if not batch:
            return
        self._connection.edge_changes.forget()
        self._connection.clock_changes.forget()
        self._server.copy_into(table, [(column.name, _COPIED[column.type]) for column in columns], batch)

    def schema(self) -> dict[str, tuple[TableColumn, ...]]:
        tables: dict[str, list[TableColumn]] = {}
        for table, name, kind, required in self._connection.rows(
            "SELECT c.relname, a.attname, format_type(a.atttypid, NULL), a.attnotnull FROM pg_class c "
            "JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relnamespace = current_schema()::regnamespace "
            "AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'rowid' "
            "AND c.relname <> 'outbox' ORDER BY c.relname, a.attnum"
        ):
            tables.setdefault(str(table), []).append(TableColumn(str(name), _TYPES[str(kind)], bool(required)))
        return {table: tuple(columns) for table, columns in tables.items()}

    def sizes(self) -> dict[str, TableSize]:
        rows = self._connection.rows(
            "SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class "
            "WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY relname"
        )
        return {str(name): TableSize(self.count(str(name)), int(own), int(of)) for name, own, of in rows}


class PostgresSources(SourceStorage):
    """`SourceStorage` in PostgreSQL."""

    def adopt(self) -> None:
        raise StoreError(
            "An export from before sources were stored cannot be imported into PostgreSQL.",
            way_out="Import it into a file, export that, and import the new export.",
        )


class PostgresStorage(PostgresConnection, Storage):
    """`Storage` in PostgreSQL. Create it with `PostgresStorage.open`."""

    def __init__(self, writer: psycopg.Connection[Any], address: Address, *, read_only: bool) -> None:
        super().__init__(writer, address, read_only=read_only)
        self.block_columns = PostgresBlockColumns(self)
        self.sources = PostgresSources(self)
        self.tables = PostgresTables(self)

    @classmethod
    def remove(cls, path: str, *, untouched: bool = False) -> None:
        """Drop a namespace with all its content; a missing namespace is no error.

        untouched: only if nothing was done in it, also by other programs. Raises StoreLockedError if other programs
        keep writing.
        """
        try:
            store = cls.open(path, create=False)
        except StoreError as error:
            if error.about != "missing":
                raise
            return
        with store, store._translate(), hold_lease(store._writer, store._address):
            if untouched and (not store.tables.is_untouched() or store.meta.get(MIGRATION) is not None):
                return
            store._writer.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(store._address.schema)))
