"""A store in a DuckDB file: its connection, and the parts whose SQL only DuckDB understands."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np

from amgs.errors import StoreCorruptError
from amgs.storage.block_columns import BlockColumnStorage, EmbeddingColumns, FeatureColumns, where
from amgs.storage.duckdb.connection import Connection
from amgs.storage.duckdb.files import Note
from amgs.storage.migrations import ADOPT_SOURCES
from amgs.storage.sources import SourceStorage
from amgs.storage.store import Storage
from amgs.storage.tables import TableColumn, TableSize, TableStorage
from amgs.types import BlockFilter, Vector

# Speaker: from the metadata, else a name before a colon at the very start ("Mara Lind: …").
_SPEAKER = (
    "lower(coalesce(said[2], said[3], "
    r"regexp_extract(content, '^(\p{Lu}[\p{L}\p{N}.''’-]*(?: \p{Lu}[\p{L}\p{N}.''’-]*){0,2}):\s', 1)))"
)


class DuckDBBlockColumns(BlockColumnStorage):
    """`BlockColumnStorage` in DuckDB."""

    def features(self, *, since: int = -1) -> FeatureColumns:
        c = self._connection.columns(
            # Most blocks have no question mark, so their sentence ends need not be counted.
            "SELECT number, CASE WHEN said[1] IS NULL THEN 0 ELSE "
            "hash(regexp_replace(said[1], '(#[0-9]+){1,2}$', '')) END AS "
            f"episode, {_SPEAKER} AS name, strlen(content) AS characters, "
            "CASE WHEN asking THEN strlen(content) - strlen(replace(content, '?', '')) ELSE 0 END AS questions, "
            "CASE WHEN asking THEN length(content) - length(translate(content, '.!?…', '')) ELSE 0 END AS "
            r"sentences, asking AND regexp_matches(content, '\?[^.!?…]*$') AS asks FROM ("
            "SELECT number, content, contains(content, '?') AS asking, "
            "json_extract_string(meta, ['$.source', '$.speaker', '$.author']) AS said "
            "FROM memory_blocks WHERE revision > ?) ORDER BY number",
            [since],
        )
        return FeatureColumns(
            numbers=np.asarray(c["number"], dtype=np.int64),
            episode=np.asarray(c["episode"], dtype=np.uint64),
            name=tuple(c["name"].tolist()),
            characters=np.asarray(c["characters"], dtype=np.int64),
            questions=np.asarray(c["questions"], dtype=np.int64),
            sentences=np.asarray(c["sentences"], dtype=np.int64),
            asks=np.asarray(c["asks"], dtype=np.bool_),
        )

    def embeddings(
        self, *, since: int = -1, wanted: BlockFilter | None = None, above: int = 0, upto: int | None = None
    ) -> EmbeddingColumns:
        condition, parameters = where(wanted) if wanted is not None else ("true", [])
        if upto is not None:
            condition += f" AND number > {int(above)} AND number <= {int(upto)}"
        which = f"FROM memory_blocks WHERE embedding IS NOT NULL AND revision > ? AND {condition}"
        arguments = [since, *parameters]
        lengths = [int(row[0]) for row in self._connection.rows(f"SELECT DISTINCT len(embedding) {which}", arguments)]
        if len(lengths) > 1:
            raise StoreCorruptError(
                "Its embeddings have different lengths.", way_out="Verify the store to see which blocks.", about="check"
            )
        c = self._connection.columns(f"SELECT number, id {which} ORDER BY number", arguments)
        # One flat column: a list a row would be an object a row.
        flat = self._connection.columns(
            f"SELECT unnest(embedding) AS x FROM (SELECT embedding {which} ORDER BY number)", arguments
        )["x"]
        matrix = np.asarray(flat, dtype=np.float32).reshape(len(c["id"]), lengths[0] if lengths else 0)
        return EmbeddingColumns(np.asarray(c["number"], dtype=np.int64), np.asarray(c["id"], dtype=object), matrix)

    def contents(self, batch: int = 4000) -> Iterator[list[tuple[str, str, Vector | None]]]:
        last = 0
        while True:
            some = "FROM memory_blocks WHERE number > ? ORDER BY number LIMIT ?"
            c = self._connection.columns(
                f"SELECT number, id, content, coalesce(len(embedding), 0) AS size {some}", [last, batch]
            )
            if not len(c["number"]):
                return
            flat = self._connection.columns(
                f"SELECT unnest(embedding) AS x FROM (SELECT embedding {some})", [last, batch]
            )
            ends = np.cumsum(np.asarray(c["size"], dtype=np.int64))
            vectors = np.asarray(flat["x"], dtype=np.float32)
            last = int(c["number"][-1])
            yield [
                (str(i), str(text), vectors[end - size : end] if size else None)
                for i, text, size, end in zip(c["id"], c["content"], c["size"], ends, strict=True)
            ]

    def nearest(self, query: Vector, limit: int) -> list[tuple[int, float]]:
        rows = self._connection.rows(
            "SELECT number, list_cosine_similarity(embedding, ?::FLOAT[]) AS cosine FROM memory_blocks "
            "WHERE embedding IS NOT NULL ORDER BY cosine DESC, number LIMIT ?",
            [query.tolist(), limit],
        )
        return [(int(number), float(cosine)) for number, cosine in rows]


class DuckDBTables(TableStorage):
    """`TableStorage` in DuckDB, whose type names are those of the export format."""

    def schema(self) -> dict[str, tuple[TableColumn, ...]]:
        tables: dict[str, list[TableColumn]] = {}
        for table, name, kind, nullable in self._connection.rows(
            "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal "
            "AND database_name = current_database() AND table_name <> 'outbox' ORDER BY table_name, column_index"
        ):
            tables.setdefault(str(table), []).append(TableColumn(str(name), str(kind), not nullable))
        return {table: tuple(columns) for table, columns in tables.items()}

    def sizes(self) -> dict[str, TableSize]:
        block = int(self._connection.value("SELECT block_size FROM pragma_database_size() LIMIT 1"))
        table_sizes = {}
        for table in self.schema():
            blocks = self._connection.value(
                f"SELECT count(DISTINCT block_id) FROM pragma_storage_info('{table}') WHERE persistent"
            )
            table_sizes[table] = TableSize(self.count(table), int(blocks) * block, 0)
        return table_sizes


class DuckDBSources(SourceStorage):
    """`SourceStorage` in DuckDB."""

    def adopt(self) -> None:
        for statement in ADOPT_SOURCES.split(";\n"):
            if statement.strip():
                self._connection.execute(statement)


class DuckDBStorage(Connection, Storage):
    """`Storage` in DuckDB. Create it with `DuckDBStorage.open`."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, path: str, *, read_only: bool, note: Note | None = None
    ) -> None:
        super().__init__(connection, path, read_only=read_only, note=note)
        self.block_columns = DuckDBBlockColumns(self)
        self.sources = DuckDBSources(self)
        self.tables = DuckDBTables(self)
