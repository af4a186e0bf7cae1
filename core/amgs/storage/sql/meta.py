"""Named values of the whole store.

The schema's number, the embedder its vectors came from, the last consolidation.
"""

from __future__ import annotations

from amgs.storage.meta import DIMENSION, EMBEDDER, MetaStorage
from amgs.storage.sql.connection import SqlConnection

_KEPT = "kept:"
_PUT = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class SqlMeta(MetaStorage):
    """`MetaStorage` in SQL."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def get(self, key: str) -> str | None:
        value = self._connection.value("SELECT value FROM meta WHERE key = ?", [key])
        return None if value is None else str(value)

    def put(self, key: str, value: str) -> None:
        self._connection.execute(_PUT, [key, value])

    def remove(self, key: str) -> None:
        self._connection.execute("DELETE FROM meta WHERE key = ?", [key])

    def keep(self, name: str, value: str | None) -> None:
        if value is None:
            self._connection.execute("DELETE FROM meta WHERE key = ?", [_KEPT + name], counted=False)
        else:
            self._connection.execute(_PUT, [_KEPT + name, value], counted=False)

    def kept(self, prefix: str) -> dict[str, str]:
        rows = self._connection.rows(
            "SELECT key, value FROM meta WHERE starts_with(key, ?) ORDER BY key", [_KEPT + prefix]
        )
        return {str(key).removeprefix(_KEPT): str(value) for key, value in rows}

    def store_id(self) -> str:
        return self.get("store_id") or ""

    def embedding_space(self) -> tuple[str, int] | None:
        said = dict(
            self._connection.rows("SELECT key, value FROM meta WHERE key IN (?, ?)", [EMBEDDER, DIMENSION])
        )
        return (str(said[EMBEDDER]), int(said[DIMENSION])) if len(said) == 2 else None

    def put_embedding_space(self, name: str, dimension: int) -> None:
        self.put(EMBEDDER, name)
        self.put(DIMENSION, str(dimension))
