"""Table `meta`: named values of the whole store, such as its schema version or the encoder of its embeddings."""

from __future__ import annotations

from amgs.storage.connection import StoragePart

EMBEDDER = "embedding_model"
DIMENSION = "embedding_dimension"
MIGRATION = "migration"
"""Key in a store into which a memory is being copied; JSON with the source and its change counter."""
_KEPT = "kept:"
_PUT = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class MetaStorage(StoragePart):
    """Values by key."""

    def get(self, key: str) -> str | None:
        """Return the value under a key, None when there is none."""
        value = self._value("SELECT value FROM meta WHERE key = ?", [key])
        return None if value is None else str(value)

    def put(self, key: str, value: str) -> None:
        """Set the value of a key."""
        self._execute(_PUT, [key, value])

    def remove(self, key: str) -> None:
        """Delete a key, if it exists."""
        self._execute("DELETE FROM meta WHERE key = ?", [key])

    def keep(self, name: str, value: str | None) -> None:
        """Store a value of a workstation under a name; None deletes it. Does not raise the change counter."""
        if value is None:
            self._execute("DELETE FROM meta WHERE key = ?", [_KEPT + name], counted=False)
        else:
            self._execute(_PUT, [_KEPT + name, value], counted=False)

    def kept(self, prefix: str) -> dict[str, str]:
        """Return the workstation's values whose names begin with `prefix`, by name."""
        rows = self._rows("SELECT key, value FROM meta WHERE starts_with(key, ?) ORDER BY key", [_KEPT + prefix])
        return {str(key).removeprefix(_KEPT): str(value) for key, value in rows}

    def store_id(self) -> str:
        """Return the id of this store."""
        return self.get("store_id") or ""

    def embedding_space(self) -> tuple[str, int] | None:
        """Return name and dimension of the encoder that made the store's embeddings; None before the first one."""
        values = dict(self._rows("SELECT key, value FROM meta WHERE key IN (?, ?)", [EMBEDDER, DIMENSION]))
        return (str(values[EMBEDDER]), int(values[DIMENSION])) if len(values) == 2 else None

    def put_embedding_space(self, name: str, dimension: int) -> None:
        """Store the name and dimension of the encoder of the embeddings."""
        self.put(EMBEDDER, name)
        self.put(DIMENSION, str(dimension))
