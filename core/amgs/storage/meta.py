"""The table `meta`: named values of the whole store, like its schema's number or the embedder its vectors came from."""

from __future__ import annotations

from amgs.storage.connection import StoragePart

EMBEDDER = "embedding_model"
DIMENSION = "embedding_dimension"
MIGRATION = "migration"
"""Stands in a store while a memory is being copied into it: JSON, which memory, and as of which change."""
_KEPT = "kept:"
_PUT = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class MetaStorage(StoragePart):
    """Values by name."""

    def get(self, key: str) -> str | None:
        """Return the value under a key, None when there is none."""
        value = self._value("SELECT value FROM meta WHERE key = ?", [key])
        return None if value is None else str(value)

    def put(self, key: str, value: str) -> None:
        """Set the value of a key."""
        self._execute(_PUT, [key, value])

    def remove(self, key: str) -> None:
        """Take a key away; one that is not there is left so."""
        self._execute("DELETE FROM meta WHERE key = ?", [key])

    def keep(self, name: str, value: str | None) -> None:
        """Set what a workstation remembers under a name; None forgets it. No index follows, nothing is stale."""
        if value is None:
            self._execute("DELETE FROM meta WHERE key = ?", [_KEPT + name], counted=False)
        else:
            self._execute(_PUT, [_KEPT + name, value], counted=False)

    def kept(self, prefix: str) -> dict[str, str]:
        """Return what is remembered under names that begin so, by name."""
        rows = self._rows("SELECT key, value FROM meta WHERE starts_with(key, ?) ORDER BY key", [_KEPT + prefix])
        return {str(key).removeprefix(_KEPT): str(value) for key, value in rows}

    def store_id(self) -> str:
        """Return what tells this store from every other one."""
        return self.get("store_id") or ""

    def embedding_space(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder that made the store's embeddings; None before the first one."""
        values = dict(self._rows("SELECT key, value FROM meta WHERE key IN (?, ?)", [EMBEDDER, DIMENSION]))
        return (str(values[EMBEDDER]), int(values[DIMENSION])) if len(values) == 2 else None

    def put_embedding_space(self, name: str, dimension: int) -> None:
        """Record the embedder whose vectors the store holds."""
        self.put(EMBEDDER, name)
        self.put(DIMENSION, str(dimension))
