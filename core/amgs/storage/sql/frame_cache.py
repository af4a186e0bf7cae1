"""The table `frame_cache`: the latest assembly of a frame for a request, and what it was true to."""

from __future__ import annotations

from amgs.clock import as_utc
from amgs.storage.frame_cache import CacheRow, FrameCacheStorage
from amgs.storage.sql.connection import SqlConnection, stored


class SqlFrameCache(FrameCacheStorage):
    """`FrameCacheStorage` in SQL."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, row: CacheRow) -> None:
        key = [row.name, row.request]
        self._connection.execute(
            "DELETE FROM frame_cache WHERE frame_name = ? AND request = ?", key, structural=False
        )
        self._connection.execute(
            "INSERT INTO frame_cache VALUES (?, ?, ?::JSON, ?, ?, ?, ?::JSON)",
            [*key, row.assembly, stored(row.computed_at), row.structure, row.definition, row.identity],
            structural=False,
        )

    def get(self, name: str, request: str) -> CacheRow | None:
        found = self._connection.rows(
            "SELECT frame_name, request, assembly::VARCHAR, computed_at, structure, definition, "
            "identity::VARCHAR FROM frame_cache WHERE frame_name = ? AND request = ?",
            [name, request],
        )
        if not found:
            return None
        row = found[0]
        return CacheRow(row[0], row[1], row[2], as_utc(row[3]), int(row[4]), row[5], row[6])

    def forget_like(self, name: str, prefix: str) -> None:
        self._connection.execute(
            "DELETE FROM frame_cache WHERE frame_name = ? AND starts_with(request, ?)",
            [name, prefix],
            structural=False,
        )

    def forget(self, name: str) -> None:
        self._connection.execute("DELETE FROM frame_cache WHERE frame_name = ?", [name], structural=False)
