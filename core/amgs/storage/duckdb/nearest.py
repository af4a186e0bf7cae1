"""The nearest blocks by the database's own cosine, every vector looked at: what the vector index is held against."""

from __future__ import annotations

from amgs.storage.duckdb.connection import Store
from amgs.types import Vector


def nearest(store: Store, query: Vector, limit: int) -> list[tuple[int, float]]:
    """The best `limit` (number, cosine) of all blocks with an embedding; query: (d,), not zero; ties by number."""
    found = store.rows(
        "SELECT number, list_cosine_similarity(embedding, ?::FLOAT[]) AS cosine FROM memory_blocks "
        "WHERE embedding IS NOT NULL ORDER BY cosine DESC, number LIMIT ?",
        [query.tolist(), limit],
    )
    return [(int(number), float(cosine)) for number, cosine in found]
