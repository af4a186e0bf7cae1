"""Named values of the whole store.

The schema's number, the embedder its vectors came from, the last consolidation.
"""

from __future__ import annotations

from amgs.storage.duckdb.connection import Store

EMBEDDER = "embedding_model"
DIMENSION = "embedding_dimension"


def get(store: Store, key: str) -> str | None:
    """The value under a key, None when there is none."""
    value = store.value("SELECT value FROM meta WHERE key = ?", [key])
    return None if value is None else str(value)


def put(store: Store, key: str, value: str) -> None:
    """Set the value of a key."""
    store.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])


_KEPT = "kept:"


def keep(store: Store, name: str, value: str | None) -> None:
    """Set what a workstation remembers under a name; None forgets it. No index follows, nothing is stale."""
    if value is None:
        store.execute("DELETE FROM meta WHERE key = ?", [_KEPT + name], counted=False)
    else:
        store.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_KEPT + name, value], counted=False)


def kept(store: Store, prefix: str) -> dict[str, str]:
    """What is remembered under names that begin so, by name."""
    rows = store.rows("SELECT key, value FROM meta WHERE starts_with(key, ?) ORDER BY key", [_KEPT + prefix])
    return {str(key).removeprefix(_KEPT): str(value) for key, value in rows}


def store_id(store: Store) -> str:
    """What tells this store from every other one."""
    return get(store, "store_id") or ""


def embedding_space(store: Store) -> tuple[str, int] | None:
    """Name and dimension of the embedder that made the store's embeddings; None before the first one."""
    name, dimension = get(store, EMBEDDER), get(store, DIMENSION)
    return (name, int(dimension)) if name is not None and dimension is not None else None


def put_embedding_space(store: Store, name: str, dimension: int) -> None:
    """Record the embedder whose vectors the store holds."""
    put(store, EMBEDDER, name)
    put(store, DIMENSION, str(dimension))
